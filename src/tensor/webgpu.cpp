#ifdef HEARTH_HAS_WEBGPU
#include "hearth/webgpu.hpp"

#include <functional>

#include <fmt/format.h>

#include "graph/context.hpp"
#include "graph/devices.hpp"
#include "runtime/backends.hpp"

namespace hearth::webgpu {

using graph::Context;
namespace interop = hearth::runtime::webgpu;

Device init_existing_device(const ExistingDevice& existing, const RuntimeOptions& options) {
  if (!existing.instance || !existing.device)
    throw Error(ErrorCode::invalid_argument,
                fmt::format("init_existing_device: the {} is null.", existing.instance ? "device" : "instance"));
  return Device(graph::find_or_make(existing.device, options, [&] {
    return make_ref<Context>(
        hearth::runtime::open_webgpu({existing.instance, existing.adapter, existing.device, existing.queue}, options).value(),
        options);
  }));
}

/// Copies into an allocation of its own when the memory is known to the app as another tensor's.
static void unshare(graph::Node& node, Context& context) {
  if (!node.memory || !node.memory->pinned || node.handed_out) return;
  const Handle own = context.client().empty(node.bytes()).value();
  own->scope = context.eager().scope;
  context.client().copy(node.memory, 0, own, 0, node.bytes()).value();
  node.memory = own;
}

Resource get_resource(const Tensor& tensor, const ResourceOptions& options) {
  const Device device = tensor.device();
  Context& context = *device.context();
  if (tensor.elements() == 0)
    throw Error(ErrorCode::invalid_argument,
                fmt::format("get_resource: the tensor {} has no elements.", to_string(tensor.shape())));
  const Context::Guard guard(context);
  const Handle memory = graph::dense_handle(tensor);
  graph::Node& node = *tensor.node();
  if (options.exclusive) unshare(node, context);
  context.executor().flush();
  Resource resource = context.client().get_resource(node.memory, options.exclusive);
  if (options.exclusive) node.handed_out = true;
  return resource;
}

Tensor import_buffer(const Device& device, const BufferRange& range, const Shape& shape, DType dtype) {
  if (!range.buffer) throw Error(ErrorCode::invalid_argument, "import_buffer: the buffer is null.");
  const std::uint64_t bytes = static_cast<std::uint64_t>(shape.elements()) * size_bytes(dtype);
  const std::uint64_t size = range.size == 0 ? wgpuBufferGetSize(range.buffer) - range.offset : range.size;
  if (bytes == 0 || bytes > size)
    throw Error(ErrorCode::invalid_argument, fmt::format("import_buffer: {} of {} takes {} bytes, and the range has {}.",
                                                         to_string(shape), to_string(dtype), bytes, size));
  Context& context = *device.context();
  const Context::Guard guard(context);
  Handle memory = interop::import_buffer(context.channel(), range.buffer, range.offset, size).value();
  Tensor tensor = graph::wrap(device, std::move(memory), shape, dtype);
  tensor.node()->handed_out = true;
  return tensor;
}

Tensor import_texture(const Device& device, WGPUTexture texture) {
  if (!texture) throw Error(ErrorCode::invalid_argument, "import_texture: the texture is null.");
  Context& context = *device.context();
  const Context::Guard guard(context);
  interop::ImportedTexture imported = interop::import_texture(context.channel(), texture).value();
  return graph::wrap(device, std::move(imported.handle), {imported.height, imported.width, 4}, DType::f32);
}

void export_texture(const Tensor& tensor, WGPUTexture texture) {
  const Shape& shape = tensor.shape();
  if (!texture) throw Error(ErrorCode::invalid_argument, "export_texture: the texture is null.");
  if (shape.rank() != 3 || (shape[2] != 3 && shape[2] != 4) || tensor.dtype() != DType::f32 || tensor.elements() == 0)
    throw Error(ErrorCode::shape_mismatch,
                fmt::format("export_texture: takes f32 [height, width, 3 or 4], and the tensor is {} {}.",
                            to_string(tensor.dtype()), to_string(shape)));
  Context& context = *tensor.device().context();
  const Context::Guard guard(context);
  interop::export_texture(context.channel(), graph::dense_handle(tensor), static_cast<std::uint32_t>(shape[1]),
                          static_cast<std::uint32_t>(shape[0]), static_cast<std::uint32_t>(shape[2]), texture)
      .value();
}

void copy_to(const Tensor& tensor, const BufferRange& range) {
  if (!range.buffer) throw Error(ErrorCode::invalid_argument, "copy_to: the buffer is null.");
  if (tensor.elements() == 0) return;
  Context& context = *tensor.device().context();
  const Context::Guard guard(context);
  const Handle memory = graph::dense_handle(tensor);
  const std::uint64_t bytes = tensor.node()->bytes();
  const std::uint64_t size = range.size == 0 ? wgpuBufferGetSize(range.buffer) - range.offset : range.size;
  if (bytes > size)
    throw Error(ErrorCode::invalid_argument,
                fmt::format("copy_to: {} takes {} bytes, and the range has {}.", to_string(tensor.shape()), bytes, size));
  interop::copy_to_buffer(context.channel(), memory, 0, range.buffer, range.offset, bytes).value();
}

Encoded::Encoded(Encoded&& other) noexcept : device_(std::move(other.device_)), scope_(std::exchange(other.scope_, 0)) {}
Encoded& Encoded::operator=(Encoded&& other) noexcept {
  if (this != &other) {
    submitted();
    device_ = std::move(other.device_);
    scope_ = std::exchange(other.scope_, 0);
  }
  return *this;
}
Encoded::~Encoded() { submitted(); }

static void finish(const Device& device, std::uint64_t& scope, bool submitted) {
  if (scope == 0) return;
  Context& context = *device.context();
  const std::scoped_lock lock(context.mutex());
  // A device that is lost meanwhile has nothing left to finish; later calls say so.
  (void)interop::finish_encoding(context.channel(), std::exchange(scope, 0), submitted);
}

void Encoded::submitted() { finish(device_, scope_, true); }
void Encoded::discarded() { finish(device_, scope_, false); }

Encoded encode_into(const Device& device, WGPUCommandEncoder encoder, const std::function<void()>& function) {
  if (!encoder) throw Error(ErrorCode::invalid_argument, "encode_into: the encoder is null.");
  Context& context = *device.context();
  const Context::Guard guard(context);
  if (context.eager().scope != 0)
    throw Error(ErrorCode::invalid_argument, "encode_into: called inside another encode_into of the same device.");
  context.executor().flush();
  Encoded encoded;
  encoded.device_ = device;
  encoded.scope_ = interop::begin_encoding(context.channel(), encoder).value();
  context.eager().scope = encoded.scope_;
  try {
    function();
    context.executor().flush();
  } catch (...) {
    context.eager().scope = 0;
    (void)interop::end_encoding(context.channel(), encoded.scope_);
    encoded.discarded();
    throw;
  }
  context.eager().scope = 0;
  const Expected<void> ended = interop::end_encoding(context.channel(), encoded.scope_);
  if (!ended) {
    encoded.discarded();
    throw Error(ended.error());
  }
  return encoded;
}

}  // namespace hearth::webgpu
#endif
