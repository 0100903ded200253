#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "hearth/client.hpp"
#include "hearth/device.hpp"
#include "ir/kernel.hpp"
#include "runtime/memory.hpp"

namespace hearth::runtime {

/// Owns the memory, pipeline cache and encoder of one device. Called by one thread at a time (the channel sees to that) and
/// never throws. Work is recorded in call order; `flush` pushes it, `wait` also waits.
/// Rules that every server keeps:
/// - a call that fails has recorded nothing, and leaves every allocation as it was;
/// - the output of a launch is placed in memory at the launch when it has no place yet;
/// - an input whose allocation carries a failure, or belongs to an encoder that is not submitted, makes the launch fail.
class Server : public RefCounted {
 public:
  [[nodiscard]] const DeviceInfo& info() const noexcept { return info_; }
  [[nodiscard]] const Statistics& statistics() const noexcept { return statistics_; }

  /// The shared, thread-safe owner of this server's memory: allocations are made from it and go back to it.
  [[nodiscard]] virtual Memory& memory() noexcept = 0;

  virtual Expected<void> write(Allocation& to, std::uint64_t offset, std::span<const std::byte> bytes) = 0;
  virtual Expected<void> copy(Allocation& from, std::uint64_t from_offset, Allocation& to, std::uint64_t to_offset,
                              std::uint64_t size) = 0;
  virtual Expected<void> launch(const ir::KernelRef& kernel, std::span<Allocation* const> bindings,
                                std::span<const std::uint32_t> parameters) = 0;
  /// Flushes and starts a read. The future's drive may be called on any thread that the channel allows.
  virtual Future<std::vector<std::byte>> read(const Handle& from, std::uint64_t offset, std::uint64_t size) = 0;
  virtual Expected<void> flush() = 0;
  /// Flushes; the future completes when everything so far has finished.
  virtual Future<void> finished() = 0;
  /// The raw buffer, flushed; `exclusive`: in a buffer that no other resource shares.
  virtual Expected<RawResource> resource(const Handle& handle, bool exclusive) = 0;
  /// Lets callbacks of the device run once. Called without the channel's lock where the platform allows it.
  virtual void poll() {}
  /// Compiles a kernel of Form::source ahead of its launch; the future carries the compiler's message and line.
  virtual Future<void> compile(const ir::KernelRef& kernel) = 0;

  /// Counted by whoever waits for `finished` or a read.
  void count_wait() noexcept { ++statistics_.waits; }

 protected:
  DeviceInfo info_;
  Statistics statistics_;
};

}  // namespace hearth::runtime
