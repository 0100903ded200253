#include "tensor/reduce_axes.hpp"

#include <fmt/format.h>

#include "tensor/gradient.hpp"

namespace hearth::detail {

ReduceAxes::ReduceAxes(const Shape& shape, const Axes& list, bool keep_dims, const char* operation)
    : shape_(shape), keep_dims_(keep_dims) {
  if (list.empty()) mask_ = (1u << shape.rank()) - 1u;
  for (std::int64_t given : list) {
    const int axis = normalize_axis(given, shape.rank(), operation);
    if (reduces(axis))
      throw Error(ErrorCode::invalid_argument,
                  fmt::format("{}: axis {} is named twice in {}.", operation, axis, to_string(list)));
    mask_ |= 1u << axis;
  }
}

ReduceAxes ReduceAxes::of(const graph::Operation& operation) {
  ReduceAxes axes;
  axes.shape_ = as_tensor(operation.inputs[0]).shape();
  axes.mask_ = static_cast<std::uint32_t>(operation.attributes[0]);
  axes.keep_dims_ = operation.attributes[1] != 0;
  return axes;
}

std::vector<std::int64_t> ReduceAxes::attributes() const { return {mask_, keep_dims_ ? 1 : 0}; }

Shape ReduceAxes::output_shape() const {
  if (keep_dims_) return kept_shape();
  Shape shape;
  for (int axis = 0; axis < shape_.rank(); ++axis)
    if (!reduces(axis)) shape.push_back(shape_[axis]);
  return shape;
}

Shape ReduceAxes::kept_shape() const {
  Shape shape = shape_;
  for (int axis = 0; axis < shape.rank(); ++axis)
    if (reduces(axis)) shape[axis] = 1;
  return shape;
}

Shape ReduceAxes::reduced_sizes() const {
  Shape sizes;
  for (int axis = 0; axis < shape_.rank(); ++axis)
    if (reduces(axis)) sizes.push_back(shape_[axis]);
  return sizes;
}

Axes ReduceAxes::list() const {
  Axes axes;
  for (int axis = 0; axis < shape_.rank(); ++axis)
    if (reduces(axis)) axes.push_back(axis);
  return axes;
}

std::array<Expr, max_rank> ReduceAxes::coordinates(int output_rank) const {
  std::array<Expr, max_rank> result;
  int output = 0;
  int reduced = output_rank;
  for (int axis = 0; axis < shape_.rank(); ++axis) {
    result[static_cast<std::size_t>(axis)] = Expr::coordinate(reduces(axis) ? reduced++ : output);
    if (!reduces(axis) || keep_dims_) ++output;
  }
  return result;
}

}  // namespace hearth::detail
