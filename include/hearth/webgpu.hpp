#pragma once
#include <webgpu/webgpu.h>

#include <functional>

#include "hearth/device.hpp"
#include "hearth/dtype.hpp"
#include "hearth/shape.hpp"
#include "hearth/tensor.hpp"

/// Interop with the app's own WebGPU objects.
namespace hearth::webgpu {

/// The app's objects. Hearth adds references, never destroys, and never replaces the app's callbacks.
/// `adapter` may be null. `queue` may be null: then the device's own queue is used.
struct ExistingDevice {
  WGPUInstance instance = nullptr;
  WGPUAdapter adapter = nullptr;
  WGPUDevice device = nullptr;
  WGPUQueue queue = nullptr;
};

/// A Hearth device on the app's device and queue. The same WGPUDevice with equal options gives the same Device; with other
/// options it throws Error(invalid_argument). Throws Error(unsupported) naming the limit when a default WebGPU device offers
/// more.
[[nodiscard]] Device init_existing_device(const ExistingDevice& existing, const RuntimeOptions& options = {});

/// Part of a buffer, in bytes; offset and size are multiples of 4. size 0: to the end.
struct BufferRange {
  WGPUBuffer buffer = nullptr;
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
};

/// The raw buffer of a tensor: dense, row-major. Pins the memory: keep it until your commands that use it are submitted.
struct Resource {
  WGPUBuffer buffer = nullptr;
  std::uint64_t offset = 0;  ///< bytes; a multiple of the device's minStorageBufferOffsetAlignment
  std::uint64_t size = 0;    ///< bytes; a multiple of 4
  Handle pin;

  Resource() = default;
  Resource(const RawResource& raw)  // NOLINT: what Client::get_resource gives
      : buffer(static_cast<WGPUBuffer>(raw.buffer)), offset(raw.offset), size(raw.size), pin(raw.pin) {}
};

struct ResourceOptions {
  /// No two resources share a buffer; a small tensor moves to a buffer of its own by a copy on the queue, once.
  bool exclusive = true;
};

/// Materialises and flushes `tensor` and gives its buffer; commands that the app submits to the queue from here on see its
/// values. What the app writes there is what the tensor holds from then on. Throws Error(wrong_device) on a CPU tensor.
[[nodiscard]] Resource get_resource(const Tensor& tensor, const ResourceOptions& options = {});

/// A tensor on the app's buffer (usage Storage), without a copy. Memory is read when work is flushed: do not change it
/// between record and flush. Throws Error(invalid_argument) when the range does not fit or is not aligned.
[[nodiscard]] Tensor import_buffer(const Device& device, const BufferRange& range, const Shape& shape, DType dtype);

/// The app's 2D texture (usage TextureBinding; formats 8-bit unorm with 1, 2 or 4 channels, 16- and 32-bit float) as f32 [height,
/// width, 4]. Missing channels read as 0, alpha as 1.
[[nodiscard]] Tensor import_texture(const Device& device, WGPUTexture texture);

/// Writes f32 [height, width, 3|4] into the app's texture (usage CopyDst, format rgba8unorm or rgba32float), on the queue.
void export_texture(const Tensor& tensor, WGPUTexture texture);

/// Copies a tensor's dense bytes into the app's buffer (usage CopyDst), on the queue, ordered like a launch.
void copy_to(const Tensor& tensor, const BufferRange& range);

/// What `encode_into` recorded. The destructor is `submitted`.
class Encoded {
 public:
  Encoded() = default;
  Encoded(Encoded&&) noexcept;
  Encoded& operator=(Encoded&&) noexcept;
  ~Encoded();
  /// The app has submitted the encoder: its tensors are like any other from here on.
  void submitted();
  /// The app threw the encoder away: its tensors are lost, reading one is an Error.
  void discarded();

 private:
  friend Encoded encode_into(const Device&, WGPUCommandEncoder, const std::function<void()>&);
  Device device_;
  std::uint64_t scope_ = 0;
};

/// Records the tensor work of `function` (uploads included) into the app's own encoder; no pass of it may be open.
/// Work that was pending before goes to the queue first; Hearth submits nothing of this. Until `submitted`, its tensors can be
/// bound and recorded in this encoder only: reading one throws Error(not_submitted).
[[nodiscard]] Encoded encode_into(const Device& device, WGPUCommandEncoder encoder, const std::function<void()>& function);

}  // namespace hearth::webgpu
