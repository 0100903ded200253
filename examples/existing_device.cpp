// Hearth on the device that a program already has: its texture in, its render pass out.
#include <hearth/hearth.hpp>
#include <hearth/webgpu.hpp>

#include "my_app.hpp"

int main() {
  MyApp app;  // your program, with its WGPUInstance, WGPUAdapter, WGPUDevice and WGPUQueue
  hearth::Device device = hearth::webgpu::init_existing_device({app.instance, app.adapter, app.device, app.queue});

  hearth::Tensor photo = hearth::webgpu::import_texture(device, app.photo);  // f32 [height, width, 4]
  hearth::Tensor rgb = hearth::slice(photo, {0, 0, 0}, {app.height, app.width, 3});
  hearth::Tensor negative = 1.0f - rgb;
  device.sync(hearth::SyncType::flush);  // onto your queue; nothing waits

  // Your own commands follow on the same queue and see the values: no copy, no fence.
  hearth::webgpu::Resource result = hearth::webgpu::get_resource(negative);
  app.draw(result.buffer, result.offset, result.size);

  std::printf("#%06x\n", app.pixel(16, 32));  // the photo has #408080 there
  return app.pixel(16, 32) == 0xbf7f7f ? 0 : 1;
}
