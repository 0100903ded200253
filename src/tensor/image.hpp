#pragma once
#include <string>

#include "hearth/ops/conv.hpp"
#include "tensor/structured.hpp"

/// What convolution, pooling and resizing share.
namespace hearth::structured {

/// Places of the axes of an image tensor.
struct ImageAxes {
  int channel, height, width;
};
[[nodiscard]] constexpr ImageAxes image_axes(ImageLayout layout) noexcept {
  return layout == ImageLayout::nhwc ? ImageAxes{3, 1, 2} : ImageAxes{1, 2, 3};
}
[[nodiscard]] inline std::string text(const Pair& pair) { return fmt::format("[{}, {}]", pair[0], pair[1]); }

/// Throws unless `x` has four axes.
inline void require_image(const Tensor& x, const char* operation) {
  require(x, operation);
  if (x.rank() != 4)
    fail(ErrorCode::shape_mismatch, "{}: the input has shape {}; an image tensor has four axes.", operation, text(x.shape()));
}
inline void require_float(const Tensor& x, const char* operation) {
  if (!is_float(x.dtype()))
    fail(ErrorCode::dtype_mismatch, "{}: the input is {}; it must be a float.", operation, text(x.dtype()));
}
/// Throws unless both numbers are at least `least`.
inline void require_least(const Pair& pair, std::int64_t least, const char* operation, const char* what) {
  if (pair[0] < least || pair[1] < least)
    fail(ErrorCode::invalid_argument, "{}: {} is {}; it must be at least {}.", operation, what, text(pair), least);
}
/// `shape` with another height and width.
[[nodiscard]] inline Shape with_size(Shape shape, ImageLayout layout, const Pair& size) {
  const ImageAxes axes = image_axes(layout);
  shape[axes.height] = size[0];
  shape[axes.width] = size[1];
  return shape;
}
/// Height and width.
[[nodiscard]] inline Pair size_of(const Shape& shape, ImageLayout layout) {
  const ImageAxes axes = image_axes(layout);
  return {shape[axes.height], shape[axes.width]};
}
/// The output's own coordinates with another height and width.
[[nodiscard]] inline Coordinates at_pixel(ImageLayout layout, const Expr& y, const Expr& x) {
  const ImageAxes axes = image_axes(layout);
  Coordinates at = output_coordinates(4);
  at[static_cast<std::size_t>(axes.height)] = y;
  at[static_cast<std::size_t>(axes.width)] = x;
  return at;
}

}  // namespace hearth::structured
