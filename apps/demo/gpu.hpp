#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "demo/handle.hpp"
#include "hearth/io/image.hpp"

namespace hearth::demo {

/// The app's own WebGPU objects, as a graphics program makes them: default limits, no features, an own error callback.
class Gpu {
 public:
  /// `name`: a part of the adapter's name in any case; empty: the one that WebGPU prefers. Throws Error(no_adapter), naming the
  /// adapters that there are.
  explicit Gpu(const std::string& name);

  [[nodiscard]] WGPUInstance instance() const noexcept { return instance_.get(); }
  [[nodiscard]] WGPUAdapter adapter() const noexcept { return adapter_.get(); }
  [[nodiscard]] WGPUDevice device() const noexcept { return device_.get(); }
  [[nodiscard]] WGPUQueue queue() const noexcept { return queue_.get(); }
  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  [[nodiscard]] const std::string& backend() const noexcept { return backend_; }
  [[nodiscard]] std::uint32_t max_texture_side() const noexcept { return max_texture_side_; }
  [[nodiscard]] std::uint64_t submits() const noexcept { return submits_; }

  [[nodiscard]] Buffer make_buffer(std::uint64_t size_bytes, WGPUBufferUsage usage) const;
  /// 2D, rgba8unorm. Throws Error(unsupported) when it is larger than the device's textures may be.
  [[nodiscard]] Texture make_texture(int width, int height, WGPUTextureUsage usage, const char* what) const;
  /// The image (RGBA) as a texture that shaders can read.
  [[nodiscard]] Texture upload(const io::Image& image) const;

  void submit(WGPUCommandEncoder encoder);
  /// Waits until the queue has done everything that was submitted so far.
  void wait() const;
  /// Maps a buffer of usage MapRead and copies it out.
  [[nodiscard]] std::vector<std::uint8_t> read(WGPUBuffer buffer, std::size_t size_bytes) const;
  /// Throws Error when an error reached the app's callback, or the device was lost.
  void check() const;

 private:
  /// What the device's callbacks tell; they may come late, so it has an address of its own.
  struct Events {
    int errors = 0;
    bool lost = false;
    std::string first;
  };

  // Declared first, gone last: the others' callbacks write into it.
  std::unique_ptr<Events> events_ = std::make_unique<Events>();
  Instance instance_;
  Adapter adapter_;
  GpuDevice device_;
  Queue queue_;
  std::string name_, backend_;
  std::uint32_t max_texture_side_ = 8192;
  std::uint64_t submits_ = 0;
};

/// Names of the adapters that WebGPU offers.
[[nodiscard]] std::vector<std::string> adapter_names();

}  // namespace hearth::demo
