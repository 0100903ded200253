#include "runtime/webgpu/recording.hpp"

namespace hearth::runtime::webgpu {

Expected<void> Recording::open() {
  if (own_) return {};
  WGPUCommandEncoderDescriptor descriptor = {};
  descriptor.label = view(gpu_.label);
  ErrorScope scope(gpu_);
  own_ = Owned<WGPUCommandEncoder>::adopt(wgpuDeviceCreateCommandEncoder(gpu_.device.get(), &descriptor));
  if (Expected<void> made = scope.close("encoder"); !made) {
    own_.reset();
    return made;
  }
  if (!own_) return device_lost("encoder");
  return {};
}

Expected<void> Recording::begin_pass() {
  if (Expected<void> opened = open(); !opened) return opened;
  WGPUComputePassDescriptor descriptor = {};
  descriptor.label = view(gpu_.label);
  ErrorScope scope(gpu_);
  auto pass = Owned<WGPUComputePassEncoder>::adopt(wgpuCommandEncoderBeginComputePass(own_.get(), &descriptor));
  if (Expected<void> begun = scope.close("compute pass"); !begun) return begun;
  if (!pass) return device_lost("compute pass");
  pass_ = std::move(pass);
  pipeline_ = nullptr;
  group_ = 0;
  ++statistics_.passes;
  return {};
}

void Recording::end_pass() noexcept {
  if (!pass_) return;
  ErrorScope scope(gpu_);  // an error here comes back at Finish
  wgpuComputePassEncoderEnd(pass_.get());
  pass_.reset();
}

Expected<WGPUCommandEncoder> Recording::open_for_copies() {
  end_pass();
  if (Expected<void> opened = open(); !opened) return opened.error();
  return own_.get();
}

Owned<WGPUCommandEncoder> Recording::take_encoder() noexcept {
  end_pass();
  dispatches_ = 0;
  return std::move(own_);
}

}  // namespace hearth::runtime::webgpu
