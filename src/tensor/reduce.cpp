#include <fmt/format.h>

#include <limits>

#include "graph/autodiff.hpp"
#include "graph/execute.hpp"
#include "hearth/ops/binary.hpp"
#include "hearth/ops/reduce.hpp"
#include "hearth/ops/view.hpp"
#include "tensor/gradient.hpp"
#include "tensor/op_dtypes.hpp"
#include "tensor/reduce_axes.hpp"

/// Reductions: dtypes, axes, lowering and gradients of the blocks in ops/reduce.hpp.
namespace hearth {

using detail::ReduceAxes;
using graph::Body;
using graph::Operation;

namespace {

Expr before(const ReduceOp& op, const Expr& x) { return op.spec.before ? op.spec.before(x) : x; }
Expr after(const ReduceOp& op, const Expr& total, std::int64_t count, DType result) {
  const Expr y = op.spec.after ? op.spec.after(total, Expr::constant(static_cast<double>(count), total.dtype())) : total;
  return cast(y, compute_dtype(result));
}

}  // namespace

double detail::identity(Combine combine, DType dtype) {
  const double inf = std::numeric_limits<double>::infinity();
  const bool low = combine == Combine::max;
  switch (combine) {
    case Combine::sum: return 0;
    case Combine::prod: return 1;
    default: break;
  }
  if (is_float(dtype)) return low ? -inf : inf;
  if (dtype == DType::i32) return low ? -2147483648.0 : 2147483647.0;
  if (dtype == DType::u32) return low ? 0 : 4294967295.0;
  return low ? 0 : 1;
}

namespace {

Body lower_reduce(const Operation& operation) {
  const auto& op = *static_cast<const ReduceOp*>(operation.spec);
  const DType input = operation.inputs[0].dtype;
  const detail::ResolvedDType dtype = detail::resolve(op, input);
  const ReduceAxes axes = ReduceAxes::of(operation);
  Body body;
  body.form = ir::Form::reduce;
  body.combine = op.spec.combine;
  body.reduced = axes.reduced_sizes();
  const auto coordinates = axes.coordinates(operation.shape.rank());
  body.value = before(op, cast(Expr::load(0, compute_dtype(input), std::span(coordinates).first(axes.rank())), dtype.compute));
  const DType accumulator = body.value.dtype();
  if (op.spec.after || accumulator != compute_dtype(dtype.result))
    body.epilogue = after(op, Expr::argument(0, accumulator), axes.count(), dtype.result);
  return body;
}

/// The gradient of max and min: shared by the elements that are the result.
Tensor shared_gradient(const Tensor& x, const Tensor& y, const Tensor& gradient, const ReduceAxes& axes) {
  const Tensor chosen = equal(x, y).astype(x.dtype());
  return gradient * chosen / sum(chosen, axes.list(), {.keep_dims = true});
}

/// The gradient of a product: the product of all the others. Where there are zeros, the quotient by the element does not exist.
Tensor product_gradient(const Tensor& x, const Tensor& y, const Tensor& gradient, const ReduceAxes& axes) {
  const Tensor zero = equal(x, 0);
  const Tensor zeros = sum(zero.astype(x.dtype()), axes.list(), {.keep_dims = true});
  const Tensor others = prod(where(zero, 1, x), axes.list(), {.keep_dims = true});
  return gradient * where(zero, where(equal(zeros, 1), others, 0), where(zero, 1, y / where(zero, 1, x)));
}

std::vector<Tensor> reduce_gradient(const Operation& operation, const Tensor& output, const Tensor& gradient,
                                    std::span<const bool>) {
  const auto& op = *static_cast<const ReduceOp*>(operation.spec);
  const Tensor x = detail::as_tensor(operation.inputs[0]);
  if (!is_float(operation.dtype) || !is_float(x.dtype())) return {Tensor()};
  const ReduceAxes axes = ReduceAxes::of(operation);
  const Shape kept = axes.kept_shape();
  const Tensor y = reshape(output, kept);
  const Tensor g = reshape(gradient, kept);
  if (!op.spec.grad) {
    if (op.spec.combine == Combine::prod) return {product_gradient(x, y, g, axes)};
    if (op.spec.combine == Combine::sum)
      throw Error(ErrorCode::unsupported, fmt::format("{}: the reduction has no gradient.", op.name));
    return {shared_gradient(x, y, g, axes)};
  }
  const DType compute = compute_dtype(x.dtype());
  const Expr slope = op.spec.grad(Expr::argument(0, compute), Expr::argument(1, compute),
                                  Expr::constant(static_cast<double>(axes.count()), compute));
  // As an elementwise operation of x and y, so that only what the slope uses is an input.
  Operation broadcast;
  broadcast.inputs.emplace_back(x);
  broadcast.shape = x.shape();
  broadcast.dtype = x.dtype();
  return {detail::elementwise_gradient(slope, broadcast, y, g, 0)};
}

constexpr graph::Definition reduce_definition{"reduce", lower_reduce, reduce_gradient};

Operation operation_of(const ReduceOp& op, const Tensor& x, const ReduceAxes& axes, DType result) {
  Operation operation;
  operation.definition = &reduce_definition;
  operation.label = op.name;
  operation.spec = &op;
  operation.shape = axes.output_shape();
  operation.dtype = result;
  operation.attributes = axes.attributes();
  operation.inputs.emplace_back(x);
  return operation;
}

}  // namespace

Tensor apply(const ReduceOp& op, const Tensor& x, const Axes& list, ReduceOptions options) {
  const ReduceAxes axes(x.shape(), list, options.keep_dims, op.name);
  const detail::ResolvedDType dtype = detail::resolve(op, x.dtype());
  const Shape shape = axes.output_shape();
  if (axes.count() == 0) {
    if ((op.spec.combine == Combine::max || op.spec.combine == Combine::min) && !op.spec.before && shape.elements() > 0)
      throw Error(ErrorCode::invalid_argument,
                  fmt::format("{}: the reduced axes of shape {} have no elements.", op.name, to_string(x.shape())));
    const DType accumulator = before(op, Expr::argument(0, dtype.compute)).dtype();
    const Expr value = after(op, Expr::constant(detail::identity(op.spec.combine, accumulator), accumulator), 0, dtype.result);
    const Tensor constant = graph::elementwise(op.name, value, {}, shape, dtype.result, x.device());
    const bool differentiable = x.requires_grad() && is_float(dtype.result);
    return differentiable ? graph::record(operation_of(op, x, axes, dtype.result), constant) : constant;
  }
  if (axes.empty()) {
    const graph::Operand inputs[] = {x};
    const Expr value = before(op, cast(Expr::argument(0, compute_dtype(x.dtype())), dtype.compute));
    return graph::elementwise(op.name, after(op, value, 1, dtype.result), inputs, shape, dtype.result);
  }
  return graph::execute(operation_of(op, x, axes, dtype.result));
}

}  // namespace hearth
