#include "my_app.hpp"

#include <cstring>

static WGPUStringView view(const char* text) { return {text, std::strlen(text)}; }

static const char* shader = R"(
@group(0) @binding(0) var<storage, read> image: array<f32>;
@vertex fn corner(@builtin(vertex_index) i: u32) -> @builtin(position) vec4f {
  return vec4f(f32(i32(i) % 2) * 4.0 - 1.0, f32(i32(i) / 2) * 4.0 - 1.0, 0.0, 1.0);
}
@fragment fn colour(@builtin(position) p: vec4f) -> @location(0) vec4f {
  let at = (u32(p.y) * 64u + u32(p.x)) * 3u;
  return vec4f(image[at], image[at + 1u], image[at + 2u], 1.0);
}
)";

WGPUAdapter MyApp::request_adapter() {
  WGPUAdapter result = nullptr;
  WGPURequestAdapterCallbackInfo callback = {};
  callback.mode = WGPUCallbackMode_AllowProcessEvents;
  callback.callback = [](WGPURequestAdapterStatus, WGPUAdapter found, WGPUStringView, void* out, void*) {
    *static_cast<WGPUAdapter*>(out) = found;
  };
  callback.userdata1 = &result;
  wgpuInstanceRequestAdapter(instance, nullptr, callback);
  for (int i = 0; i < 1000 && !result; ++i) wgpuInstanceProcessEvents(instance);
  if (!result) {
    std::puts("no WebGPU adapter");
    std::exit(77);
  }
  return result;
}

WGPUDevice MyApp::request_device() {
  WGPUDevice result = nullptr;
  WGPUDeviceDescriptor descriptor = {};
  descriptor.uncapturedErrorCallbackInfo.callback = [](WGPUDevice const*, WGPUErrorType, WGPUStringView text, void*, void*) {
    std::printf("error: %.*s\n", static_cast<int>(text.length), text.data);
  };
  WGPURequestDeviceCallbackInfo callback = {};
  callback.mode = WGPUCallbackMode_AllowProcessEvents;
  callback.callback = [](WGPURequestDeviceStatus, WGPUDevice made, WGPUStringView, void* out, void*) {
    *static_cast<WGPUDevice*>(out) = made;
  };
  callback.userdata1 = &result;
  wgpuAdapterRequestDevice(adapter, &descriptor, callback);
  for (int i = 0; i < 1000 && !result; ++i) wgpuInstanceProcessEvents(instance);
  if (!result) std::exit(1);
  return result;
}

WGPUTexture MyApp::make_texture(WGPUTextureUsage usage) {
  WGPUTextureDescriptor descriptor = {};
  descriptor.usage = usage;
  descriptor.dimension = WGPUTextureDimension_2D;
  descriptor.size = {width, height, 1};
  descriptor.format = WGPUTextureFormat_RGBA8Unorm;
  descriptor.mipLevelCount = 1;
  descriptor.sampleCount = 1;
  return wgpuDeviceCreateTexture(device, &descriptor);
}

void MyApp::draw(WGPUBuffer buffer, std::uint64_t offset, std::uint64_t size_bytes) {
  WGPUShaderSourceWGSL source = {};
  source.chain.sType = WGPUSType_ShaderSourceWGSL;
  source.code = view(shader);
  WGPUShaderModuleDescriptor module_descriptor = {};
  module_descriptor.nextInChain = &source.chain;
  WGPUShaderModule module = wgpuDeviceCreateShaderModule(device, &module_descriptor);
  WGPUColorTargetState target = {};
  target.format = WGPUTextureFormat_RGBA8Unorm;
  target.writeMask = WGPUColorWriteMask_All;
  WGPUFragmentState fragment = {};
  fragment.module = module;
  fragment.entryPoint = view("colour");
  fragment.targetCount = 1;
  fragment.targets = &target;
  WGPURenderPipelineDescriptor descriptor = {};
  descriptor.vertex.module = module;
  descriptor.vertex.entryPoint = view("corner");
  descriptor.primitive.topology = WGPUPrimitiveTopology_TriangleList;
  descriptor.multisample.count = 1;
  descriptor.multisample.mask = 0xffffffffu;
  descriptor.fragment = &fragment;
  WGPURenderPipeline pipeline = wgpuDeviceCreateRenderPipeline(device, &descriptor);
  WGPUBindGroupLayout layout = wgpuRenderPipelineGetBindGroupLayout(pipeline, 0);
  WGPUBindGroupEntry entry = {};
  entry.buffer = buffer;
  entry.offset = offset;
  entry.size = size_bytes;
  WGPUBindGroupDescriptor group_descriptor = {};
  group_descriptor.layout = layout;
  group_descriptor.entryCount = 1;
  group_descriptor.entries = &entry;
  WGPUBindGroup group = wgpuDeviceCreateBindGroup(device, &group_descriptor);

  WGPUTextureView screen_view = wgpuTextureCreateView(screen, nullptr);
  WGPURenderPassColorAttachment attachment = {};
  attachment.view = screen_view;
  attachment.depthSlice = WGPU_DEPTH_SLICE_UNDEFINED;
  attachment.loadOp = WGPULoadOp_Clear;
  attachment.storeOp = WGPUStoreOp_Store;
  WGPURenderPassDescriptor pass_descriptor = {};
  pass_descriptor.colorAttachmentCount = 1;
  pass_descriptor.colorAttachments = &attachment;
  WGPUCommandEncoder encoder = wgpuDeviceCreateCommandEncoder(device, nullptr);
  WGPURenderPassEncoder pass = wgpuCommandEncoderBeginRenderPass(encoder, &pass_descriptor);
  wgpuRenderPassEncoderSetPipeline(pass, pipeline);
  wgpuRenderPassEncoderSetBindGroup(pass, 0, group, 0, nullptr);
  wgpuRenderPassEncoderDraw(pass, 3, 1, 0, 0);
  wgpuRenderPassEncoderEnd(pass);
  WGPUCommandBuffer commands = wgpuCommandEncoderFinish(encoder, nullptr);
  wgpuQueueSubmit(queue, 1, &commands);

  wgpuCommandBufferRelease(commands);
  wgpuRenderPassEncoderRelease(pass);
  wgpuCommandEncoderRelease(encoder);
  wgpuTextureViewRelease(screen_view);
  wgpuBindGroupRelease(group);
  wgpuBindGroupLayoutRelease(layout);
  wgpuRenderPipelineRelease(pipeline);
  wgpuShaderModuleRelease(module);
}

std::uint32_t MyApp::pixel(std::uint32_t x, std::uint32_t y) {
  WGPUBufferDescriptor descriptor = {};
  descriptor.size = 256;
  descriptor.usage = WGPUBufferUsage_MapRead | WGPUBufferUsage_CopyDst;
  WGPUBuffer buffer = wgpuDeviceCreateBuffer(device, &descriptor);
  WGPUTexelCopyTextureInfo from = {};
  from.texture = screen;
  from.origin = {x, y, 0};
  WGPUTexelCopyBufferInfo to = {};
  to.buffer = buffer;
  to.layout.bytesPerRow = 256;
  to.layout.rowsPerImage = 1;
  const WGPUExtent3D size = {1, 1, 1};
  WGPUCommandEncoder encoder = wgpuDeviceCreateCommandEncoder(device, nullptr);
  wgpuCommandEncoderCopyTextureToBuffer(encoder, &from, &to, &size);
  WGPUCommandBuffer commands = wgpuCommandEncoderFinish(encoder, nullptr);
  wgpuQueueSubmit(queue, 1, &commands);
  wgpuCommandBufferRelease(commands);
  wgpuCommandEncoderRelease(encoder);
  WGPUMapAsyncStatus status = {};
  WGPUBufferMapCallbackInfo callback = {};
  callback.mode = WGPUCallbackMode_AllowProcessEvents;
  callback.callback = [](WGPUMapAsyncStatus got, WGPUStringView, void* out, void*) {
    *static_cast<WGPUMapAsyncStatus*>(out) = got;
  };
  callback.userdata1 = &status;
  wgpuBufferMapAsync(buffer, WGPUMapMode_Read, 0, 256, callback);
  while (status == WGPUMapAsyncStatus{}) wgpuInstanceProcessEvents(instance);
  std::uint32_t result = 0;
  if (status == WGPUMapAsyncStatus_Success) {
    const auto* rgba = static_cast<const std::uint8_t*>(wgpuBufferGetConstMappedRange(buffer, 0, 256));
    result = static_cast<std::uint32_t>(rgba[0] << 16 | rgba[1] << 8 | rgba[2]);
    wgpuBufferUnmap(buffer);
  }
  wgpuBufferRelease(buffer);
  return result;
}
