#pragma once
#include <string>
#include <vector>

#include "runtime/channel.hpp"
#include "runtime/server.hpp"

namespace hearth::runtime::null {

/// What was launched, and on which memory.
struct Binding {
  std::uint64_t block = 0;  ///< Block::id
  std::uint64_t offset = 0, size = 0;
};
struct Launch {
  ir::KernelRef kernel;
  std::vector<Binding> bindings;
  std::vector<std::uint32_t> parameters;
};

/// Records launches and executes nothing; reads give zeros. Keeps every rule of Server, so that the layers above are tested
/// without a device.
class NullServer final : public Server {
 public:
  NullServer(const RuntimeOptions& options, const DeviceInfo& info);
  ~NullServer() override;

  Memory& memory() noexcept override { return *memory_; }
  Expected<void> write(Allocation& to, std::uint64_t offset, std::span<const std::byte> bytes) override;
  Expected<void> copy(Allocation& from, std::uint64_t from_offset, Allocation& to, std::uint64_t to_offset,
                      std::uint64_t size) override;
  Expected<void> launch(const ir::KernelRef& kernel, std::span<Allocation* const> bindings,
                        std::span<const std::uint32_t> parameters) override;
  Future<std::vector<std::byte>> read(const Handle& from, std::uint64_t offset, std::uint64_t size) override;
  Expected<void> flush() override;
  Future<void> finished() override;
  Expected<RawResource> resource(const Handle& handle, bool exclusive) override;
  Future<void> compile(const ir::KernelRef& kernel) override;

  /// The launches since the last call of this; at most `launches_kept`, the first ones.
  [[nodiscard]] std::vector<Launch> take_launches() { return std::exchange(launches_, {}); }
  static constexpr std::size_t launches_kept = 4096;

 private:
  Ref<Memory> memory_;
  std::vector<Launch> launches_;
  bool pending_ = false;  ///< something was recorded since the last flush
  bool pass_open_ = false;
};

/// The launches that a channel of open_null has seen since the last call of this.
[[nodiscard]] std::vector<Launch> take_launches(Channel& channel);

}  // namespace hearth::runtime::null
