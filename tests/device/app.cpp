#include "device/app.hpp"

#include <doctest/doctest.h>

#include <cstdio>
#include <cstring>

namespace hearth::test {

namespace {

constexpr int many_polls = 1000;

WGPUAdapter request_adapter(WGPUInstance instance) {
  WGPUAdapter adapter = nullptr;
  WGPURequestAdapterCallbackInfo info = {};
  info.mode = WGPUCallbackMode_AllowProcessEvents;
  info.userdata1 = &adapter;
  info.callback = [](WGPURequestAdapterStatus, WGPUAdapter got, WGPUStringView, void* to, void*) {
    *static_cast<WGPUAdapter*>(to) = got;
  };
  wgpuInstanceRequestAdapter(instance, nullptr, info);
  for (int i = 0; i < many_polls && !adapter; ++i) wgpuInstanceProcessEvents(instance);
  return adapter;
}

}  // namespace

bool App::adapter_exists() {
  WGPUInstance instance = wgpuCreateInstance(nullptr);
  WGPUAdapter adapter = request_adapter(instance);
  if (adapter) wgpuAdapterRelease(adapter);
  wgpuInstanceRelease(instance);
  return adapter != nullptr;
}

App::App() {
  instance = wgpuCreateInstance(nullptr);
  adapter = request_adapter(instance);
  REQUIRE(adapter);
  WGPUDeviceDescriptor descriptor = {};
  descriptor.uncapturedErrorCallbackInfo.userdata1 = errors.get();
  descriptor.uncapturedErrorCallbackInfo.callback = [](WGPUDevice const*, WGPUErrorType, WGPUStringView message, void* count,
                                                       void*) {
    ++*static_cast<int*>(count);
    std::printf("uncaptured: %.*s\n", static_cast<int>(message.length), message.data);
  };
  WGPURequestDeviceCallbackInfo info = {};
  info.mode = WGPUCallbackMode_AllowProcessEvents;
  info.userdata1 = &device;
  info.callback = [](WGPURequestDeviceStatus, WGPUDevice got, WGPUStringView, void* to, void*) {
    *static_cast<WGPUDevice*>(to) = got;
  };
  wgpuAdapterRequestDevice(adapter, &descriptor, info);
  for (int i = 0; i < many_polls && !device; ++i) wgpuInstanceProcessEvents(instance);
  REQUIRE(device);
  queue = wgpuDeviceGetQueue(device);
}

App::~App() {
  CHECK(*errors == 0);
  wgpuQueueRelease(queue);
  wgpuDeviceRelease(device);
  wgpuAdapterRelease(adapter);
  wgpuInstanceRelease(instance);
}

WGPUBuffer App::make_buffer(std::uint64_t size, WGPUBufferUsage usage) const {
  WGPUBufferDescriptor descriptor = {};
  descriptor.size = size;
  descriptor.usage = usage;
  return wgpuDeviceCreateBuffer(device, &descriptor);
}

void App::fill(WGPUBuffer buffer, const std::vector<float>& values) const {
  wgpuQueueWriteBuffer(queue, buffer, 0, values.data(), values.size() * sizeof(float));
}

void App::submit(WGPUCommandEncoder encoder) const {
  WGPUCommandBuffer commands = wgpuCommandEncoderFinish(encoder, nullptr);
  wgpuQueueSubmit(queue, 1, &commands);
  wgpuCommandBufferRelease(commands);
  wgpuCommandEncoderRelease(encoder);
}

std::vector<float> App::read(WGPUBuffer buffer, std::uint64_t offset, std::size_t count) const {
  const std::size_t size = count * sizeof(float);
  WGPUBuffer staging = make_buffer(size, WGPUBufferUsage_CopyDst | WGPUBufferUsage_MapRead);
  WGPUCommandEncoder encoder = make_encoder();
  wgpuCommandEncoderCopyBufferToBuffer(encoder, buffer, offset, staging, 0, size);
  submit(encoder);
  WGPUMapAsyncStatus status = {};
  WGPUBufferMapCallbackInfo info = {};
  info.mode = WGPUCallbackMode_AllowProcessEvents;
  info.userdata1 = &status;
  info.callback = [](WGPUMapAsyncStatus got, WGPUStringView, void* to, void*) { *static_cast<WGPUMapAsyncStatus*>(to) = got; };
  wgpuBufferMapAsync(staging, WGPUMapMode_Read, 0, size, info);
  while (status == WGPUMapAsyncStatus{}) wgpuInstanceProcessEvents(instance);
  REQUIRE(status == WGPUMapAsyncStatus_Success);
  std::vector<float> values(count);
  std::memcpy(values.data(), wgpuBufferGetConstMappedRange(staging, 0, size), size);
  wgpuBufferUnmap(staging);
  wgpuBufferRelease(staging);
  return values;
}

}  // namespace hearth::test
