#pragma once
#include <webgpu/webgpu.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "runtime/backends.hpp"

namespace hearth::test {

/// What a program has that draws: a device with the default limits, its queue, and an own callback for errors, which is to stay
/// silent. Its end checks that.
class App {
 public:
  App();
  ~App();
  App(const App&) = delete;
  App& operator=(const App&) = delete;

  [[nodiscard]] static bool adapter_exists();

  [[nodiscard]] runtime::NativeDevice native() const { return {instance, adapter, device, queue}; }
  [[nodiscard]] WGPUBuffer make_buffer(std::uint64_t size, WGPUBufferUsage usage) const;
  /// Fills a buffer through the queue.
  void fill(WGPUBuffer buffer, const std::vector<float>& values) const;
  /// Reads any buffer with usage CopySrc, on the app's own commands.
  [[nodiscard]] std::vector<float> read(WGPUBuffer buffer, std::uint64_t offset, std::size_t count) const;
  void submit(WGPUCommandEncoder encoder) const;
  [[nodiscard]] WGPUCommandEncoder make_encoder() const { return wgpuDeviceCreateCommandEncoder(device, nullptr); }
  /// Destroys the device; the objects stay.
  void destroy() const { wgpuDeviceDestroy(device); }

  WGPUInstance instance = nullptr;
  WGPUAdapter adapter = nullptr;
  WGPUDevice device = nullptr;
  WGPUQueue queue = nullptr;
  std::shared_ptr<int> errors = std::make_shared<int>(0);  ///< that reached the app's callback
};

}  // namespace hearth::test
