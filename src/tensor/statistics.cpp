#include <fmt/format.h>

#include <algorithm>

#include "graph/execute.hpp"
#include "hearth/ops/binary.hpp"
#include "hearth/ops/nn.hpp"
#include "hearth/ops/reduce.hpp"
#include "hearth/ops/view.hpp"
#include "tensor/reduce_axes.hpp"

/// What is made of reductions: extreme positions, variance, softmax and its kin.
namespace hearth {

using detail::ReduceAxes;
using graph::Body;
using graph::Operation;

namespace {

/// The lowest position whose element is the extreme one, or NaN; input 1 holds the extremes with the reduced axes kept.
Body lower_position(const Operation& operation) {
  const ReduceAxes axes = ReduceAxes::of(operation);
  const DType dtype = compute_dtype(operation.inputs[0].dtype);
  const int output_rank = operation.shape.rank();
  const auto coordinates = axes.coordinates(output_rank);
  auto extreme_coordinates = coordinates;
  const Shape reduced = axes.reduced_sizes();
  Expr position = 0;
  for (int j = 0; j < reduced.rank(); ++j) position = position * static_cast<int>(reduced[j]) + Expr::coordinate(output_rank + j);
  for (int axis = 0; axis < static_cast<int>(axes.rank()); ++axis)
    if (axes.reduces(axis)) extreme_coordinates[static_cast<std::size_t>(axis)] = Expr::constant(0, DType::i32);

  const Expr x = Expr::load(0, dtype, std::span(coordinates).first(axes.rank()));
  const Expr extreme = Expr::load(1, dtype, std::span(extreme_coordinates).first(axes.rank()));
  const Expr found = is_float(dtype) ? (x == extreme) | is_nan(x) : x == extreme;
  Body body;
  body.form = ir::Form::reduce;
  body.combine = Combine::min;
  body.reduced = reduced;
  body.value = select(found, position, Expr::constant(2147483647, DType::i32));
  return body;
}

constexpr graph::Definition position_definition{"argmax", lower_position, nullptr};

Tensor position(const char* name, const ReduceOp& extreme, const Tensor& given, const Axes& list, ReduceOptions options) {
  const Tensor x = given.detach();
  const ReduceAxes axes(x.shape(), list, options.keep_dims, name);
  const Shape shape = axes.output_shape();
  if (axes.count() == 0 && shape.elements() > 0)
    throw Error(ErrorCode::invalid_argument,
                fmt::format("{}: the reduced axes of shape {} have no elements.", name, to_string(x.shape())));
  if (axes.count() > 2147483647)
    throw Error(ErrorCode::unsupported, fmt::format("{}: {} elements are more than an i32 can count.", name, axes.count()));
  if (axes.empty() || axes.count() == 0)
    return graph::elementwise(name, Expr::constant(0, DType::i32), {}, shape, DType::i32, x.device());
  Operation operation;
  operation.definition = &position_definition;
  operation.label = name;
  operation.shape = shape;
  operation.dtype = DType::i32;
  operation.attributes = axes.attributes();
  operation.inputs.reserve(2);
  operation.inputs.emplace_back(x);
  operation.inputs.emplace_back(apply(extreme, x, axes.list(), {.keep_dims = true}));
  return graph::execute(std::move(operation));
}

Axes one_axis(const Tensor& x, std::int64_t axis, const char* name) { return {normalize_axis(axis, x.rank(), name)}; }

/// Subtracted before an exponential. Has no gradient: the result does not depend on it.
Tensor largest_of(const Tensor& x, const Axes& axes) { return max(x.detach(), axes, {.keep_dims = true}); }
/// An infinite shift would make NaN of the elements that are like it.
Tensor finite(const Tensor& shift) { return where(is_inf(shift), 0, shift); }

Tensor as_float(const Tensor& x) { return is_float(x.dtype()) ? x : x.astype(DType::f32); }

}  // namespace

Tensor argmax(const Tensor& x, std::int64_t axis, ReduceOptions options) {
  return position("argmax", ops::max, x, one_axis(x, axis, "argmax"), options);
}
Tensor argmax(const Tensor& x) { return position("argmax", ops::max, x, {}, {}); }
Tensor argmin(const Tensor& x, std::int64_t axis, ReduceOptions options) {
  return position("argmin", ops::min, x, one_axis(x, axis, "argmin"), options);
}
Tensor argmin(const Tensor& x) { return position("argmin", ops::min, x, {}, {}); }

Tensor var(const Tensor& given, const Axes& list, VarianceOptions options) {
  const Tensor x = as_float(given);
  const ReduceAxes axes(x.shape(), list, options.keep_dims, "var");
  const Tensor distance = x - mean(x, list, {.keep_dims = true});
  const double divisor = std::max(static_cast<double>(axes.count()) - options.correction, 0.0);
  // A mean first: the sum of squares may not fit f16.
  const double scale = static_cast<double>(axes.count()) / divisor;
  return mean(square(distance), list, {.keep_dims = options.keep_dims}) * scale;
}
Tensor stddev(const Tensor& x, const Axes& axes, VarianceOptions options) { return sqrt(var(x, axes, options)); }

Tensor softmax(const Tensor& given, std::int64_t axis, SoftmaxOptions options) {
  const Tensor x = as_float(given);
  const Axes axes = one_axis(x, axis, "softmax");
  if (x.elements() == 0) return x;
  const Tensor largest = largest_of(x, axes);
  const Tensor e = exp(x - (options.masked_rows_are_zero ? finite(largest) : largest));
  const Tensor total = sum(e, axes, {.keep_dims = true});
  return e / (options.masked_rows_are_zero ? where(equal(total, 0), 1, total) : total);
}

Tensor log_softmax(const Tensor& given, std::int64_t axis) {
  const Tensor x = as_float(given);
  const Axes axes = one_axis(x, axis, "log_softmax");
  if (x.elements() == 0) return x;
  const Tensor shifted = x - largest_of(x, axes);
  return shifted - log(sum(exp(shifted), axes, {.keep_dims = true}));
}

Tensor logsumexp(const Tensor& given, const Axes& axes, ReduceOptions options) {
  const Tensor x = as_float(given);
  if (x.elements() == 0) return log(sum(x, axes, options));
  const Tensor shift = finite(largest_of(x, axes));
  const Tensor y = log(sum(exp(x - shift), axes, {.keep_dims = true})) + shift;
  return reshape(y, ReduceAxes(x.shape(), axes, options.keep_dims, "logsumexp").output_shape());
}

}  // namespace hearth
