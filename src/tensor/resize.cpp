#include <algorithm>

#include "hearth/ops/conv.hpp"
#include "hearth/ops/view.hpp"
#include "tensor/image.hpp"

namespace hearth {
namespace {

using namespace structured;
using Gradients = std::vector<Tensor>;

// Attributes of all: 1 for nhwc, height and width of the small side (the input of the forward op), of the large side.
ImageLayout layout_of(const Operation& operation) { return attribute(operation, 0) != 0 ? ImageLayout::nhwc : ImageLayout::nchw; }
/// Sizes along one axis: of what is read by the forward op, and of its result.
struct Axis {
  std::int64_t in, out;
};
Axis axis_of(const Operation& operation, int i) { return {attribute(operation, 1 + i), attribute(operation, 3 + i)}; }

/// The pixel that nearest reads for `c`.
Expr nearest(const Expr& c, const Axis& a) {
  if (a.in == a.out) return c;
  if (a.out % a.in == 0) return c / integer(a.out / a.in);
  if (a.in % a.out == 0) return c * integer(a.in / a.out);
  return c * integer(a.in) / integer(a.out);
}

Body lower_nearest(const Operation& operation) {
  const ImageLayout layout = layout_of(operation);
  const ImageAxes axes = image_axes(layout);
  const Expr y = nearest(Expr::coordinate(axes.height), axis_of(operation, 0));
  const Expr x = nearest(Expr::coordinate(axes.width), axis_of(operation, 1));
  return {.value = load(operation, 0, at_pixel(layout, y, x)), .reads_once = false};
}

/// Sum over what reads pixel c: out coordinates from ceil(c out / in) on.
Body lower_nearest_gradient(const Operation& operation) {
  const ImageLayout layout = layout_of(operation);
  const ImageAxes axes = image_axes(layout);
  Expr inside, at[2];
  Body body;
  for (int i = 0; i < 2; ++i) {
    const Axis a = axis_of(operation, i);
    const Expr c = Expr::coordinate(i == 0 ? axes.height : axes.width);
    const Expr first = a.out % a.in == 0 ? c * integer(a.out / a.in) : (c * integer(a.out) + integer(a.in - 1)) / integer(a.in);
    const Expr place = first + Expr::coordinate(4 + i);
    body.reduced.push_back((a.out + a.in - 1) / a.in);
    if (a.out % a.in == 0) {
      at[i] = place;
      continue;
    }
    at[i] = clamped(place, a.out);
    const Expr reads = (place < integer(a.out)) & (nearest(at[i], a) == c);
    inside = inside ? inside & reads : reads;
  }
  const Expr value = load(operation, 0, at_pixel(layout, at[0], at[1]));
  body.form = ir::Form::reduce;
  body.value = inside ? select(inside, value, zero_of(operation.dtype)) : value;
  body.combine = Combine::sum;
  body.reads_once = false;
  return body;
}

/// The two pixels around a place between pixel centres, src = (c + 1/2) in / out - 1/2, in whole numbers: exact everywhere.
struct Between {
  Expr low, high, weight;  ///< weight of `high`
};
Between between(const Expr& c, const Axis& a, DType dtype) {
  const Expr twice = max((c * integer(2) + integer(1)) * integer(a.in) - integer(a.out), integer(0));
  const Expr low = min(twice / integer(2 * a.out), integer(a.in - 1));
  const Expr weight = cast(twice % integer(2 * a.out), dtype) / Expr::constant(static_cast<double>(2 * a.out), dtype);
  return {low, min(low + integer(1), integer(a.in - 1)), weight};
}

Body lower_bilinear(const Operation& operation) {
  const ImageLayout layout = layout_of(operation);
  const ImageAxes axes = image_axes(layout);
  const DType dtype = compute_dtype(operation.dtype);
  const Between y = between(Expr::coordinate(axes.height), axis_of(operation, 0), dtype);
  const Between x = between(Expr::coordinate(axes.width), axis_of(operation, 1), dtype);
  const auto row = [&](const Expr& at) {
    const Expr left = load(operation, 0, at_pixel(layout, at, x.low)), right = load(operation, 0, at_pixel(layout, at, x.high));
    return left + (right - left) * x.weight;
  };
  const Expr top = row(y.low), bottom = row(y.high);
  return {.value = top + (bottom - top) * y.weight, .reads_once = false};
}

/// Sum over the results that read pixel c, each by its weight: those whose place lies within one pixel.
Body lower_bilinear_gradient(const Operation& operation) {
  const ImageLayout layout = layout_of(operation);
  const ImageAxes axes = image_axes(layout);
  const DType dtype = compute_dtype(operation.dtype);
  const Expr one = Expr::constant(1, dtype), zero = Expr::constant(0, dtype);
  Expr at[2], weight[2];
  Body body;
  for (int i = 0; i < 2; ++i) {
    const Axis a = axis_of(operation, i);
    const Expr c = Expr::coordinate(i == 0 ? axes.height : axes.width);
    // (d + 1/2) in / out - 1/2 > c - 1, rounded down and kept off negative numbers, whose division truncates upward.
    const Expr first = max((c * integer(2) - integer(1)) * integer(a.out) - integer(a.in), integer(0)) / integer(2 * a.in);
    const Expr place = first + Expr::coordinate(4 + i);
    body.reduced.push_back(std::min(a.out, 2 * a.out / a.in + 3));
    at[i] = clamped(place, a.out);
    const Between b = between(at[i], a, dtype);
    const Expr share = select(b.low == c, one - b.weight, zero) + select(b.high == c, b.weight, zero);
    weight[i] = select(place < integer(a.out), share, zero);
  }
  body.form = ir::Form::reduce;
  body.value = load(operation, 0, at_pixel(layout, at[0], at[1])) * (weight[0] * weight[1]);
  body.combine = Combine::sum;
  body.reads_once = false;
  return body;
}

Gradients grad_nearest(const Operation& operation, const Tensor&, const Tensor& gradient, std::span<const bool>);
Gradients grad_nearest_gradient(const Operation& operation, const Tensor&, const Tensor& gradient, std::span<const bool>);
Gradients grad_bilinear(const Operation& operation, const Tensor&, const Tensor& gradient, std::span<const bool>);
Gradients grad_bilinear_gradient(const Operation& operation, const Tensor&, const Tensor& gradient, std::span<const bool>);
constexpr Definition nearest_definition{.name = "upsample_nearest", .lower = lower_nearest, .gradient = grad_nearest};
constexpr Definition nearest_gradient_definition{
    .name = "upsample_nearest_gradient", .lower = lower_nearest_gradient, .gradient = grad_nearest_gradient};
constexpr Definition bilinear_definition{.name = "upsample_bilinear", .lower = lower_bilinear, .gradient = grad_bilinear};
constexpr Definition bilinear_gradient_definition{
    .name = "upsample_bilinear_gradient", .lower = lower_bilinear_gradient, .gradient = grad_bilinear_gradient};

/// The transpose of `operation`, applied to `gradient`: all four are linear.
Gradients transposed(const Definition& definition, const Operation& operation, const Tensor& gradient) {
  return {run(definition, {gradient}, input_shape(operation, 0), gradient.dtype(), operation.attributes)};
}
Gradients grad_nearest(const Operation& operation, const Tensor&, const Tensor& gradient, std::span<const bool>) {
  return transposed(nearest_gradient_definition, operation, gradient);
}
Gradients grad_nearest_gradient(const Operation& operation, const Tensor&, const Tensor& gradient, std::span<const bool>) {
  return transposed(nearest_definition, operation, gradient);
}
Gradients grad_bilinear(const Operation& operation, const Tensor&, const Tensor& gradient, std::span<const bool>) {
  return transposed(bilinear_gradient_definition, operation, gradient);
}
Gradients grad_bilinear_gradient(const Operation& operation, const Tensor&, const Tensor& gradient, std::span<const bool>) {
  return transposed(bilinear_definition, operation, gradient);
}

Tensor upsample(const Definition& definition, const Tensor& x, const UpsampleOptions& options) {
  const char* name = definition.name;
  require_image(x, name);
  require_least(options.size, 0, name, "the size");
  const Pair from = size_of(x.shape(), options.layout);
  require_least(from, 1, name, "the image");
  Pair size = options.size;
  for (std::size_t i = 0; i < 2; ++i) {
    if (size[i] == 0) {
      require_least(options.scale, 1, name, "the scale");
      size[i] = from[i] * options.scale[i];
    }
    // Places are computed in 32-bit whole numbers.
    if (2 * (size[i] + 1) > 2147483647 / (2 * from[i] + 2))
      fail(ErrorCode::unsupported, "{}: an axis from {} to {} pixels is longer than places in 32 bits reach.", name, from[i],
           size[i]);
  }
  return run(definition, {x}, with_size(x.shape(), options.layout, size), x.dtype(),
             {options.layout == ImageLayout::nhwc, from[0], from[1], size[0], size[1]});
}

}  // namespace

Tensor upsample_nearest(const Tensor& x, const UpsampleOptions& options) { return upsample(nearest_definition, x, options); }
Tensor upsample_bilinear(const Tensor& x, const UpsampleOptions& options) {
  require_image(x, "upsample_bilinear");
  require_float(x, "upsample_bilinear");
  return upsample(bilinear_definition, x, options);
}

Tensor depth_to_space(const Tensor& x, std::int64_t block, const DepthOptions& options) {
  require_image(x, "depth_to_space");
  if (block < 1) fail(ErrorCode::invalid_argument, "depth_to_space: the block is {}; it must be at least 1.", block);
  const bool nhwc = options.layout == ImageLayout::nhwc, first = options.order == DepthOrder::depth_column_row;
  const ImageAxes axes = image_axes(options.layout);
  const std::int64_t n = x.shape()[0], all = x.shape()[axes.channel], h = x.shape()[axes.height], w = x.shape()[axes.width];
  if (all % (block * block) != 0)
    fail(ErrorCode::shape_mismatch, "depth_to_space: {} channels cannot be divided into blocks of {} x {}.", all, block, block);
  const std::int64_t c = all / (block * block);
  if (nhwc) {
    const Tensor blocks = first ? permute(reshape(x, {n, h, w, block, block, c}), {0, 1, 3, 2, 4, 5})
                                : permute(reshape(x, {n, h, w, c, block, block}), {0, 1, 4, 2, 5, 3});
    return reshape(blocks, {n, h * block, w * block, c});
  }
  const Tensor blocks = first ? permute(reshape(x, {n, block, block, c, h, w}), {0, 3, 4, 1, 5, 2})
                              : permute(reshape(x, {n, c, block, block, h, w}), {0, 1, 4, 2, 5, 3});
  return reshape(blocks, {n, c, h * block, w * block});
}

Tensor space_to_depth(const Tensor& x, std::int64_t block, const DepthOptions& options) {
  require_image(x, "space_to_depth");
  if (block < 1) fail(ErrorCode::invalid_argument, "space_to_depth: the block is {}; it must be at least 1.", block);
  const bool nhwc = options.layout == ImageLayout::nhwc, first = options.order == DepthOrder::depth_column_row;
  const ImageAxes axes = image_axes(options.layout);
  const std::int64_t n = x.shape()[0], c = x.shape()[axes.channel];
  if (x.shape()[axes.height] % block != 0 || x.shape()[axes.width] % block != 0)
    fail(ErrorCode::shape_mismatch, "space_to_depth: the image {} cannot be divided into blocks of {} x {}.",
         text(size_of(x.shape(), options.layout)), block, block);
  const std::int64_t h = x.shape()[axes.height] / block, w = x.shape()[axes.width] / block, all = c * block * block;
  if (nhwc) {
    const Tensor blocks = reshape(x, {n, h, block, w, block, c});
    return reshape(permute(blocks, first ? Axes{0, 1, 3, 2, 4, 5} : Axes{0, 1, 3, 5, 2, 4}), {n, h, w, all});
  }
  const Tensor blocks = reshape(x, {n, c, h, block, w, block});
  return reshape(permute(blocks, first ? Axes{0, 3, 5, 1, 2, 4} : Axes{0, 1, 3, 5, 2, 4}), {n, all, h, w});
}

}  // namespace hearth
