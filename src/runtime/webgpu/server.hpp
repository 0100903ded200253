#pragma once
#include <deque>
#include <memory>
#include <vector>

#include "runtime/backends.hpp"
#include "runtime/server.hpp"
#include "runtime/webgpu/bind_groups.hpp"
#include "runtime/webgpu/gpu.hpp"
#include "runtime/webgpu/pipelines.hpp"
#include "runtime/webgpu/readback.hpp"
#include "runtime/webgpu/recording.hpp"
#include "runtime/webgpu/storage.hpp"
#include "runtime/webgpu/upload.hpp"

namespace hearth::runtime::webgpu {

/// Runs launches on a WebGPU device.
///
/// The submit path: commands gather in one encoder. A flush finishes it inside an error scope, asks whether the device is lost,
/// and submits only what is clean: wgpu-native ends the process on any error at Submit. Buffer writes act on the queue before an
/// encoder that is still open, so memory that it uses is written through a copy in the encoder.
class WebGpuServer final : public Server {
 public:
  WebGpuServer(std::shared_ptr<Gpu> gpu, const RuntimeOptions& options);
  ~WebGpuServer() override;

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
  void poll() override { gpu_->poll(); }
  Future<void> compile(const ir::KernelRef& kernel) override;

  // Interop; what these do is said in runtime/backends.hpp.
  Expected<std::uint64_t> begin_encoding(WGPUCommandEncoder encoder);
  Expected<void> end_encoding(std::uint64_t scope);
  Expected<void> finish_encoding(std::uint64_t scope, bool submitted);
  Expected<Handle> import_buffer(WGPUBuffer buffer, std::uint64_t offset, std::uint64_t size);
  Expected<ImportedTexture> import_texture(WGPUTexture texture);
  Expected<void> export_texture(const Handle& from, std::uint32_t width, std::uint32_t height, std::uint32_t channels,
                                WGPUTexture texture);
  Expected<void> copy_to_buffer(const Handle& from, std::uint64_t from_offset, WGPUBuffer buffer, std::uint64_t offset,
                                std::uint64_t size);

 private:
  /// An app's encoder from `begin_encoding` to `finish_encoding`.
  struct Scope {
    std::uint64_t id = 0;
    /// Keeps what its commands use: without this a freed temporary is reused by work that is submitted earlier.
    std::vector<Handle> touched;
  };

  /// Where a launch or a copy goes now.
  [[nodiscard]] Recording& target() noexcept { return borrowed_ ? *borrowed_ : own_; }

  // server.cpp
  Expected<void> check_healthy(std::string_view operation);
  Failure lose(const Failure& failure);
  void begin_recording() noexcept;
  Expected<void> submit(Owned<WGPUCommandEncoder> encoder);
  void limit_flushes_in_flight();
  /// The failure of memory that belongs to an encoder other than the one recorded into now.
  [[nodiscard]] Expected<void> check_scope(const Allocation& allocation, std::string_view operation) const;
  /// Whether an app's encoder that is not submitted yet reads or writes the allocation.
  [[nodiscard]] bool is_touched(const Allocation& allocation) const;
  Expected<void> check_writable(const Allocation& allocation, std::string_view operation) const;
  Expected<void> place(Allocation& allocation) { return allocation.block ? Expected<void>() : place_new(allocation); }
  Expected<void> place_new(Allocation& allocation);
  /// Notes that the commands recorded now use the allocation.
  void use(Allocation& allocation) {
    if (allocation.last_use != target().number) use_first(allocation);
  }
  void use_first(Allocation& allocation);
  void use_written(Allocation& allocation);

  // launch.cpp
  Expected<void> check_source(const ir::Kernel& kernel, const Compiled& compiled, std::span<Allocation* const> bindings);
  /// Moves what a source reads through `read` bindings out of buffers that it also writes.
  Expected<void> separate(const Compiled& compiled, std::span<Allocation* const> bindings);
  /// `grid`: workgroups, other than the kernel's own.
  Expected<void> record(const Compiled& compiled, std::span<Allocation* const> bindings, Allocation* scratch,
                        std::span<const std::uint32_t> parameters, const std::array<std::uint32_t, 3>* grid = nullptr);

  // transfer.cpp
  Expected<void> write_words(Allocation& to, std::uint64_t offset, std::span<const std::byte> bytes);
  Expected<void> write_staged(Allocation& to, std::uint64_t offset, std::span<const std::byte> bytes);
  Expected<void> copy_buffers(Allocation& from, std::uint64_t from_offset, Allocation& to, std::uint64_t to_offset,
                              std::uint64_t size);
  /// Any offsets and sizes, by a kernel; also where both lie in one buffer.
  Expected<void> copy_bytes(Allocation& from, std::uint64_t from_offset, Allocation& to, std::uint64_t to_offset,
                            std::uint64_t size);
  Expected<void> move_to_exclusive(Allocation& allocation);

  // interop.cpp
  Expected<void> check_storage_buffer(WGPUBuffer buffer, std::string_view operation);
  /// Asks whether the app's objects that the open encoder names can still be submitted.
  Expected<void> check_foreign();

  // texture.cpp
  Expected<void> make_texture_pipeline();
  [[nodiscard]] ir::KernelRef export_kernel(bool bytes, std::uint32_t columns, std::uint32_t rows);

  std::shared_ptr<Gpu> gpu_;
  std::shared_ptr<BufferStorage> storage_;
  std::shared_ptr<Staging> staging_;
  Ref<Memory> memory_;
  Pipelines pipelines_;
  BindGroups bind_groups_;
  Parameters parameters_;
  Recording own_;
  std::unique_ptr<Recording> borrowed_;
  std::vector<BoundRange> ranges_;  ///< of the launch at hand
  std::vector<Scope> scopes_;
  std::uint64_t scope_ = 0;  ///< of `borrowed_`
  std::uint64_t last_scope_ = 0, last_recording_ = 0;
  bool writes_pending_ = false;  ///< buffer writes that no submit has followed
  bool lost_ = false;
  std::uint32_t max_flushes_in_flight_ = 0;
  std::deque<std::shared_ptr<Signal>> flushes_;
  ir::KernelRef copy_kernel_;
  /// The app's objects that `own_` names.
  std::vector<Owned<WGPUBuffer>> foreign_buffers_;
  std::vector<Owned<WGPUTexture>> foreign_textures_;
  Owned<WGPUBindGroupLayout> texture_layout_;
  Owned<WGPUComputePipeline> texture_pipeline_;
  ir::KernelRef export_kernels_[2];
};

}  // namespace hearth::runtime::webgpu
