#pragma once
// The app of the example existing_device.cpp, in plain webgpu.h: any program that has a WebGPU device. It draws a buffer of
// colours with a render pass of its own.
#include <webgpu/webgpu.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

struct MyApp {
  static constexpr std::uint32_t width = 64, height = 64;
  WGPUInstance instance = wgpuCreateInstance(nullptr);
  WGPUAdapter adapter = request_adapter();
  WGPUDevice device = request_device();
  WGPUQueue queue = wgpuDeviceGetQueue(device);
  WGPUTexture photo = make_texture(WGPUTextureUsage_TextureBinding | WGPUTextureUsage_CopyDst);
  WGPUTexture screen = make_texture(WGPUTextureUsage_RenderAttachment | WGPUTextureUsage_CopySrc);

  MyApp() {
    std::uint8_t pixels[height][width][4];
    for (std::uint32_t y = 0; y < height; ++y)
      for (std::uint32_t x = 0; x < width; ++x) {
        const std::uint8_t pixel[4] = {static_cast<std::uint8_t>(4 * x), static_cast<std::uint8_t>(4 * y), 128, 255};
        std::memcpy(pixels[y][x], pixel, 4);
      }
    WGPUTexelCopyTextureInfo to = {};
    to.texture = photo;
    WGPUTexelCopyBufferLayout layout = {};
    layout.bytesPerRow = width * 4;
    layout.rowsPerImage = height;
    const WGPUExtent3D size = {width, height, 1};
    wgpuQueueWriteTexture(queue, &to, pixels, sizeof pixels, &layout, &size);
  }
  MyApp(const MyApp&) = delete;
  ~MyApp() {
    wgpuTextureRelease(screen);
    wgpuTextureRelease(photo);
    wgpuQueueRelease(queue);
    wgpuDeviceRelease(device);
    wgpuAdapterRelease(adapter);
    wgpuInstanceRelease(instance);
  }

  /// Draws f32 [height, width, 3] from a part of a buffer onto the screen, and submits.
  void draw(WGPUBuffer buffer, std::uint64_t offset, std::uint64_t size_bytes);
  /// A pixel of the screen as 0xRRGGBB.
  std::uint32_t pixel(std::uint32_t x, std::uint32_t y);

 private:
  WGPUAdapter request_adapter();
  WGPUDevice request_device();
  WGPUTexture make_texture(WGPUTextureUsage usage);
};
