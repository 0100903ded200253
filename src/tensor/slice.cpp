#include <algorithm>

#include "hearth/ops/view.hpp"
#include "tensor/structured.hpp"

namespace hearth {
namespace structured {
namespace {

/// Attributes: starts, steps.
Body lower_slice(const Operation& operation) {
  const int rank = operation.shape.rank();
  Coordinates at;
  for (int axis = 0; axis < rank; ++axis)
    at.push_back(integer(attribute(operation, axis)) + Expr::coordinate(axis) * integer(attribute(operation, rank + axis)));
  return {.value = load(operation, 0, at), .view = true};
}
std::vector<Tensor> grad_slice(const Operation& operation, const Tensor&, const Tensor& gradient, std::span<const bool>) {
  const int rank = operation.shape.rank();
  return {place(gradient, input_shape(operation, 0), attributes(operation, 0, rank), attributes(operation, rank, rank))};
}
constexpr Definition slice_definition{.name = "slice", .lower = lower_slice, .gradient = grad_slice};

/// Attributes: offsets, steps. Input 1 is the value elsewhere.
Body lower_place(const Operation& operation) {
  const int rank = operation.shape.rank();
  const Shape from = input_shape(operation, 0);
  const Expr elsewhere = Expr::argument(1, compute_dtype(operation.dtype));
  if (from.elements() == 0) return {.value = elsewhere};
  Coordinates at;
  Expr inside;
  const auto only_if = [&](const Expr& condition) { inside = inside ? inside & condition : condition; };
  for (int axis = 0; axis < rank; ++axis) {
    const std::int64_t step = attribute(operation, rank + axis), stride = step < 0 ? -step : step;
    const std::int64_t last = attribute(operation, axis) + (from[axis] - 1) * step;
    const std::int64_t low = std::min(attribute(operation, axis), last), high = std::max(attribute(operation, axis), last);
    const Expr c = Expr::coordinate(axis);
    Expr held = c;
    if (high < operation.shape[axis] - 1) {
      only_if(c <= integer(high));
      held = min(held, integer(high));
    }
    if (low > 0) {
      only_if(c >= integer(low));
      held = max(held - integer(low), integer(0));
    }
    if (stride > 1 && from[axis] > 1) only_if(held % integer(stride) == integer(0));
    const Expr place = held / integer(stride);
    at.push_back(step < 0 ? integer(from[axis] - 1) - place : place);
  }
  const Expr value = load(operation, 0, at);
  return {.value = inside ? select(inside, value, elsewhere) : value};
}
std::vector<Tensor> grad_place(const Operation& operation, const Tensor&, const Tensor& gradient, std::span<const bool>) {
  const int rank = operation.shape.rank();
  return {strided(gradient, attributes(operation, 0, rank), attributes(operation, rank, rank), input_shape(operation, 0)), {}};
}
constexpr Definition place_definition{.name = "pad", .lower = lower_place, .gradient = grad_place};

}  // namespace

Tensor strided(const Tensor& x, const Shape& starts, const Shape& steps, const Shape& shape) {
  bool changes = shape != x.shape();
  for (int axis = 0; axis < shape.rank(); ++axis)
    changes |= shape[axis] > 0 && (starts[axis] != 0 || (steps[axis] != 1 && shape[axis] > 1));
  return changes ? run(slice_definition, {x}, shape, x.dtype(), join(starts, steps)) : x;
}

Tensor place(const Tensor& x, const Shape& shape, const Shape& offsets, const Shape& steps, double value) {
  bool changes = shape != x.shape();
  for (int axis = 0; axis < shape.rank(); ++axis) changes |= steps[axis] != 1;
  return changes ? run(place_definition, {x, Operand(value, x.dtype())}, shape, x.dtype(), join(offsets, steps)) : x;
}

}  // namespace structured

using namespace structured;

namespace {

/// NumPy's rules for one bound: counted from the end when negative, then cut to where the step can reach.
std::int64_t bound(std::int64_t index, std::int64_t size, std::int64_t step, bool is_start) {
  const std::int64_t lowest = step > 0 ? 0 : -1, highest = step > 0 ? size : size - 1;
  if (index == slice_open) return is_start == (step > 0) ? lowest : highest;
  if (index < 0) index = index < -size ? -1 - size : index + size;
  return std::clamp(index, lowest, std::max(lowest, highest));
}

}  // namespace

Tensor slice(const Tensor& x, const Shape& starts, const Shape& ends, const Shape& steps) {
  require(x, "slice");
  if (starts.rank() != ends.rank() || (!steps.empty() && steps.rank() != starts.rank()))
    fail(ErrorCode::invalid_argument, "slice: starts {}, ends {} and steps {} differ in length.", text(starts), text(ends),
         text(steps));
  if (starts.rank() > x.rank())
    fail(ErrorCode::invalid_argument, "slice: starts {} names {} axes, and the shape {} has {}.", text(starts), starts.rank(),
         text(x.shape()), x.rank());
  Shape shape = x.shape(), from = Shape::filled(x.rank(), 0), by = Shape::filled(x.rank(), 1);
  for (int axis = 0; axis < starts.rank(); ++axis) {
    const std::int64_t step = steps.empty() ? 1 : steps[axis];
    if (step == 0) fail(ErrorCode::invalid_argument, "slice: the step of axis {} is 0.", axis);
    if (step == slice_open) fail(ErrorCode::invalid_argument, "slice: the step of axis {} is slice_open.", axis);
    const std::int64_t start = bound(starts[axis], x.shape()[axis], step, true);
    const std::int64_t end = bound(ends[axis], x.shape()[axis], step, false);
    const std::int64_t distance = step > 0 ? end - start : start - end;
    const std::int64_t stride = step > 0 ? step : -step;
    shape[axis] = distance > 0 ? 1 + (distance - 1) / stride : 0;
    from[axis] = shape[axis] > 0 ? start : 0;
    // A single element has no step: one that exceeds the axis would not fit a 32-bit index.
    by[axis] = shape[axis] > 1 ? step : 1;
  }
  return strided(x, from, by, shape);
}

Tensor narrow(const Tensor& x, int axis, std::int64_t start, std::int64_t length) {
  require(x, "narrow");
  const int a = normalize_axis(axis, x.rank(), "narrow");
  const std::int64_t size = x.shape()[a];
  if (start < 0 || length < 0 || start > size || length > size - start)
    fail(ErrorCode::invalid_argument, "narrow: {} elements from {} on are outside axis {} of {}.", length, start, a,
         text(x.shape()));
  Shape shape = x.shape(), starts = Shape::filled(x.rank(), 0);
  shape[a] = length;
  starts[a] = start;
  return strided(x, starts, Shape::filled(x.rank(), 1), shape);
}

Tensor flip(const Tensor& x, const Axes& axes) {
  require(x, "flip");
  Shape starts = Shape::filled(x.rank(), 0), steps = Shape::filled(x.rank(), 1);
  const auto reverse = [&](int axis) {
    if (x.shape()[axis] < 2) return;
    starts[axis] = x.shape()[axis] - 1;
    steps[axis] = -1;
  };
  for (int axis = 0; axes.empty() && axis < x.rank(); ++axis) reverse(axis);
  for (std::int64_t axis : axes) reverse(normalize_axis(axis, x.rank(), "flip"));
  return strided(x, starts, steps, x.shape());
}

}  // namespace hearth
