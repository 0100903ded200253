#include <algorithm>
#include <cmath>
#include <limits>

#include "hearth/ops/conv.hpp"
#include "hearth/ops/create.hpp"
#include "tensor/image.hpp"

namespace hearth {
namespace {

using namespace structured;
using Gradients = std::vector<Tensor>;

struct Windows {
  ImageLayout layout = ImageLayout::nchw;
  Pair kernel{}, stride{}, padding{};
  bool count_padding = true;
};
std::vector<std::int64_t> pack(const Windows& w) {
  return {w.layout == ImageLayout::nhwc,
          w.kernel[0],
          w.kernel[1],
          w.stride[0],
          w.stride[1],
          w.padding[0],
          w.padding[1],
          w.count_padding};
}
Windows unpack(const Operation& operation) {
  const auto a = [&](int i) { return attribute(operation, i); };
  return {a(0) != 0 ? ImageLayout::nhwc : ImageLayout::nchw, {a(1), a(2)}, {a(3), a(4)}, {a(5), a(6)}, a(7) != 0};
}

struct Place {
  Expr at;      ///< held inside the axis
  Expr inside;  ///< null: always
};
Expr both(const Expr& a, const Expr& b) { return a && b ? a & b : a ? a : b; }

/// The input's pixel at tap `tap` of window `window` along one axis of `size`.
Place pixel(const Windows& w, std::size_t i, const Expr& window, const Expr& tap, std::int64_t windows, std::int64_t size) {
  const Expr place = window * integer(w.stride[i]) + tap - integer(w.padding[i]);
  const bool beyond = (windows - 1) * w.stride[i] + w.kernel[i] - w.padding[i] > size;
  if (w.padding[i] == 0 && !beyond) return {place, {}};
  return {clamped(place, size), (place >= integer(0)) & (place < integer(size))};
}

/// The window that has input pixel `pixel` as its tap `tap`.
Place window(const Windows& w, std::size_t i, const Expr& pixel, const Expr& tap, std::int64_t windows) {
  const Expr distance = pixel + integer(w.padding[i]) - tap;
  const Expr place = distance / integer(w.stride[i]);
  Expr inside = (distance >= integer(0)) & (place < integer(windows));
  if (w.stride[i] > 1) inside = inside & (distance % integer(w.stride[i]) == integer(0));
  return {clamped(place, windows), inside};
}

struct Spot {
  Coordinates at;
  Expr inside;
};
Expr tap(int i) { return Expr::coordinate(4 + i); }

Spot pixel_of_window(const Operation& operation, const Windows& w, const Shape& image) {
  const ImageAxes axes = image_axes(w.layout);
  const Place y = pixel(w, 0, Expr::coordinate(axes.height), tap(0), operation.shape[axes.height], image[axes.height]);
  const Place x = pixel(w, 1, Expr::coordinate(axes.width), tap(1), operation.shape[axes.width], image[axes.width]);
  return {at_pixel(w.layout, y.at, x.at), both(y.inside, x.inside)};
}
Spot window_of_pixel(const Windows& w, const Shape& windows) {
  const ImageAxes axes = image_axes(w.layout);
  const Place y = window(w, 0, Expr::coordinate(axes.height), tap(0), windows[axes.height]);
  const Place x = window(w, 1, Expr::coordinate(axes.width), tap(1), windows[axes.width]);
  return {at_pixel(w.layout, y.at, x.at), both(y.inside, x.inside)};
}

Body reduce_taps(const Windows& w, const Expr& value, Combine combine) {
  Body body;
  body.form = ir::Form::reduce;
  body.value = value;
  body.reduced = {w.kernel[0], w.kernel[1]};
  body.combine = combine;
  body.reads_once = false;
  return body;
}
Expr where(const Expr& inside, const Expr& value, const Expr& elsewhere) {
  return inside ? select(inside, value, elsewhere) : value;
}

Expr lowest(DType dtype) {
  const DType type = compute_dtype(dtype);
  if (is_float(type)) return Expr::constant(-std::numeric_limits<double>::infinity(), type);
  return Expr::constant(type == DType::i32 ? -2147483648.0 : 0.0, type);
}
Expr tap_number(const Windows& w) { return tap(0) * integer(w.kernel[1]) + tap(1); }

// max_pool2d, and for its gradient the number of the first tap that has the maximum.

Body lower_max_pool(const Operation& operation) {
  const Windows w = unpack(operation);
  const Spot spot = pixel_of_window(operation, w, input_shape(operation, 0));
  return reduce_taps(w, where(spot.inside, load(operation, 0, spot.at), lowest(operation.dtype)), Combine::max);
}

/// Inputs: the image, its maxima.
Body lower_first_tap(const Operation& operation) {
  const Windows w = unpack(operation);
  const Spot spot = pixel_of_window(operation, w, input_shape(operation, 0));
  const Expr none = integer(w.kernel[0] * w.kernel[1]);
  const Expr found = both(spot.inside, load(operation, 0, spot.at) == load(operation, 1, output_coordinates(4)));
  return reduce_taps(w, select(found, tap_number(w), none), Combine::min);
}
constexpr Definition first_tap_definition{.name = "max_pool2d_first", .lower = lower_first_tap};

/// Inputs: a value for each window, the window's tap. Each pixel gets the values of the windows that chose it.
Body lower_unpool(const Operation& operation) {
  const Windows w = unpack(operation);
  const Spot spot = window_of_pixel(w, input_shape(operation, 0));
  const Expr chosen = spot.inside & (load(operation, 1, spot.at) == tap_number(w));
  return reduce_taps(w, select(chosen, load(operation, 0, spot.at), zero_of(operation.dtype)), Combine::sum);
}
/// Inputs: an image, each window's tap. The pixel that each window chose.
Body lower_pick(const Operation& operation) {
  const Windows w = unpack(operation);
  const Spot spot = pixel_of_window(operation, w, input_shape(operation, 0));
  const Expr chosen = both(spot.inside, load(operation, 1, output_coordinates(4)) == tap_number(w));
  return reduce_taps(w, select(chosen, load(operation, 0, spot.at), zero_of(operation.dtype)), Combine::sum);
}
Gradients grad_unpool(const Operation& operation, const Tensor&, const Tensor& gradient, std::span<const bool> needed);
Gradients grad_pick(const Operation& operation, const Tensor&, const Tensor& gradient, std::span<const bool> needed);
constexpr Definition unpool_definition{.name = "max_pool2d_gradient", .lower = lower_unpool, .gradient = grad_unpool};
constexpr Definition pick_definition{.name = "max_pool2d_pick", .lower = lower_pick, .gradient = grad_pick};

Gradients grad_unpool(const Operation& operation, const Tensor&, const Tensor& gradient, std::span<const bool> needed) {
  if (!needed[0]) return {{}, {}};
  return {
      run(pick_definition, {gradient, input(operation, 1)}, input_shape(operation, 0), gradient.dtype(), operation.attributes),
      {}};
}
Gradients grad_pick(const Operation& operation, const Tensor&, const Tensor& gradient, std::span<const bool> needed) {
  if (!needed[0]) return {{}, {}};
  return {
      run(unpool_definition, {gradient, input(operation, 1)}, input_shape(operation, 0), gradient.dtype(), operation.attributes),
      {}};
}

Gradients grad_max_pool(const Operation& operation, const Tensor& output, const Tensor& gradient, std::span<const bool>) {
  const Tensor x = input(operation, 0).detach();
  const Tensor first = run(first_tap_definition, {x, output.detach()}, operation.shape, DType::i32, operation.attributes);
  return {run(unpool_definition, {gradient, first}, x.shape(), gradient.dtype(), operation.attributes)};
}
constexpr Definition max_pool_definition{.name = "max_pool2d", .lower = lower_max_pool, .gradient = grad_max_pool};

// avg_pool2d and its transpose.

/// How many pixels a window averages: a constant, or what lies inside along each axis.
Expr share(const Windows& w, const Expr& y, const Expr& x, const Pair& size, DType dtype) {
  if (w.count_padding || (w.padding[0] == 0 && w.padding[1] == 0))
    return Expr::constant(static_cast<double>(w.kernel[0] * w.kernel[1]), dtype);
  const auto count = [&](std::size_t i, const Expr& window) {
    const Expr start = window * integer(w.stride[i]) - integer(w.padding[i]);
    return min(start + integer(w.kernel[i]), integer(size[i])) - max(start, integer(0));
  };
  return cast(count(0, y) * count(1, x), dtype);
}

Body lower_avg_pool(const Operation& operation) {
  const Windows w = unpack(operation);
  const Shape image = input_shape(operation, 0);
  const ImageAxes axes = image_axes(w.layout);
  const Spot spot = pixel_of_window(operation, w, image);
  Body body = reduce_taps(w, where(spot.inside, load(operation, 0, spot.at), zero_of(operation.dtype)), Combine::sum);
  const DType dtype = compute_dtype(operation.dtype);
  body.epilogue = Expr::argument(0, dtype) /
                  share(w, Expr::coordinate(axes.height), Expr::coordinate(axes.width), size_of(image, w.layout), dtype);
  return body;
}
Body lower_avg_unpool(const Operation& operation) {
  const Windows w = unpack(operation);
  const ImageAxes axes = image_axes(w.layout);
  const Spot spot = window_of_pixel(w, input_shape(operation, 0));
  const DType dtype = compute_dtype(operation.dtype);
  const Expr count = share(w, spot.at[static_cast<std::size_t>(axes.height)], spot.at[static_cast<std::size_t>(axes.width)],
                           size_of(operation.shape, w.layout), dtype);
  return reduce_taps(w, select(spot.inside, load(operation, 0, spot.at) / count, zero_of(dtype)), Combine::sum);
}
Gradients grad_avg_pool(const Operation& operation, const Tensor&, const Tensor& gradient, std::span<const bool>);
Gradients grad_avg_unpool(const Operation& operation, const Tensor&, const Tensor& gradient, std::span<const bool>);
constexpr Definition avg_pool_definition{.name = "avg_pool2d", .lower = lower_avg_pool, .gradient = grad_avg_pool};
constexpr Definition avg_unpool_definition{.name = "avg_pool2d_gradient", .lower = lower_avg_unpool, .gradient = grad_avg_unpool};
Gradients grad_avg_pool(const Operation& operation, const Tensor&, const Tensor& gradient, std::span<const bool>) {
  return {run(avg_unpool_definition, {gradient}, input_shape(operation, 0), gradient.dtype(), operation.attributes)};
}
Gradients grad_avg_unpool(const Operation& operation, const Tensor&, const Tensor& gradient, std::span<const bool>) {
  return {run(avg_pool_definition, {gradient}, input_shape(operation, 0), gradient.dtype(), operation.attributes)};
}

Tensor pool(const Definition& definition, const Tensor& x, const Pool2dOptions& options) {
  const char* name = definition.name;
  require_image(x, name);
  Windows w{options.layout, options.kernel, options.stride, options.padding, options.count_padding};
  require_least(w.kernel, 1, name, "the kernel");
  require_least(w.stride, 0, name, "the stride");
  require_least(w.padding, 0, name, "the padding");
  const Pair from = size_of(x.shape(), w.layout);
  Pair size;
  for (std::size_t i = 0; i < 2; ++i) {
    if (w.stride[i] == 0) w.stride[i] = w.kernel[i];
    if (w.padding[i] > w.kernel[i] / 2)
      fail(ErrorCode::invalid_argument, "{}: the padding {} is more than half the kernel {}.", name, text(w.padding),
           text(w.kernel));
    if (w.kernel[i] > from[i] + 2 * w.padding[i])
      fail(ErrorCode::shape_mismatch, "{}: the kernel {} does not fit the image {} with padding {}.", name, text(w.kernel),
           text(from), text(w.padding));
    size[i] = (from[i] + 2 * w.padding[i] - w.kernel[i]) / w.stride[i] + 1;
  }
  return run(definition, {x}, with_size(x.shape(), w.layout, size), x.dtype(), pack(w));
}

}  // namespace

Tensor max_pool2d(const Tensor& x, const Pool2dOptions& options) {
  require_image(x, "max_pool2d");
  if (x.dtype() == DType::boolean) fail(ErrorCode::dtype_mismatch, "max_pool2d: the input is bool; it must be a number.");
  return pool(max_pool_definition, x, options);
}
Tensor avg_pool2d(const Tensor& x, const Pool2dOptions& options) {
  require_image(x, "avg_pool2d");
  require_float(x, "avg_pool2d");
  return pool(avg_pool_definition, x, options);
}

}  // namespace hearth
