#include "kernel_runner.hpp"

#include <algorithm>
#include <cstring>

namespace hearth::test {
namespace {

WGPUStringView view(const std::string& text) { return {text.data(), text.size()}; }

std::uint64_t padded(std::size_t bytes) { return std::max<std::uint64_t>(16, (bytes + 15) / 16 * 16); }

}  // namespace

KernelRunner::KernelRunner() {
  instance_ = wgpuCreateInstance(nullptr);
  WGPURequestAdapterCallbackInfo on_adapter = {};
  on_adapter.mode = WGPUCallbackMode_AllowProcessEvents;
  on_adapter.callback = [](WGPURequestAdapterStatus, WGPUAdapter adapter, WGPUStringView, void* out, void*) {
    *static_cast<WGPUAdapter*>(out) = adapter;
  };
  on_adapter.userdata1 = &adapter_;
  wgpuInstanceRequestAdapter(instance_, nullptr, on_adapter);
  for (int i = 0; i < 1000 && !adapter_; ++i) wgpuInstanceProcessEvents(instance_);
  if (!adapter_) return;
  WGPUDeviceDescriptor descriptor = {};
  const WGPUFeatureName f16 = WGPUFeatureName_ShaderF16;
  info_.f16 = wgpuAdapterHasFeature(adapter_, f16);
  descriptor.requiredFeatures = &f16;
  descriptor.requiredFeatureCount = info_.f16 ? 1 : 0;
  WGPURequestDeviceCallbackInfo on_device = {};
  on_device.mode = WGPUCallbackMode_AllowProcessEvents;
  on_device.callback = [](WGPURequestDeviceStatus, WGPUDevice device, WGPUStringView, void* out, void*) {
    *static_cast<WGPUDevice*>(out) = device;
  };
  on_device.userdata1 = &device_;
  wgpuAdapterRequestDevice(adapter_, &descriptor, on_device);
  for (int i = 0; i < 1000 && !device_; ++i) wgpuInstanceProcessEvents(instance_);
  if (device_) queue_ = wgpuDeviceGetQueue(device_);
}

KernelRunner::~KernelRunner() {
  if (queue_) wgpuQueueRelease(queue_);
  if (device_) wgpuDeviceRelease(device_);
  if (adapter_) wgpuAdapterRelease(adapter_);
  wgpuInstanceRelease(instance_);
}

WGPUBuffer KernelRunner::make_buffer(std::uint64_t size, WGPUBufferUsage usage) const {
  WGPUBufferDescriptor descriptor = {};
  descriptor.size = size;
  descriptor.usage = usage;
  return wgpuDeviceCreateBuffer(device_, &descriptor);
}

std::vector<std::byte> KernelRunner::read(WGPUBuffer buffer, std::uint64_t size) const {
  WGPUBuffer staging = make_buffer(size, WGPUBufferUsage_MapRead | WGPUBufferUsage_CopyDst);
  WGPUCommandEncoder encoder = wgpuDeviceCreateCommandEncoder(device_, nullptr);
  wgpuCommandEncoderCopyBufferToBuffer(encoder, buffer, 0, staging, 0, size);
  WGPUCommandBuffer commands = wgpuCommandEncoderFinish(encoder, nullptr);
  wgpuQueueSubmit(queue_, 1, &commands);
  WGPUMapAsyncStatus status = {};
  WGPUBufferMapCallbackInfo on_map = {};
  on_map.mode = WGPUCallbackMode_AllowProcessEvents;
  on_map.callback = [](WGPUMapAsyncStatus got, WGPUStringView, void* out, void*) {
    *static_cast<WGPUMapAsyncStatus*>(out) = got;
  };
  on_map.userdata1 = &status;
  wgpuBufferMapAsync(staging, WGPUMapMode_Read, 0, size, on_map);
  while (status == WGPUMapAsyncStatus{}) wgpuInstanceProcessEvents(instance_);
  std::vector<std::byte> bytes(size);
  if (status == WGPUMapAsyncStatus_Success) {
    std::memcpy(bytes.data(), wgpuBufferGetConstMappedRange(staging, 0, size), size);
    wgpuBufferUnmap(staging);
  }
  wgpuCommandBufferRelease(commands);
  wgpuCommandEncoderRelease(encoder);
  wgpuBufferRelease(staging);
  return bytes;
}

std::string KernelRunner::pop_scope() const {
  std::string message;
  WGPUPopErrorScopeCallbackInfo on_pop = {};
  on_pop.mode = WGPUCallbackMode_AllowSpontaneous;
  on_pop.callback = [](WGPUPopErrorScopeStatus, WGPUErrorType type, WGPUStringView text, void* out, void*) {
    if (type != WGPUErrorType_NoError) *static_cast<std::string*>(out) = std::string(text.data, text.length);
  };
  on_pop.userdata1 = &message;
  wgpuDevicePopErrorScope(device_, on_pop);
  return message;
}

std::string KernelRunner::run(const ir::Wgsl& wgsl, std::vector<std::vector<std::byte>>& memory,
                              const std::vector<std::uint32_t>& parameters) {
  const WGPUBufferUsage usage = WGPUBufferUsage_Storage | WGPUBufferUsage_CopyDst | WGPUBufferUsage_CopySrc;
  std::vector<WGPUBuffer> buffers;
  for (const std::vector<std::byte>& bytes : memory) {
    buffers.push_back(make_buffer(padded(bytes.size()), usage));
    std::vector<std::byte> whole = bytes;
    whole.resize(padded(bytes.size()));
    wgpuQueueWriteBuffer(queue_, buffers.back(), 0, whole.data(), whole.size());
  }
  WGPUBuffer scratch = make_buffer(padded(wgsl.scratch_bytes), usage);
  WGPUBuffer uniform = make_buffer(256, WGPUBufferUsage_Uniform | WGPUBufferUsage_CopyDst);
  if (!parameters.empty()) wgpuQueueWriteBuffer(queue_, uniform, 0, parameters.data(), parameters.size() * 4);

  std::string error;
  for (const ir::WgslStage& stage : wgsl.stages) {
    wgpuDevicePushErrorScope(device_, WGPUErrorFilter_Validation);
    WGPUShaderSourceWGSL source = {};
    source.chain.sType = WGPUSType_ShaderSourceWGSL;
    source.code = view(stage.source);
    WGPUShaderModuleDescriptor module_descriptor = {};
    module_descriptor.nextInChain = &source.chain;
    WGPUShaderModule module = wgpuDeviceCreateShaderModule(device_, &module_descriptor);

    std::vector<WGPUBindGroupLayoutEntry> layout_entries;
    std::vector<WGPUBindGroupEntry> entries;
    for (int index : stage.bindings) {
      WGPUBindGroupLayoutEntry layout = {};
      layout.binding = static_cast<std::uint32_t>(layout_entries.size());
      layout.visibility = WGPUShaderStage_Compute;
      layout.buffer.type = WGPUBufferBindingType_Storage;
      WGPUBindGroupEntry entry = {};
      entry.binding = layout.binding;
      entry.buffer = index < 0 ? scratch : buffers[static_cast<std::size_t>(index)];
      entry.size = index < 0 ? padded(wgsl.scratch_bytes) : (memory[static_cast<std::size_t>(index)].size() + 3) / 4 * 4;
      layout_entries.push_back(layout);
      entries.push_back(entry);
    }
    if (stage.parameters) {
      WGPUBindGroupLayoutEntry layout = {};
      layout.binding = static_cast<std::uint32_t>(layout_entries.size());
      layout.visibility = WGPUShaderStage_Compute;
      layout.buffer.type = WGPUBufferBindingType_Uniform;
      WGPUBindGroupEntry entry = {};
      entry.binding = layout.binding;
      entry.buffer = uniform;
      entry.size = 256;
      layout_entries.push_back(layout);
      entries.push_back(entry);
    }
    WGPUBindGroupLayoutDescriptor layout_descriptor = {};
    layout_descriptor.entries = layout_entries.data();
    layout_descriptor.entryCount = layout_entries.size();
    WGPUBindGroupLayout layout = wgpuDeviceCreateBindGroupLayout(device_, &layout_descriptor);
    WGPUPipelineLayoutDescriptor pipeline_layout = {};
    pipeline_layout.bindGroupLayouts = &layout;
    pipeline_layout.bindGroupLayoutCount = 1;
    WGPUPipelineLayout pipelines = wgpuDeviceCreatePipelineLayout(device_, &pipeline_layout);
    WGPUComputePipelineDescriptor pipeline_descriptor = {};
    pipeline_descriptor.layout = pipelines;
    pipeline_descriptor.compute.module = module;
    pipeline_descriptor.compute.entryPoint = view(stage.entry_point);
    WGPUComputePipeline pipeline = wgpuDeviceCreateComputePipeline(device_, &pipeline_descriptor);
    WGPUBindGroupDescriptor group_descriptor = {};
    group_descriptor.layout = layout;
    group_descriptor.entries = entries.data();
    group_descriptor.entryCount = entries.size();
    WGPUBindGroup group = wgpuDeviceCreateBindGroup(device_, &group_descriptor);
    error = pop_scope();
    if (error.empty()) {
      WGPUCommandEncoder encoder = wgpuDeviceCreateCommandEncoder(device_, nullptr);
      WGPUComputePassEncoder pass = wgpuCommandEncoderBeginComputePass(encoder, nullptr);
      wgpuComputePassEncoderSetPipeline(pass, pipeline);
      wgpuComputePassEncoderSetBindGroup(pass, 0, group, 0, nullptr);
      wgpuComputePassEncoderDispatchWorkgroups(pass, stage.workgroups[0], stage.workgroups[1], stage.workgroups[2]);
      wgpuComputePassEncoderEnd(pass);
      WGPUCommandBuffer commands = wgpuCommandEncoderFinish(encoder, nullptr);
      wgpuQueueSubmit(queue_, 1, &commands);
      wgpuCommandBufferRelease(commands);
      wgpuComputePassEncoderRelease(pass);
      wgpuCommandEncoderRelease(encoder);
    }
    wgpuBindGroupRelease(group);
    wgpuComputePipelineRelease(pipeline);
    wgpuPipelineLayoutRelease(pipelines);
    wgpuBindGroupLayoutRelease(layout);
    wgpuShaderModuleRelease(module);
    if (!error.empty()) break;
  }
  if (error.empty())
    for (std::size_t i = 0; i < memory.size(); ++i) {
      const std::vector<std::byte> bytes = read(buffers[i], padded(memory[i].size()));
      std::copy_n(bytes.begin(), memory[i].size(), memory[i].begin());
    }
  for (WGPUBuffer buffer : buffers) wgpuBufferRelease(buffer);
  wgpuBufferRelease(scratch);
  wgpuBufferRelease(uniform);
  return error;
}

}  // namespace hearth::test
