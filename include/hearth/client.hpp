#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "hearth/future.hpp"
#include "hearth/ref.hpp"

namespace hearth {

namespace runtime {
class Channel;
}
namespace ir {
struct Kernel;
}

/// Shared ownership of a piece of device memory.
using Handle = Ref<runtime::Allocation>;

/// The native buffer behind a handle: a WGPUBuffer on WebGPU, a pointer on the CPU. Pins the memory while it lives.
struct RawResource {
  void* buffer = nullptr;
  std::uint64_t offset = 0;  ///< bytes
  std::uint64_t size = 0;    ///< bytes
  Handle pin;
};

/// The compute runtime of one device: memory, kernels, flush and wait. Cheap to copy.
/// Nothing here throws unless it says so; errors come back in Expected and Future.
class Client {
 public:
  Client() = default;
  explicit Client(Ref<runtime::Channel> channel) : channel_(std::move(channel)) {}

  /// New memory of `size_bytes`, uninitialised. Its place is found at the first use.
  [[nodiscard]] Expected<Handle> empty(std::uint64_t size_bytes) const;
  /// New memory with a copy of `bytes`.
  [[nodiscard]] Expected<Handle> create(std::span<const std::byte> bytes) const;
  /// Writes into memory, ordered after all launches recorded before.
  [[nodiscard]] Expected<void> write(const Handle& to, std::uint64_t offset_bytes, std::span<const std::byte> bytes) const;
  /// Copies on the device, ordered like a launch.
  [[nodiscard]] Expected<void> copy(const Handle& from, std::uint64_t from_offset, const Handle& to, std::uint64_t to_offset,
                                    std::uint64_t size_bytes) const;
  /// Records a kernel; `bindings` in the kernel's order, the output last; `parameters` as 32-bit words.
  [[nodiscard]] Expected<void> launch(const std::shared_ptr<const ir::Kernel>& kernel, std::span<const Handle> bindings,
                                      std::span<const std::uint32_t> parameters) const;
  /// Flushes, then reads; any number of reads may be in flight.
  [[nodiscard]] Future<std::vector<std::byte>> read(const Handle& from, std::uint64_t offset_bytes,
                                                    std::uint64_t size_bytes) const;
  /// Pushes recorded launches; for SyncType::wait also waits. Tensor work that is still fused above is not seen here: use
  /// Device::sync. Throws the Error of what failed.
  void sync(SyncType type) const;
  [[nodiscard]] Future<void> sync_async() const;
  /// The raw buffer of a handle, flushed. Throws Error.
  [[nodiscard]] RawResource get_resource(const Handle& handle, bool exclusive = true) const;

  [[nodiscard]] const Ref<runtime::Channel>& channel() const noexcept { return channel_; }

 private:
  Ref<runtime::Channel> channel_;
};

}  // namespace hearth
