#pragma once
#include <webgpu/webgpu.h>

#include <cstring>
#include <utility>

namespace hearth::demo {

/// One reference to a WebGPU object, given back at the end.
template <typename T, void (*release)(T)>
class Owned {
 public:
  Owned() = default;
  explicit Owned(T object) noexcept : object_(object) {}
  Owned(Owned&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  Owned& operator=(Owned&& other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Owned() {
    if (object_) release(object_);
  }
  [[nodiscard]] T get() const noexcept { return object_; }
  explicit operator bool() const noexcept { return object_ != nullptr; }

 private:
  T object_ = nullptr;
};

using Instance = Owned<WGPUInstance, wgpuInstanceRelease>;
using Adapter = Owned<WGPUAdapter, wgpuAdapterRelease>;
using GpuDevice = Owned<WGPUDevice, wgpuDeviceRelease>;
using Queue = Owned<WGPUQueue, wgpuQueueRelease>;
using Buffer = Owned<WGPUBuffer, wgpuBufferRelease>;
using Texture = Owned<WGPUTexture, wgpuTextureRelease>;
using TextureView = Owned<WGPUTextureView, wgpuTextureViewRelease>;
using ShaderModule = Owned<WGPUShaderModule, wgpuShaderModuleRelease>;
using BindGroup = Owned<WGPUBindGroup, wgpuBindGroupRelease>;
using BindGroupLayout = Owned<WGPUBindGroupLayout, wgpuBindGroupLayoutRelease>;
using PipelineLayout = Owned<WGPUPipelineLayout, wgpuPipelineLayoutRelease>;
using RenderPipeline = Owned<WGPURenderPipeline, wgpuRenderPipelineRelease>;
using CommandEncoder = Owned<WGPUCommandEncoder, wgpuCommandEncoderRelease>;
using CommandBuffer = Owned<WGPUCommandBuffer, wgpuCommandBufferRelease>;
using RenderPass = Owned<WGPURenderPassEncoder, wgpuRenderPassEncoderRelease>;

[[nodiscard]] inline WGPUStringView view(const char* text) { return {text, std::strlen(text)}; }

}  // namespace hearth::demo
