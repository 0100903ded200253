#include "graph/execute.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "graph/context.hpp"
#include "ir/expr.hpp"

namespace hearth::graph {

Operand::Operand(const Tensor& t) : node(t.node()), tape(t.tape()), dtype(t.node() ? t.node()->dtype : DType::f32) {}

static void check(const Operation& operation, const Context& context) {
  const DeviceInfo& info = context.info();
  if (operation.dtype == DType::f16 && !info.f16)
    throw Error(ErrorCode::unsupported, fmt::format("{}: dtype f16 needs the device feature shader-f16, which {} does not have.",
                                                    operation.name(), info.name));
  if (operation.dtype == DType::f64 && !info.f64)
    throw Error(ErrorCode::unsupported,
                fmt::format("{}: dtype f64 exists on the CPU device only, and this is {}.", operation.name(), info.name));
  // Element indices are i32 in kernels.
  std::int64_t elements = 1;
  for (std::int64_t dim : operation.shape) {
    if (dim != 0 && elements > std::numeric_limits<std::int32_t>::max() / dim)
      throw Error(ErrorCode::unsupported,
                  fmt::format("{}: the result {} has more than 2147483647 elements, the limit of a tensor.", operation.name(),
                              to_string(operation.shape)));
    elements *= dim;
  }
}

Tensor execute(Operation operation, const Device& device) {
  Context* context = device ? device.context().get() : nullptr;
  for (const Operand& input : operation.inputs) {
    if (input.is_number()) continue;
    Context* own = input.node->context.get();
    if (!context) context = own;
    if (own != context)
      throw Error(ErrorCode::wrong_device,
                  fmt::format("{}: the tensors are on different devices ({} and {}); move one with to(device).", operation.name(),
                              context->info().name, own->info().name));
  }
  if (!context)
    throw Error(ErrorCode::invalid_argument, fmt::format("{}: needs a device or a tensor that is not null.", operation.name()));
  const Ref<Context> keep(context);
  check(operation, *context);
  const Context::Guard guard(*context);
  return context->executor().execute(std::move(operation));
}

static Body lower_expression(const Operation& operation) { return {.value = *static_cast<const Expr*>(operation.extra.get())}; }

static std::vector<Tensor> gradient_of_expression(const Operation& operation, const Tensor& output, const Tensor& gradient,
                                                  std::span<const bool> needed) {
  const Expr& body = *static_cast<const Expr*>(operation.extra.get());
  const std::size_t count = operation.inputs.size();
  std::vector<Operand> operands = operation.inputs;
  operands.emplace_back(gradient);
  const Expr incoming = Expr::argument(static_cast<int>(count), compute_dtype(gradient.dtype()));
  std::vector<Tensor> parts(count);
  for (std::size_t i = 0; i < count; ++i) {
    if (!needed[i]) continue;
    const Expr slope = derivative(body, static_cast<int>(i));
    const ir::Node& node = *slope.node();
    if (node.op == ir::Op::literal && node.value == 0) continue;
    const Operand& input = operation.inputs[i];
    const Expr part = node.op == ir::Op::literal && node.value == 1 ? incoming : incoming * slope;
    parts[i] = sum_to(elementwise("gradient", part, operands, output.shape(), input.dtype), input.node->shape);
  }
  return parts;
}

static constexpr Definition expression_definition{
    .name = "elementwise", .lower = lower_expression, .gradient = gradient_of_expression};

Tensor elementwise(const char* name, const Expr& value, std::span<const Operand> inputs, const Shape& shape, DType dtype,
                   const Device& device) {
  // Operands that the expression does not read would be bound and kept alive for nothing.
  std::vector<int> renamed(inputs.size(), -1);
  Operation operation;
  int used = 0;
  const Expr compact = ir::rewrite(value, [&](const ir::Node& node, std::span<const Expr>) -> Expr {
    if (node.op != ir::Op::argument) return {};
    int& index = renamed[static_cast<std::size_t>(node.index)];
    if (index < 0) {
      index = used++;
      operation.inputs.push_back(inputs[static_cast<std::size_t>(node.index)]);
    }
    return index == node.index ? Expr{} : Expr::argument(index, node.dtype);
  });
  operation.definition = &expression_definition;
  operation.label = name;
  operation.shape = shape;
  operation.dtype = dtype;
  operation.extra = std::make_shared<Expr>(compact);
  operation.extra_hash = ir::hash(compact);
  Device on = device;
  if (!on)
    for (const Operand& input : inputs)
      if (input.node) on = Device(input.node->context);
  return execute(std::move(operation), on);
}

static Body lower_sum_to(const Operation& operation) {
  const Node& x = *operation.inputs[0].node;
  Body body;
  body.form = ir::Form::reduce;
  body.combine = Combine::sum;
  const int missing = x.shape.rank() - operation.shape.rank();
  std::vector<Expr> coordinates;
  for (int axis = 0; axis < x.shape.rank(); ++axis) {
    const int out = axis - missing;
    if (out >= 0 && (operation.shape[out] == x.shape[axis])) {
      coordinates.push_back(Expr::coordinate(out));
      continue;
    }
    coordinates.push_back(Expr::coordinate(operation.shape.rank() + body.reduced.rank()));
    body.reduced.push_back(x.shape[axis]);
  }
  body.value = Expr::load(0, compute_dtype(x.dtype), coordinates);
  return body;
}

static std::vector<Tensor> gradient_of_sum_to(const Operation& operation, const Tensor&, const Tensor& gradient,
                                              std::span<const bool>) {
  const Node& x = *operation.inputs[0].node;
  const Operand operands[] = {gradient};
  return {elementwise("broadcast", Expr::argument(0, compute_dtype(gradient.dtype())), operands, x.shape, x.dtype)};
}

static constexpr Definition sum_to_definition{.name = "sum_to", .lower = lower_sum_to, .gradient = gradient_of_sum_to};

Tensor sum_to(const Tensor& x, const Shape& shape) {
  if (x.shape() == shape) return x;
  Operation operation;
  operation.definition = &sum_to_definition;
  operation.inputs = {Operand(x)};
  operation.shape = shape;
  operation.dtype = x.dtype();
  return execute(std::move(operation));
}

Handle dense_handle(const Tensor& tensor) {
  Node& node = *tensor.node();
  Context& context = *node.context;
  const Context::Guard guard(context);
  context.executor().materialise(node);
  context.eager().make_dense(node);
  return node.memory;
}

Tensor wrap(const Device& device, Handle memory, const Shape& shape, DType dtype) {
  auto node = make_ref<Node>(device.context(), shape, dtype);
  node->strides = row_major_strides(shape);
  node->memory = std::move(memory);
  node->sequence = device.context()->next_sequence();
  return {std::move(node), {}};
}

}  // namespace hearth::graph
