#pragma once
#include <atomic>
#include <memory>
#include <mutex>

#include "runtime/memory.hpp"
#include "runtime/webgpu/gpu.hpp"

namespace hearth::runtime::webgpu {

/// Device memory as WGPUBuffers that kernels bind and copies read and write.
class BufferStorage final : public Storage {
 public:
  /// `lock`: RuntimeOptions::lock, taken around calls made after the server's end; may be null.
  BufferStorage(std::shared_ptr<Gpu> gpu, BufferUsage extra, std::recursive_mutex* lock);

  Expected<void*> allocate(std::uint64_t size_bytes) override;
  void free(void* buffer) noexcept override;
  void release_imported(void* buffer) noexcept override { free(buffer); }

  /// From here on nobody holds the device's lock around calls.
  void server_is_gone() noexcept { alone_.store(true, std::memory_order_release); }

 private:
  std::shared_ptr<Gpu> gpu_;
  WGPUBufferUsage usage_;
  std::recursive_mutex* lock_;
  std::string label_;
  std::atomic<bool> alone_{false};
};

}  // namespace hearth::runtime::webgpu
