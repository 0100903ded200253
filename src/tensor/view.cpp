#include "hearth/ops/view.hpp"

#include <algorithm>

#include "tensor/structured.hpp"

namespace hearth {
namespace {

using namespace structured;
using graph::sum_to;
using Gradients = std::vector<Tensor>;

/// Shapes are cut into groups of axes with equal products, so that equal axes keep their own coordinate and strides survive:
/// [n, 4, 6] -> [n, 24] touches the last axes only.
Body lower_reshape(const Operation& operation) {
  const Shape from = input_shape(operation, 0);
  const Shape& to = operation.shape;
  Coordinates at(static_cast<std::size_t>(from.rank()), integer(0));
  if (from.elements() == 0) return {.value = load(operation, 0, at), .view = true};
  int i = 0, o = 0;
  while (i < from.rank() || o < to.rank()) {
    const int first_i = i, first_o = o;
    std::int64_t product_i = i < from.rank() ? from[i++] : 1;
    std::int64_t product_o = o < to.rank() ? to[o++] : 1;
    while (product_i != product_o) {
      if (product_i < product_o)
        product_i *= from[i++];
      else
        product_o *= to[o++];
    }
    Expr flat = integer(0);
    for (int axis = first_o; axis < o; ++axis)
      if (to[axis] != 1) flat = flat * integer(to[axis]) + Expr::coordinate(axis);
    std::int64_t stride = product_i;
    for (int axis = first_i; axis < i; ++axis) {
      if (from[axis] == 1) continue;
      const bool first = stride == product_i;
      stride /= from[axis];
      const Expr quotient = flat / integer(stride);
      at[static_cast<std::size_t>(axis)] = first ? quotient : quotient % integer(from[axis]);
    }
  }
  return {.value = load(operation, 0, at), .view = true};
}
Gradients grad_reshape(const Operation& operation, const Tensor&, const Tensor& gradient, std::span<const bool>) {
  return {reshape(gradient, input_shape(operation, 0))};
}
constexpr Definition reshape_definition{.name = "reshape", .lower = lower_reshape, .gradient = grad_reshape};

Body lower_permute(const Operation& operation) {
  Coordinates at(operation.attributes.size());
  for (std::size_t i = 0; i < at.size(); ++i)
    at[static_cast<std::size_t>(operation.attributes[i])] = Expr::coordinate(static_cast<int>(i));
  return {.value = load(operation, 0, at), .view = true};
}
Gradients grad_permute(const Operation& operation, const Tensor&, const Tensor& gradient, std::span<const bool>) {
  Axes inverse = Axes::filled(operation.shape.rank(), 0);
  for (int i = 0; i < inverse.rank(); ++i) inverse[static_cast<int>(attribute(operation, i))] = i;
  return {permute(gradient, inverse)};
}
constexpr Definition permute_definition{.name = "permute", .lower = lower_permute, .gradient = grad_permute};

Body lower_broadcast(const Operation& operation) {
  return {.value = Expr::argument(0, compute_dtype(operation.dtype)), .view = true};
}
Gradients grad_broadcast(const Operation& operation, const Tensor&, const Tensor& gradient, std::span<const bool>) {
  return {sum_to(gradient, input_shape(operation, 0))};
}
constexpr Definition broadcast_definition{.name = "broadcast_to", .lower = lower_broadcast, .gradient = grad_broadcast};

/// Attributes: the offset.
Body lower_diagonal(const Operation& operation) {
  const int rank = operation.shape.rank();
  Coordinates at = output_coordinates(rank);
  const std::int64_t offset = attribute(operation, 0);
  const Expr i = at.back();
  at.back() = i + integer(std::max<std::int64_t>(-offset, 0));
  at.push_back(i + integer(std::max<std::int64_t>(offset, 0)));
  return {.value = load(operation, 0, at), .view = true};
}
Gradients grad_diagonal(const Operation&, const Tensor&, const Tensor& gradient, std::span<const bool>);
constexpr Definition diagonal_definition{.name = "diagonal", .lower = lower_diagonal, .gradient = grad_diagonal};

/// The transpose of diagonal: [..., length] -> [..., rows, columns].
Body lower_place_diagonal(const Operation& operation) {
  const int rank = operation.shape.rank();
  const std::int64_t offset = attribute(operation, 0);
  const std::int64_t length = input_shape(operation, 0).back();
  Coordinates at = output_coordinates(rank - 1);
  const Expr row = at.back(), column = Expr::coordinate(rank - 1);
  at.back() = clamped(row - integer(std::max<std::int64_t>(-offset, 0)), length);
  return {.value = select(column - row == integer(offset), load(operation, 0, at), zero_of(operation.dtype))};
}
Gradients grad_place_diagonal(const Operation& operation, const Tensor&, const Tensor& gradient, std::span<const bool>) {
  return {diagonal(gradient, attribute(operation, 0))};
}
constexpr Definition place_diagonal_definition{
    .name = "place_diagonal", .lower = lower_place_diagonal, .gradient = grad_place_diagonal};

Gradients grad_diagonal(const Operation& operation, const Tensor&, const Tensor& gradient, std::span<const bool>) {
  const Shape shape = input_shape(operation, 0);
  if (gradient.elements() == 0) return {};
  return {run(place_diagonal_definition, {gradient}, shape, gradient.dtype(), operation.attributes)};
}

/// Attributes: offset, 1 for the upper triangle.
Body lower_triangle(const Operation& operation) {
  const int rank = operation.shape.rank();
  const Expr distance = Expr::coordinate(rank - 1) - Expr::coordinate(rank - 2);
  const Expr offset = integer(attribute(operation, 0));
  const Expr keep = attribute(operation, 1) != 0 ? distance >= offset : distance <= offset;
  return {.value = select(keep, Expr::argument(0, compute_dtype(operation.dtype)), zero_of(operation.dtype))};
}
Gradients grad_triangle(const Operation& operation, const Tensor&, const Tensor& gradient, std::span<const bool>) {
  return {attribute(operation, 1) != 0 ? triu(gradient, attribute(operation, 0)) : tril(gradient, attribute(operation, 0))};
}
constexpr Definition tril_definition{.name = "tril", .lower = lower_triangle, .gradient = grad_triangle};
constexpr Definition triu_definition{.name = "triu", .lower = lower_triangle, .gradient = grad_triangle};

std::int64_t diagonal_offset(const Tensor& x, std::int64_t offset, const char* operation) {
  require(x, operation);
  if (x.rank() < 2) fail(ErrorCode::shape_mismatch, "{}: the shape {} has fewer than two axes.", operation, text(x.shape()));
  return std::clamp(offset, -x.shape()[x.rank() - 2] - 1, x.shape().back() + 1);
}

}  // namespace

Tensor reshape(const Tensor& x, const Shape& shape) {
  require(x, "reshape");
  Shape full = shape;
  int unknown = -1;
  std::int64_t known = 1;
  for (int axis = 0; axis < shape.rank(); ++axis) {
    if (shape[axis] != -1) {
      known *= shape[axis];
      continue;
    }
    if (unknown >= 0) fail(ErrorCode::invalid_argument, "reshape: more than one size of {} is -1.", text(shape));
    unknown = axis;
  }
  if (unknown >= 0) {
    if (known == 0 || x.elements() % known != 0)
      fail(ErrorCode::shape_mismatch, "reshape: {} has {} elements, which no size in place of -1 in {} gives.", text(x.shape()),
           x.elements(), text(shape));
    full[unknown] = x.elements() / known;
  }
  check_shape(full, "reshape");
  if (full.elements() != x.elements())
    fail(ErrorCode::shape_mismatch, "reshape: {} has {} elements, and {} has {}.", text(x.shape()), x.elements(), text(full),
         full.elements());
  if (full == x.shape()) return x;
  return run(reshape_definition, {x}, full, x.dtype());
}

Tensor permute(const Tensor& x, const Axes& axes) {
  require(x, "permute");
  check_count(axes, x.rank(), "permute", "the list of axes");
  Shape shape;
  std::vector<std::int64_t> order;
  bool moves = false;
  for (int i = 0; i < axes.rank(); ++i) {
    const int axis = normalize_axis(axes[i], x.rank(), "permute");
    if (std::find(order.begin(), order.end(), axis) != order.end())
      fail(ErrorCode::invalid_argument, "permute: axis {} appears twice in {}.", axis, text(axes));
    moves |= axis != i;
    order.push_back(axis);
    shape.push_back(x.shape()[axis]);
  }
  return moves ? run(permute_definition, {x}, shape, x.dtype(), std::move(order)) : x;
}

Tensor transpose(const Tensor& x, int axis, int other) {
  require(x, "transpose");
  Axes axes;
  for (int i = 0; i < x.rank(); ++i) axes.push_back(i);
  std::swap(axes[normalize_axis(axis, x.rank(), "transpose")], axes[normalize_axis(other, x.rank(), "transpose")]);
  return permute(x, axes);
}
Tensor transpose(const Tensor& x) {
  require(x, "transpose");
  if (x.rank() < 2) fail(ErrorCode::shape_mismatch, "transpose: the shape {} has fewer than two axes.", text(x.shape()));
  return transpose(x, -1, -2);
}

Tensor broadcast_to(const Tensor& x, const Shape& shape) {
  require(x, "broadcast_to");
  check_shape(shape, "broadcast_to");
  const int missing = shape.rank() - x.rank();
  bool fits = missing >= 0;
  for (int i = 0; fits && i < x.rank(); ++i) fits = x.shape()[i] == 1 || x.shape()[i] == shape[i + missing];
  if (!fits) fail(ErrorCode::shape_mismatch, "broadcast_to: {} does not broadcast to {}.", text(x.shape()), text(shape));
  return x.shape() == shape ? x : run(broadcast_definition, {x}, shape, x.dtype());
}

Tensor expand_dims(const Tensor& x, int axis) {
  require(x, "expand_dims");
  const int place = normalize_axis(axis, x.rank() + 1, "expand_dims");
  Shape shape;
  for (int i = 0; i <= x.rank(); ++i) {
    if (i == place) shape.push_back(1);
    if (i < x.rank()) shape.push_back(x.shape()[i]);
  }
  return reshape(x, shape);
}

Tensor squeeze(const Tensor& x, const Axes& axes) {
  require(x, "squeeze");
  bool drop[max_rank] = {};
  for (int i = 0; i < x.rank(); ++i) drop[i] = axes.empty() && x.shape()[i] == 1;
  for (std::int64_t named : axes) {
    const int axis = normalize_axis(named, x.rank(), "squeeze");
    if (x.shape()[axis] != 1)
      fail(ErrorCode::shape_mismatch, "squeeze: axis {} of {} has size {}, not 1.", axis, text(x.shape()), x.shape()[axis]);
    drop[axis] = true;
  }
  Shape shape;
  for (int i = 0; i < x.rank(); ++i)
    if (!drop[i]) shape.push_back(x.shape()[i]);
  return reshape(x, shape);
}

Tensor diagonal(const Tensor& x, std::int64_t offset) {
  const std::int64_t shift = diagonal_offset(x, offset, "diagonal");
  const std::int64_t rows = x.shape()[x.rank() - 2], columns = x.shape().back();
  Shape shape;
  for (int i = 0; i < x.rank() - 2; ++i) shape.push_back(x.shape()[i]);
  shape.push_back(std::max<std::int64_t>(0, shift >= 0 ? std::min(rows, columns - shift) : std::min(rows + shift, columns)));
  return run(diagonal_definition, {x}, shape, x.dtype(), {shift});
}
Tensor tril(const Tensor& x, std::int64_t offset) {
  const std::int64_t shift = diagonal_offset(x, offset, "tril");
  return run(tril_definition, {x}, x.shape(), x.dtype(), {shift, 0});
}
Tensor triu(const Tensor& x, std::int64_t offset) {
  const std::int64_t shift = diagonal_offset(x, offset, "triu");
  return run(triu_definition, {x}, x.shape(), x.dtype(), {shift, 1});
}

}  // namespace hearth
