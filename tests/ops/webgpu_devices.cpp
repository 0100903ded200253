#include <cstring>

#include "hearth/webgpu.hpp"
#include "ops/devices.hpp"

namespace devices {

namespace {

/// What an app makes: default limits, no features.
hearth::webgpu::ExistingDevice plain_device() {
  hearth::webgpu::ExistingDevice made;
  made.instance = wgpuCreateInstance(nullptr);
  WGPURequestAdapterCallbackInfo on_adapter = {};
  on_adapter.mode = WGPUCallbackMode_AllowProcessEvents;
  on_adapter.callback = [](WGPURequestAdapterStatus, WGPUAdapter adapter, WGPUStringView, void* out, void*) {
    *static_cast<WGPUAdapter*>(out) = adapter;
  };
  on_adapter.userdata1 = &made.adapter;
  wgpuInstanceRequestAdapter(made.instance, nullptr, on_adapter);
  for (int i = 0; i < 1000 && !made.adapter; ++i) wgpuInstanceProcessEvents(made.instance);
  if (!made.adapter) return made;
  WGPUDeviceDescriptor descriptor = {};
  WGPURequestDeviceCallbackInfo on_device = {};
  on_device.mode = WGPUCallbackMode_AllowProcessEvents;
  on_device.callback = [](WGPURequestDeviceStatus, WGPUDevice device, WGPUStringView, void* out, void*) {
    *static_cast<WGPUDevice*>(out) = device;
  };
  on_device.userdata1 = &made.device;
  wgpuAdapterRequestDevice(made.adapter, &descriptor, on_device);
  for (int i = 0; i < 1000 && !made.device; ++i) wgpuInstanceProcessEvents(made.instance);
  if (made.device) made.queue = wgpuDeviceGetQueue(made.device);
  return made;
}

}  // namespace

std::vector<Lane> open_webgpu() {
  std::vector<Lane> lanes;
  const hearth::webgpu::ExistingDevice existing = plain_device();
  if (!existing.device) return lanes;
  lanes.push_back({"WebGPU eager, default limits", hearth::webgpu::init_existing_device(existing, options(false))});
  try {
    lanes.push_back({"WebGPU fused", hearth::webgpu::init_device({}, options(true))});
  } catch (const hearth::Error&) {
    // An adapter that serves once: then the app's kind of device must do for both.
    lanes.push_back({"WebGPU fused, default limits", hearth::webgpu::init_existing_device(plain_device(), options(true))});
  }
  return lanes;
}

}  // namespace devices
