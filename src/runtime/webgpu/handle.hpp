#pragma once
#include <webgpu/webgpu.h>

#include <string_view>
#include <utility>

namespace hearth::runtime::webgpu {

inline void add_ref(WGPUInstance h) { wgpuInstanceAddRef(h); }
inline void release(WGPUInstance h) { wgpuInstanceRelease(h); }
inline void add_ref(WGPUAdapter h) { wgpuAdapterAddRef(h); }
inline void release(WGPUAdapter h) { wgpuAdapterRelease(h); }
inline void add_ref(WGPUDevice h) { wgpuDeviceAddRef(h); }
inline void release(WGPUDevice h) { wgpuDeviceRelease(h); }
inline void add_ref(WGPUQueue h) { wgpuQueueAddRef(h); }
inline void release(WGPUQueue h) { wgpuQueueRelease(h); }
inline void add_ref(WGPUBuffer h) { wgpuBufferAddRef(h); }
inline void release(WGPUBuffer h) { wgpuBufferRelease(h); }
inline void add_ref(WGPUTexture h) { wgpuTextureAddRef(h); }
inline void release(WGPUTexture h) { wgpuTextureRelease(h); }
inline void release(WGPUTextureView h) { wgpuTextureViewRelease(h); }
inline void release(WGPUShaderModule h) { wgpuShaderModuleRelease(h); }
inline void release(WGPUBindGroupLayout h) { wgpuBindGroupLayoutRelease(h); }
inline void release(WGPUPipelineLayout h) { wgpuPipelineLayoutRelease(h); }
inline void release(WGPUComputePipeline h) { wgpuComputePipelineRelease(h); }
inline void release(WGPUBindGroup h) { wgpuBindGroupRelease(h); }
inline void add_ref(WGPUCommandEncoder h) { wgpuCommandEncoderAddRef(h); }
inline void release(WGPUCommandEncoder h) { wgpuCommandEncoderRelease(h); }
inline void release(WGPUComputePassEncoder h) { wgpuComputePassEncoderRelease(h); }
inline void release(WGPUCommandBuffer h) { wgpuCommandBufferRelease(h); }

/// One reference to an object of webgpu.h.
template <typename T>
class Owned {
 public:
  Owned() = default;
  Owned(Owned&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Owned& operator=(Owned&& other) noexcept {
    std::swap(handle_, other.handle_);
    other.reset();
    return *this;
  }
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;
  ~Owned() { reset(); }

  /// Takes over the reference that a create call gave.
  [[nodiscard]] static Owned adopt(T handle) noexcept {
    Owned owned;
    owned.handle_ = handle;
    return owned;
  }
  /// Adds a reference to somebody else's object.
  [[nodiscard]] static Owned borrow(T handle) noexcept {
    if (handle) add_ref(handle);
    return adopt(handle);
  }

  void reset() noexcept {
    if (T handle = std::exchange(handle_, nullptr)) release(handle);
  }
  /// The handle, with its reference.
  [[nodiscard]] T give_up() noexcept { return std::exchange(handle_, nullptr); }
  [[nodiscard]] T get() const noexcept { return handle_; }
  explicit operator bool() const noexcept { return handle_ != nullptr; }

 private:
  T handle_ = nullptr;
};

[[nodiscard]] inline WGPUStringView view(std::string_view text) noexcept { return {text.data(), text.size()}; }

}  // namespace hearth::runtime::webgpu
