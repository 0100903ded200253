#include "hearth/tensor.hpp"

#include <fmt/format.h>

#include "graph/context.hpp"
#include "graph/execute.hpp"

namespace hearth {

using graph::Context;

static graph::Node& checked(const Ref<graph::Node>& node) {
  if (!node) throw Error(ErrorCode::invalid_argument, "tensor: a null tensor has no value; it was default-made or moved from.");
  return *node;
}

const Shape& Tensor::shape() const { return checked(node_).shape; }
DType Tensor::dtype() const { return checked(node_).dtype; }
Device Tensor::device() const { return Device(checked(node_).context); }
Client Tensor::client() const { return checked(node_).context->client(); }

Future<std::vector<std::byte>> Tensor::read_bytes() const {
  graph::Node& node = checked(node_);
  if (node.elements() == 0) return Future<std::vector<std::byte>>::ready_with(std::vector<std::byte>{});
  Context& context = *node.context;
  const Context::Guard guard(context);
  const Handle memory = graph::dense_handle(*this);
  if (memory->scope != 0 && memory->scope != context.eager().scope)
    throw Error(
        ErrorCode::not_submitted,
        fmt::format("read: the tensor {} belongs to an encoder that the app has not submitted yet.", to_string(node.shape)));
  return context.client().read(memory, 0, node.bytes());
}

void Tensor::require_one_element() const {
  if (elements() != 1)
    throw Error(ErrorCode::invalid_argument,
                fmt::format("item: the tensor {} has {} elements, not one.", to_string(shape()), elements()));
}

static graph::Body lower_cast(const graph::Operation& operation) {
  return {.value = cast(Expr::argument(0, compute_dtype(operation.inputs[0].dtype)), operation.dtype)};
}
static std::vector<Tensor> gradient_of_cast(const graph::Operation& operation, const Tensor&, const Tensor& gradient,
                                            std::span<const bool>) {
  return {gradient.astype(operation.inputs[0].dtype)};
}
static constexpr graph::Definition cast_definition{.name = "cast", .lower = lower_cast, .gradient = gradient_of_cast};

Tensor Tensor::astype(DType dtype) const {
  if (dtype == this->dtype()) return *this;
  graph::Operation operation;
  operation.definition = &cast_definition;
  operation.inputs = {graph::Operand(*this)};
  operation.shape = shape();
  operation.dtype = dtype;
  return graph::execute(std::move(operation));
}

Tensor Tensor::to(const Device& device) const {
  if (device == this->device()) return *this;
  const std::vector<std::byte> bytes = read_bytes().get();
  return tensor_from_bytes(bytes, shape(), dtype(), device);
}

Tensor Tensor::require_grad() const {
  if (!is_float(dtype()))
    throw Error(ErrorCode::dtype_mismatch,
                fmt::format("require_grad: only floats have gradients, and this tensor is {}.", to_string(dtype())));
  auto leaf = make_ref<graph::Tape>();
  leaf->output = node_;
  leaf->sequence = 0;  // after everything that was made from it
  return {node_, std::move(leaf)};
}

Gradients Tensor::backward(BackwardOptions options) const {
  if (elements() != 1)
    throw Error(ErrorCode::shape_mismatch,
                fmt::format("backward: the gradient of {} needs a seed; only a tensor of one element has one of its own.",
                            to_string(shape())));
  const Expr one = Expr::constant(1, compute_dtype(dtype()));
  return backward(graph::elementwise("ones", one, {}, shape(), dtype(), device()), options);
}

Gradients Tensor::backward(const Tensor& seed, BackwardOptions options) const {
  if (!tape_)
    throw Error(ErrorCode::invalid_argument, "backward: the tensor has no history; nothing it was made from has require_grad.");
  if (seed.shape() != shape())
    throw Error(ErrorCode::shape_mismatch,
                fmt::format("backward: the seed is {}, and the tensor is {}.", to_string(seed.shape()), to_string(shape())));
  Gradients gradients;
  gradients.entries_ = graph::backward(*this, seed, options.create_graph);
  return gradients;
}

Tensor Gradients::of(const Tensor& leaf) const {
  if (!leaf.tape() || !leaf.tape()->leaf())
    throw Error(ErrorCode::invalid_argument, "gradients: of() takes a leaf, a tensor made by require_grad.");
  for (const auto& [tape, gradient] : entries_)
    if (tape == leaf.tape()) return gradient;
  return graph::elementwise("zeros", Expr::constant(0, compute_dtype(leaf.dtype())), {}, leaf.shape(), leaf.dtype(),
                            leaf.device());
}

Handle Tensor::handle() const {
  graph::Node& node = checked(node_);
  if (node.elements() == 0) return node.context->client().empty(4).value();
  return graph::dense_handle(*this);
}

Tensor tensor_from_bytes(std::span<const std::byte> bytes, const Shape& shape, DType dtype, const Device& device) {
  if (!device) throw Error(ErrorCode::invalid_argument, "tensor: the device is null.");
  for (std::int64_t dim : shape)
    if (dim < 0)
      throw Error(ErrorCode::invalid_argument, fmt::format("tensor: the shape {} has a negative size.", to_string(shape)));
  Context& context = *device.context();
  const DeviceInfo& info = context.info();
  const std::uint64_t expected = static_cast<std::uint64_t>(shape.elements()) * size_bytes(dtype);
  if (bytes.size() != expected)
    throw Error(ErrorCode::shape_mismatch, fmt::format("tensor: {} values were given, and the shape {} has {}.",
                                                       bytes.size() / size_bytes(dtype), to_string(shape), shape.elements()));
  if ((dtype == DType::f16 && !info.f16) || (dtype == DType::f64 && !info.f64))
    throw Error(ErrorCode::unsupported,
                fmt::format("tensor: dtype {} needs {}, and {} does not have it.", to_string(dtype),
                            dtype == DType::f16 ? "the device feature shader-f16" : "the CPU device", info.name));
  if (expected > info.max_binding_bytes)
    throw Error(ErrorCode::unsupported, fmt::format("tensor: {} of {} takes {} bytes, and the device binds at most {}.",
                                                    to_string(shape), to_string(dtype), expected, info.max_binding_bytes));
  const Context::Guard guard(context);
  if (bytes.empty()) return graph::wrap(device, {}, shape, dtype);
  Handle memory = context.client().empty(expected).value();
  memory->scope = context.eager().scope;
  context.client().write(memory, 0, bytes).value();
  return graph::wrap(device, std::move(memory), shape, dtype);
}

}  // namespace hearth
