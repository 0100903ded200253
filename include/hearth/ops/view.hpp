#pragma once
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <span>
#include <vector>

#include "hearth/shape.hpp"
#include "hearth/tensor.hpp"

/// The same elements in another shape or order, and joins. Where strides can say it no data moves.
/// Axes may be negative: they count from the end. All throw Error(invalid_argument) for an axis that is not there.
namespace hearth {

/// The same elements, row-major, in another shape; one size may be -1: what is left.
/// Throws Error(shape_mismatch) when the counts differ. Costs a copy when the strides of a view cannot say it.
[[nodiscard]] Tensor reshape(const Tensor& x, const Shape& shape);
/// Axis i of the result is axis axes[i] of `x`.
[[nodiscard]] Tensor permute(const Tensor& x, const Axes& axes);
/// The last two axes swapped.
[[nodiscard]] Tensor transpose(const Tensor& x);
[[nodiscard]] Tensor transpose(const Tensor& x, int axis, int other);

/// As a start or end of `slice`: all the way in the direction of the step, what NumPy writes as nothing.
inline constexpr std::int64_t slice_open = std::numeric_limits<std::int64_t>::min();

/// Elements starts, starts + steps, ... before ends, by NumPy's rules: negative indices count from the end, what is out of range
/// is cut. Shorter lists apply to the leading axes; no steps: 1 each. With a negative step the end -1 is the last element, as in
/// NumPy; «down to the first element» is written as the end slice_open:
///   slice(x, {2}, {6});  slice(x, {slice_open}, {slice_open}, {-1});  // x reversed
/// Throws Error(invalid_argument) for a step of 0 and for lists of different lengths.
[[nodiscard]] Tensor slice(const Tensor& x, const Shape& starts, const Shape& ends, const Shape& steps = {});
/// `length` elements from `start` on along one axis. Throws Error(invalid_argument) when they are not all there.
[[nodiscard]] Tensor narrow(const Tensor& x, int axis, std::int64_t start, std::int64_t length);
/// Reversed along `axes`; along all when there are none.
[[nodiscard]] Tensor flip(const Tensor& x, const Axes& axes = {});
/// Axes of size 1 and missing leading axes repeated. Throws Error(shape_mismatch) when the shapes do not fit.
[[nodiscard]] Tensor broadcast_to(const Tensor& x, const Shape& shape);
/// A new axis of size 1 at place `axis` of the result.
[[nodiscard]] Tensor expand_dims(const Tensor& x, int axis);
/// Without `axes`, which must have size 1; without every such axis when none are named.
[[nodiscard]] Tensor squeeze(const Tensor& x, const Axes& axes = {});
/// Entry (i, i + offset) of the last two axes: [..., rows, columns] -> [..., length].
[[nodiscard]] Tensor diagonal(const Tensor& x, std::int64_t offset = 0);
/// The last two axes with zeros above (tril) or below (triu) diagonal `offset`.
[[nodiscard]] Tensor tril(const Tensor& x, std::int64_t offset = 0);
[[nodiscard]] Tensor triu(const Tensor& x, std::int64_t offset = 0);

/// Joined along an existing axis; dtypes are promoted. Throws Error(shape_mismatch) when other axes differ.
[[nodiscard]] Tensor concatenate(std::span<const Tensor> tensors, int axis = 0);
[[nodiscard]] inline Tensor concatenate(std::initializer_list<Tensor> tensors, int axis = 0) {
  return concatenate(std::span(tensors.begin(), tensors.size()), axis);
}
/// Joined along a new axis. Throws Error(shape_mismatch) unless all shapes are equal.
[[nodiscard]] Tensor stack(std::span<const Tensor> tensors, int axis = 0);
[[nodiscard]] inline Tensor stack(std::initializer_list<Tensor> tensors, int axis = 0) {
  return stack(std::span(tensors.begin(), tensors.size()), axis);
}
/// Cut along an axis into pieces of the given sizes. Throws Error(shape_mismatch) unless they add up.
[[nodiscard]] std::vector<Tensor> split(const Tensor& x, std::span<const std::int64_t> sizes, int axis = 0);
[[nodiscard]] inline std::vector<Tensor> split(const Tensor& x, std::initializer_list<std::int64_t> sizes, int axis = 0) {
  return split(x, std::span(sizes.begin(), sizes.size()), axis);
}

enum class PadMode : unsigned char {
  constant,  ///< PadOptions::value
  edge,      ///< the outermost element
  reflect,   ///< mirrored, the outermost element not repeated
};
struct PadOptions {
  PadMode mode = PadMode::constant;
  double value = 0;
};
/// `before` and `after` elements more at the ends of each axis.
/// Throws Error(invalid_argument) for negative counts, counts for other than all axes, an edge of nothing, or a reflection longer
/// than the axis less one.
[[nodiscard]] Tensor pad(const Tensor& x, const Shape& before, const Shape& after, const PadOptions& options = {});

}  // namespace hearth
