#include <fmt/format.h>

#include "graph/execute.hpp"
#include "hearth/ops/binary.hpp"
#include "tensor/gradient.hpp"
#include "tensor/op_dtypes.hpp"

/// Ops on tensors in one place: dtypes, broadcasting, and how the families of elementwise ops are lowered and differentiated.
namespace hearth {

using detail::as_tensor;
using detail::ResolvedDType;
using graph::Body;
using graph::Operand;
using graph::Operation;

namespace {

/// argument(i) of an operation, converted to `compute`.
Expr argument(const Operation& operation, int i, DType compute) {
  return cast(Expr::argument(i, compute_dtype(operation.inputs[static_cast<std::size_t>(i)].dtype)), compute);
}
/// The output, as elementwise_gradient numbers it.
Expr output_argument(const Operation& operation, DType compute) {
  return cast(Expr::argument(static_cast<int>(operation.inputs.size()), compute_dtype(operation.dtype)), compute);
}

// ---- unary ----

DType compute_of(const UnaryOp& op, const Operation& operation) {
  return detail::resolve(op.spec.dtypes, operation.inputs[0].dtype, op.name).compute;
}

Body lower_unary(const Operation& operation) {
  const auto& op = *static_cast<const UnaryOp*>(operation.spec);
  Body body;
  body.value = cast(op(argument(operation, 0, compute_of(op, operation))), compute_dtype(operation.dtype));
  return body;
}

std::vector<Tensor> unary_gradient(const Operation& operation, const Tensor& output, const Tensor& gradient,
                                   std::span<const bool>) {
  const auto& op = *static_cast<const UnaryOp*>(operation.spec);
  const DType compute = compute_of(op, operation);
  if (!is_float(operation.dtype) || !is_float(operation.inputs[0].dtype)) return {Tensor()};
  const Expr x = argument(operation, 0, compute);
  const Expr slope = op.spec.grad ? op.spec.grad(x, output_argument(operation, compute)) : derivative(op(x), 0);
  return {detail::elementwise_gradient(slope, operation, output, gradient, 0)};
}

constexpr graph::Definition unary_definition{"unary", lower_unary, unary_gradient};

// ---- binary ----

DType compute_of(const BinaryOp& op, const Operation& operation) {
  return detail::resolve(op.spec.dtypes, promote(operation.inputs[0].dtype, operation.inputs[1].dtype), op.name).compute;
}

Body lower_binary(const Operation& operation) {
  const auto& op = *static_cast<const BinaryOp*>(operation.spec);
  const DType compute = compute_of(op, operation);
  Body body;
  body.value = cast(op(argument(operation, 0, compute), argument(operation, 1, compute)), compute_dtype(operation.dtype));
  return body;
}

std::vector<Tensor> binary_gradient(const Operation& operation, const Tensor& output, const Tensor& gradient,
                                    std::span<const bool> needed) {
  const auto& op = *static_cast<const BinaryOp*>(operation.spec);
  const DType compute = compute_of(op, operation);
  std::vector<Tensor> gradients(2);
  if (!is_float(operation.dtype)) return gradients;
  const Expr a = argument(operation, 0, compute);
  const Expr b = argument(operation, 1, compute);
  for (int i = 0; i < 2; ++i) {
    const auto at = static_cast<std::size_t>(i);
    if (!needed[at] || !is_float(operation.inputs[at].dtype)) continue;
    const auto own = i == 0 ? op.spec.grad_a : op.spec.grad_b;
    const Expr slope = own ? own(a, b, output_argument(operation, compute)) : derivative(op(a, b), i);
    gradients[at] = detail::elementwise_gradient(slope, operation, output, gradient, i);
  }
  return gradients;
}

constexpr graph::Definition binary_definition{"binary", lower_binary, binary_gradient};

Tensor apply_binary(const BinaryOp& op, Operand a, Operand b, const Shape& shape) {
  const ResolvedDType dtype = detail::resolve(op.spec.dtypes, promote(a.dtype, b.dtype), op.name);
  Operation operation;
  operation.definition = &binary_definition;
  operation.label = op.name;
  operation.spec = &op;
  operation.shape = shape;
  operation.dtype = dtype.result;
  operation.inputs.reserve(2);
  operation.inputs.push_back(std::move(a));
  operation.inputs.push_back(std::move(b));
  return graph::execute(std::move(operation));
}

Operand number(const BinaryOp& op, const Tensor& beside, double value) {
  return {value, detail::number_dtype(beside.dtype(), value, op.name)};
}

/// The shape and dtype of a choice between two operands by a condition.
Tensor choose(const Tensor& condition, const Operand& if_true, const Operand& if_false, const Shape& shape) {
  const DType dtype = promote(if_true.dtype, if_false.dtype);
  const DType compute = compute_dtype(dtype);
  const Operand inputs[] = {condition, if_true, if_false};
  const Expr value = select(cast(Expr::argument(0, compute_dtype(condition.dtype())), DType::boolean),
                            cast(Expr::argument(1, compute_dtype(if_true.dtype)), compute),
                            cast(Expr::argument(2, compute_dtype(if_false.dtype)), compute));
  return graph::elementwise("where", value, inputs, shape, dtype);
}

Tensor limit(const Tensor& x, const Operand& low, const Operand& high, const Shape& shape) {
  const DType dtype = promote(x.dtype(), promote(low.dtype, high.dtype));
  const DType compute = compute_dtype(dtype);
  const Operand inputs[] = {x, low, high};
  const Expr value = clamp(cast(Expr::argument(0, compute_dtype(x.dtype())), compute),
                           cast(Expr::argument(1, compute_dtype(low.dtype)), compute),
                           cast(Expr::argument(2, compute_dtype(high.dtype)), compute));
  return graph::elementwise("clamp", value, inputs, shape, dtype);
}

}  // namespace

Tensor apply(const UnaryOp& op, const Tensor& x) {
  Operation operation;
  operation.definition = &unary_definition;
  operation.label = op.name;
  operation.spec = &op;
  operation.shape = x.shape();
  operation.dtype = detail::resolve(op.spec.dtypes, x.dtype(), op.name).result;
  operation.inputs.emplace_back(x);
  return graph::execute(std::move(operation));
}

Tensor apply(const BinaryOp& op, const Tensor& a, const Tensor& b) {
  return apply_binary(op, a, b, a.shape() == b.shape() ? a.shape() : broadcast(a.shape(), b.shape(), op.name));
}
Tensor apply(const BinaryOp& op, const Tensor& a, double b) { return apply_binary(op, a, number(op, a, b), a.shape()); }
Tensor apply(const BinaryOp& op, double a, const Tensor& b) { return apply_binary(op, number(op, b, a), b, b.shape()); }

Tensor where(const Tensor& condition, const Tensor& if_true, const Tensor& if_false) {
  return choose(condition, if_true, if_false,
                broadcast(condition.shape(), broadcast(if_true.shape(), if_false.shape(), "where"), "where"));
}
Tensor where(const Tensor& condition, const Tensor& if_true, double if_false) {
  return choose(condition, if_true, {if_false, detail::number_dtype(if_true.dtype(), if_false, "where")},
                broadcast(condition.shape(), if_true.shape(), "where"));
}
Tensor where(const Tensor& condition, double if_true, const Tensor& if_false) {
  return choose(condition, {if_true, detail::number_dtype(if_false.dtype(), if_true, "where")}, if_false,
                broadcast(condition.shape(), if_false.shape(), "where"));
}

Tensor clamp(const Tensor& x, double low, double high) {
  if (!(low <= high))
    throw Error(ErrorCode::invalid_argument,
                fmt::format("clamp: the lower bound {} is not at most the upper one, {}.", low, high));
  return limit(x, {low, detail::number_dtype(x.dtype(), low, "clamp")}, {high, detail::number_dtype(x.dtype(), high, "clamp")},
               x.shape());
}
Tensor clamp(const Tensor& x, const Tensor& low, const Tensor& high) {
  return limit(x, low, high, broadcast(x.shape(), broadcast(low.shape(), high.shape(), "clamp"), "clamp"));
}

}  // namespace hearth
