#include "hearth/ops/conv.hpp"

#include <algorithm>

#include "hearth/ops/create.hpp"
#include "hearth/ops/view.hpp"
#include "tensor/image.hpp"

namespace hearth {
namespace {

using namespace structured;

/// A convolution between given shapes. Padding is at the low ends; what lies beyond the high ends is read as zeros, as far as the
/// output's size asks.
struct Geometry {
  bool nhwc = false;
  Pair stride{1, 1}, padding{0, 0}, dilation{1, 1};
  std::int64_t groups = 1;

  [[nodiscard]] ImageLayout layout() const { return nhwc ? ImageLayout::nhwc : ImageLayout::nchw; }
};

std::vector<std::int64_t> pack(const Geometry& g) {
  return {g.nhwc, g.stride[0], g.stride[1], g.padding[0], g.padding[1], g.dilation[0], g.dilation[1], g.groups};
}
Geometry unpack(const Operation& operation) {
  const auto a = [&](int i) { return attribute(operation, i); };
  return {a(0) != 0, {a(1), a(2)}, {a(3), a(4)}, {a(5), a(6)}, a(7)};
}

/// Axes of a weight: nchw [o, c / groups, kh, kw], nhwc [kh, kw, c / groups, o].
struct WeightAxes {
  int out, in, height, width;
};
constexpr WeightAxes weight_axes(bool nhwc) { return nhwc ? WeightAxes{3, 2, 0, 1} : WeightAxes{0, 1, 2, 3}; }
Pair kernel_size(const Shape& weight, bool nhwc) {
  const WeightAxes axes = weight_axes(nhwc);
  return {weight[axes.height], weight[axes.width]};
}

// The three operations of the trilinear form sum of g[y] x[y s - p + k d] w[k]: each is the gradient of the others.
Tensor forward(const Tensor& x, const Tensor& weight, const Geometry& geometry, const Pair& size);
Tensor input_gradient(const Tensor& g, const Tensor& weight, const Geometry& geometry, const Shape& input);
Tensor weight_gradient(const Tensor& x, const Tensor& g, const Geometry& geometry, const Shape& weight);

Body lower_conv2d(const Operation& operation) {
  const Geometry g = unpack(operation);
  const Shape x = input_shape(operation, 0), w = input_shape(operation, 1);
  const ImageAxes image = image_axes(g.layout());
  const Pair kernel = kernel_size(w, g.nhwc);
  Body body;
  body.form = ir::Form::conv2d;
  body.conv2d = {.nhwc = g.nhwc,
                 .n = x[0],
                 .h = x[image.height],
                 .w = x[image.width],
                 .in_channels = x[image.channel],
                 .out_channels = operation.shape[image.channel],
                 .kh = kernel[0],
                 .kw = kernel[1],
                 .oh = operation.shape[image.height],
                 .ow = operation.shape[image.width],
                 .groups = g.groups,
                 .stride = g.stride,
                 .padding = g.padding,
                 .dilation = g.dilation};
  body.reads_once = false;
  return body;
}
std::vector<Tensor> grad_conv2d(const Operation& operation, const Tensor&, const Tensor& gradient, std::span<const bool> needed) {
  const Geometry geometry = unpack(operation);
  const Tensor x = input(operation, 0), weight = input(operation, 1);
  std::vector<Tensor> gradients(2);
  if (needed[0]) gradients[0] = input_gradient(gradient, weight, geometry, x.shape());
  if (needed[1]) gradients[1] = weight_gradient(x, gradient, geometry, weight.shape());
  return gradients;
}
constexpr Definition conv2d_definition{.name = "conv2d", .lower = lower_conv2d, .gradient = grad_conv2d};

/// dw[k, ci, co] = sum over n, y, x of g[n, y, x, co] * in[n, y s - p + k d, ..., ci of co's group].
Body lower_weight_gradient(const Operation& operation) {
  const Geometry geometry = unpack(operation);
  const Shape x = input_shape(operation, 0), g = input_shape(operation, 1);
  const ImageAxes image = image_axes(geometry.layout());
  const WeightAxes weight = weight_axes(geometry.nhwc);
  const Expr n = Expr::coordinate(4), y = Expr::coordinate(5), column = Expr::coordinate(6);
  const Expr out = Expr::coordinate(weight.out), in = Expr::coordinate(weight.in);
  const auto source = [&](int which, const Expr& place, int weight_axis) {
    const auto i = static_cast<std::size_t>(which);
    return place * integer(geometry.stride[i]) + Expr::coordinate(weight_axis) * integer(geometry.dilation[i]) -
           integer(geometry.padding[i]);
  };
  const Expr sy = source(0, y, weight.height), sx = source(1, column, weight.width);
  const std::int64_t in_group = operation.shape[weight.in], out_group = operation.shape[weight.out] / geometry.groups;
  const Expr channel = geometry.groups == 1 ? in : out / integer(out_group) * integer(in_group) + in;
  const auto at = [&](const Expr& c, const Expr& row, const Expr& col) {
    return geometry.nhwc ? Coordinates{n, row, col, c} : Coordinates{n, c, row, col};
  };
  const std::int64_t h = x[image.height], w = x[image.width];
  const Expr inside = (sy >= integer(0)) & (sy < integer(h)) & (sx >= integer(0)) & (sx < integer(w));
  const Expr value = load(operation, 0, at(channel, clamped(sy, h), clamped(sx, w))) * load(operation, 1, at(out, y, column));
  Body body;
  body.form = ir::Form::reduce;
  body.value = select(inside, value, zero_of(operation.dtype));
  body.reduced = {g[0], g[image.height], g[image.width]};
  body.combine = Combine::sum;
  body.reads_once = false;
  return body;
}
std::vector<Tensor> grad_weight_gradient(const Operation& operation, const Tensor&, const Tensor& gradient,
                                         std::span<const bool> needed) {
  const Geometry geometry = unpack(operation);
  const Tensor x = input(operation, 0), g = input(operation, 1);
  std::vector<Tensor> gradients(2);
  if (needed[0]) gradients[0] = input_gradient(g, gradient, geometry, x.shape());
  if (needed[1]) gradients[1] = forward(x, gradient, geometry, size_of(g.shape(), geometry.layout()));
  return gradients;
}
constexpr Definition weight_gradient_definition{
    .name = "conv2d_weight_gradient", .lower = lower_weight_gradient, .gradient = grad_weight_gradient};

Tensor forward(const Tensor& x, const Tensor& weight, const Geometry& geometry, const Pair& size) {
  Shape shape = with_size(x.shape(), geometry.layout(), size);
  shape[image_axes(geometry.layout()).channel] = weight.shape()[weight_axes(geometry.nhwc).out];
  if (x.elements() == 0 && weight.elements() == 0) return empty_sum(shape, x, weight);
  return run(conv2d_definition, {x, weight}, shape, x.dtype(), pack(geometry));
}

Tensor weight_gradient(const Tensor& x, const Tensor& g, const Geometry& geometry, const Shape& weight) {
  if (x.elements() == 0 || g.elements() == 0) return zeros(weight, x.dtype(), x.device());
  return run(weight_gradient_definition, {x, g}, weight, x.dtype(), pack(geometry));
}

/// The weight with taps reversed, and in and out channels swapped within each group.
Tensor swapped(const Tensor& weight, const Geometry& geometry) {
  const Shape s = weight.shape();
  const WeightAxes axes = weight_axes(geometry.nhwc);
  const std::int64_t groups = geometry.groups, out = s[axes.out] / groups, in = s[axes.in];
  const Tensor reversed = flip(weight, {axes.height, axes.width});
  if (geometry.nhwc)
    return reshape(permute(reshape(reversed, {s[0], s[1], in, groups, out}), {0, 1, 4, 3, 2}), {s[0], s[1], out, groups * in});
  return reshape(permute(reshape(reversed, {groups, out, in, s[2], s[3]}), {0, 2, 1, 3, 4}), {groups * in, out, s[2], s[3]});
}

/// A convolution with stride 1 of g, spread out by the stride, with the swapped weight.
Tensor input_gradient(const Tensor& g, const Tensor& weight, const Geometry& geometry, const Shape& input) {
  if (g.elements() == 0 || weight.elements() == 0) return zeros(input, g.dtype(), g.device());
  const ImageLayout layout = geometry.layout();
  const ImageAxes image = image_axes(layout);
  Geometry back{.nhwc = geometry.nhwc, .dilation = geometry.dilation, .groups = geometry.groups};
  const Pair kernel = kernel_size(weight.shape(), geometry.nhwc);
  Shape spread = g.shape(), starts = Shape::filled(4, 0), cut = g.shape(), steps = Shape::filled(4, 1);
  for (std::size_t i = 0; i < 2; ++i) {
    const int axis = i == 0 ? image.height : image.width;
    steps[axis] = geometry.stride[i];
    spread[axis] = (g.shape()[axis] - 1) * geometry.stride[i] + 1;
    back.padding[i] = geometry.dilation[i] * (kernel[i] - 1) - geometry.padding[i];
    // More padding than the kernel reaches: the first rows of g meet nothing but padding.
    starts[axis] = std::min(std::max<std::int64_t>(0, -back.padding[i]), spread[axis]);
    cut[axis] = spread[axis] - starts[axis];
    if (cut[axis] == 0) return zeros(input, g.dtype(), g.device());
    back.padding[i] = std::max<std::int64_t>(0, back.padding[i]);
  }
  const Tensor spread_out = strided(place(g, spread, Shape::filled(4, 0), steps), starts, Shape::filled(4, 1), cut);
  return forward(spread_out, swapped(weight, geometry), back, size_of(input, layout));
}

void check_options(const Pair& stride, const Pair& padding, const Pair& dilation, std::int64_t groups, const char* operation) {
  require_least(stride, 1, operation, "the stride");
  require_least(padding, 0, operation, "the padding");
  require_least(dilation, 1, operation, "the dilation");
  if (groups < 1) fail(ErrorCode::invalid_argument, "{}: groups is {}; it must be at least 1.", operation, groups);
}

void check_operands(const Tensor& input, const Tensor& weight, const char* operation) {
  require_image(input, operation);
  require(weight, operation);
  require_float(input, operation);
  if (weight.rank() != 4)
    fail(ErrorCode::shape_mismatch, "{}: the weight has shape {}; it must have four axes.", operation, text(weight.shape()));
  if (!is_float(weight.dtype()))
    fail(ErrorCode::dtype_mismatch, "{}: the weight is {}; it must be a float.", operation, text(weight.dtype()));
}

}  // namespace

Tensor conv2d(const Tensor& input, const Tensor& weight, const Conv2dOptions& options) {
  check_operands(input, weight, "conv2d");
  check_options(options.stride, options.padding, options.dilation, options.groups, "conv2d");
  const bool nhwc = options.layout == ImageLayout::nhwc;
  const WeightAxes axes = weight_axes(nhwc);
  const std::int64_t channels = input.shape()[image_axes(options.layout).channel];
  const Pair kernel = kernel_size(weight.shape(), nhwc), from = size_of(input.shape(), options.layout);
  if (channels != weight.shape()[axes.in] * options.groups || weight.shape()[axes.out] % options.groups != 0)
    fail(ErrorCode::shape_mismatch, "conv2d: channels differ: the input is {}, the weight is {}, groups is {}, the layout {}.",
         text(input.shape()), text(weight.shape()), options.groups, nhwc ? "nhwc" : "nchw");
  Pair size;
  for (std::size_t i = 0; i < 2; ++i) {
    const std::int64_t reach = options.dilation[i] * (kernel[i] - 1) + 1, room = from[i] + 2 * options.padding[i];
    if (kernel[i] < 1 || reach > room)
      fail(ErrorCode::shape_mismatch, "conv2d: the kernel {} with dilation {} does not fit the image {} with padding {}.",
           text(kernel), text(options.dilation), text(from), text(options.padding));
    size[i] = (room - reach) / options.stride[i] + 1;
  }
  const DType dtype = promote(input.dtype(), weight.dtype());
  return forward(converted(input, dtype), converted(weight, dtype),
                 {nhwc, options.stride, options.padding, options.dilation, options.groups}, size);
}

Tensor conv_transpose2d(const Tensor& input, const Tensor& weight, const ConvTranspose2dOptions& options) {
  check_operands(input, weight, "conv_transpose2d");
  check_options(options.stride, options.padding, options.dilation, options.groups, "conv_transpose2d");
  require_least(options.output_padding, 0, "conv_transpose2d", "the output padding");
  const bool nhwc = options.layout == ImageLayout::nhwc;
  const WeightAxes axes = weight_axes(nhwc);
  const std::int64_t channels = input.shape()[image_axes(options.layout).channel];
  if (channels != weight.shape()[axes.out] || channels % options.groups != 0)
    fail(ErrorCode::shape_mismatch,
         "conv_transpose2d: channels differ: the input is {}, the weight is {}, groups is {}, the layout {}.",
         text(input.shape()), text(weight.shape()), options.groups, nhwc ? "nhwc" : "nchw");
  const Pair kernel = kernel_size(weight.shape(), nhwc), from = size_of(input.shape(), options.layout);
  require_least(kernel, 1, "conv_transpose2d", "the kernel");
  require_least(from, 1, "conv_transpose2d", "the image");
  Pair size;
  for (std::size_t i = 0; i < 2; ++i) {
    if (options.output_padding[i] >= std::max(options.stride[i], options.dilation[i]))
      fail(ErrorCode::invalid_argument,
           "conv_transpose2d: the output padding {} must be smaller than the stride {} or the dilation {}.",
           text(options.output_padding), text(options.stride), text(options.dilation));
    size[i] = (from[i] - 1) * options.stride[i] - 2 * options.padding[i] + options.dilation[i] * (kernel[i] - 1) + 1 +
              options.output_padding[i];
  }
  require_least(size, 0, "conv_transpose2d", "the size of the result");
  Shape shape = with_size(input.shape(), options.layout, size);
  shape[image_axes(options.layout).channel] = weight.shape()[axes.in] * options.groups;
  check_shape(shape, "conv_transpose2d");
  const DType dtype = promote(input.dtype(), weight.dtype());
  return input_gradient(converted(input, dtype), converted(weight, dtype),
                        {nhwc, options.stride, options.padding, options.dilation, options.groups}, shape);
}

}  // namespace hearth
