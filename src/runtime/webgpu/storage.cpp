#include "runtime/webgpu/storage.hpp"

namespace hearth::runtime::webgpu {

BufferStorage::BufferStorage(std::shared_ptr<Gpu> gpu, BufferUsage extra, std::recursive_mutex* lock)
    : gpu_(std::move(gpu)), lock_(lock), label_(gpu_->label + " memory") {
  usage_ = WGPUBufferUsage_Storage | WGPUBufferUsage_CopySrc | WGPUBufferUsage_CopyDst;
  if (has(extra, BufferUsage::vertex)) usage_ |= WGPUBufferUsage_Vertex;
  if (has(extra, BufferUsage::index)) usage_ |= WGPUBufferUsage_Index;
  if (has(extra, BufferUsage::indirect)) usage_ |= WGPUBufferUsage_Indirect;
  if (has(extra, BufferUsage::uniform)) usage_ |= WGPUBufferUsage_Uniform;
}

Expected<void*> BufferStorage::allocate(std::uint64_t size_bytes) {
  WGPUBufferDescriptor descriptor = {};
  descriptor.label = view(label_);
  descriptor.usage = usage_;
  descriptor.size = size_bytes;
  ErrorScope scope(*gpu_, validation | out_of_memory | internal);
  auto buffer = Owned<WGPUBuffer>::adopt(wgpuDeviceCreateBuffer(gpu_->device.get(), &descriptor));
  if (Expected<void> made = scope.close("memory"); !made) return made.error();
  if (!buffer) return device_lost("memory");
  return buffer.give_up();
}

// Released, not destroyed: recorded commands keep the buffer as long as they need it.
void BufferStorage::free(void* buffer) noexcept {
  std::unique_lock<std::recursive_mutex> guard;
  if (lock_ && alone_.load(std::memory_order_acquire)) guard = std::unique_lock(*lock_);
  wgpuBufferRelease(static_cast<WGPUBuffer>(buffer));
}

}  // namespace hearth::runtime::webgpu
