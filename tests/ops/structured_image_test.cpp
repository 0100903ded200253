#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "structured_test.hpp"

using namespace hearth;
using namespace structured_test;
using Index = std::vector<std::int64_t>;
using Tensors = std::vector<Tensor>;

/// Images are written down as nchw; for nhwc the axes are moved.
static Array to_layout(const Array& nchw, ImageLayout layout) {
  if (layout == ImageLayout::nchw) return nchw;
  return make({nchw.shape[0], nchw.shape[2], nchw.shape[3], nchw.shape[1]}, [&](const Index& i) {
    return nchw.at({i[0], i[3], i[1], i[2]});
  });
}
/// Weights as [o, c, kh, kw]; for nhwc [kh, kw, c, o].
static Array weight_to_layout(const Array& w, ImageLayout layout) {
  if (layout == ImageLayout::nchw) return w;
  return make({w.shape[2], w.shape[3], w.shape[1], w.shape[0]}, [&](const Index& i) { return w.at({i[3], i[2], i[0], i[1]}); });
}
static double pixel(const Array& x, std::int64_t n, std::int64_t c, std::int64_t y, std::int64_t column) {
  return y < 0 || column < 0 || y >= x.shape[2] || column >= x.shape[3] ? 0 : x.at({n, c, y, column});
}

static Array convolved(const Array& x, const Array& w, const Conv2dOptions& o) {
  const std::int64_t oh = (x.shape[2] + 2 * o.padding[0] - o.dilation[0] * (w.shape[2] - 1) - 1) / o.stride[0] + 1;
  const std::int64_t ow = (x.shape[3] + 2 * o.padding[1] - o.dilation[1] * (w.shape[3] - 1) - 1) / o.stride[1] + 1;
  const std::int64_t group_out = w.shape[0] / o.groups;
  return make({x.shape[0], w.shape[0], oh, ow}, [&](const Index& i) {
    double total = 0;
    for (std::int64_t c = 0; c < w.shape[1]; ++c)
      for (std::int64_t ky = 0; ky < w.shape[2]; ++ky)
        for (std::int64_t kx = 0; kx < w.shape[3]; ++kx)
          total += w.at({i[1], c, ky, kx}) * pixel(x, i[0], i[1] / group_out * w.shape[1] + c,
                                                   i[2] * o.stride[0] - o.padding[0] + ky * o.dilation[0],
                                                   i[3] * o.stride[1] - o.padding[1] + kx * o.dilation[1]);
    return total;
  });
}

TEST_CASE("conv2d with stride, padding, dilation and groups, in both layouts") {
  struct Row {
    const char* name;
    Shape image, weight;
    Conv2dOptions options;
  };
  const Row rows[] = {
      {"3x3 padded", {2, 3, 4, 5}, {4, 3, 3, 3}, {.padding = {1, 1}}},
      {"1x1", {1, 3, 3, 2}, {2, 3, 1, 1}, {}},
      {"strided, uneven", {1, 2, 6, 7}, {3, 2, 3, 2}, {.stride = {2, 3}, .padding = {1, 0}}},
      {"dilated", {1, 2, 7, 6}, {2, 2, 2, 3}, {.padding = {1, 2}, .dilation = {3, 2}}},
      {"groups", {2, 4, 4, 4}, {6, 2, 3, 3}, {.padding = {1, 1}, .groups = 2}},
      {"depthwise, strided", {1, 3, 5, 5}, {3, 1, 3, 3}, {.stride = {2, 2}, .padding = {1, 1}, .groups = 3}},
      {"more padding than kernel", {1, 1, 3, 3}, {2, 1, 2, 2}, {.stride = {2, 1}, .padding = {3, 2}}},
      {"all of it", {1, 4, 8, 7}, {2, 2, 2, 3}, {.stride = {3, 2}, .padding = {2, 1}, .dilation = {2, 2}, .groups = 2}},
  };
  for (const Row& row : rows)
    for (const ImageLayout layout : {ImageLayout::nchw, ImageLayout::nhwc}) {
      const Array x = sample(row.image, 1), w = sample(row.weight, 2);
      Conv2dOptions options = row.options;
      options.layout = layout;
      check({std::string("conv2d, ") + row.name + (layout == ImageLayout::nhwc ? ", nhwc" : ", nchw"),
             {to_layout(x, layout), weight_to_layout(w, layout)},
             [=](const Tensors& t) { return conv2d(t[0], t[1], options); },
             to_layout(convolved(x, w, options), layout)});
    }
}

TEST_CASE("conv_transpose2d is the transpose of conv2d") {
  for (const ImageLayout layout : {ImageLayout::nchw, ImageLayout::nhwc}) {
    // <conv_transpose(y), x> = <y, conv(x)> for every x: the columns of one are the rows of the other.
    const Array y = sample({1, 4, 3, 3}, 1), w = sample({4, 1, 3, 3}, 2);
    const Conv2dOptions forward{.stride = {2, 2}, .padding = {1, 1}, .groups = 2};
    const Array expected = make({1, 2, 6, 6}, [&](const Index& i) {
      Array x = make({1, 2, 6, 6}, [](const Index&) { return 0.0; });
      x.at(i) = 1;
      const Array image = convolved(x, w, forward);
      double total = 0;
      for (std::size_t j = 0; j < y.values.size(); ++j) total += image.values[j] * y.values[j];
      return total;
    });
    const ConvTranspose2dOptions options{
        .stride = {2, 2}, .padding = {1, 1}, .output_padding = {1, 1}, .groups = 2, .layout = layout};
    check({"conv_transpose2d",
           {to_layout(y, layout), weight_to_layout(w, layout)},
           [=](const Tensors& t) { return conv_transpose2d(t[0], t[1], options); },
           to_layout(expected, layout)});
  }
}

TEST_CASE("conv2d takes elementwise work along") {
  const Array x = sample({1, 2, 4, 4}, 1), w = sample({3, 2, 3, 3}, 2), b = sample({3}, 3);
  Array expected = convolved(x, w, {.padding = {1, 1}});
  for (std::int64_t c = 0; c < 3; ++c)
    for (std::int64_t p = 0; p < 16; ++p) {
      double& value = expected.at({0, c, p / 4, p % 4});
      value = std::tanh(value + b.at({c}));
    }
  check({"conv2d, bias and tanh",
         {to_layout(x, ImageLayout::nhwc), weight_to_layout(w, ImageLayout::nhwc), b},
         [](const Tensors& t) {
           return tanh(conv2d(t[0], t[1], {.padding = {1, 1}, .layout = ImageLayout::nhwc}) + t[2]);
         },
         to_layout(expected, ImageLayout::nhwc)});
}

static Array pooled(const Array& x, const Pool2dOptions& o, bool maximum) {
  const Pair stride{o.stride[0] ? o.stride[0] : o.kernel[0], o.stride[1] ? o.stride[1] : o.kernel[1]};
  const std::int64_t oh = (x.shape[2] + 2 * o.padding[0] - o.kernel[0]) / stride[0] + 1;
  const std::int64_t ow = (x.shape[3] + 2 * o.padding[1] - o.kernel[1]) / stride[1] + 1;
  return make({x.shape[0], x.shape[1], oh, ow}, [&](const Index& i) {
    double largest = -INFINITY, total = 0, count = 0;
    for (std::int64_t ky = 0; ky < o.kernel[0]; ++ky)
      for (std::int64_t kx = 0; kx < o.kernel[1]; ++kx) {
        const std::int64_t y = i[2] * stride[0] - o.padding[0] + ky, column = i[3] * stride[1] - o.padding[1] + kx;
        if (y < 0 || column < 0 || y >= x.shape[2] || column >= x.shape[3]) continue;
        largest = std::max(largest, x.at({i[0], i[1], y, column}));
        total += x.at({i[0], i[1], y, column});
        ++count;
      }
    return maximum ? largest : total / (o.count_padding ? static_cast<double>(o.kernel[0] * o.kernel[1]) : count);
  });
}

TEST_CASE("pooling with stride and padding, in both layouts") {
  const Pool2dOptions rows[] = {{},
                                {.kernel = {3, 2}, .stride = {1, 2}},
                                {.kernel = {3, 3}, .stride = {2, 2}, .padding = {1, 1}},
                                {.kernel = {3, 3}, .stride = {2, 2}, .padding = {1, 1}, .count_padding = false},
                                {.kernel = {2, 4}, .stride = {3, 1}, .padding = {0, 2}}};
  const Array x = sample({2, 3, 5, 6});
  for (Pool2dOptions options : rows)
    for (const ImageLayout layout : {ImageLayout::nchw, ImageLayout::nhwc}) {
      options.layout = layout;
      check({"max_pool2d",
             {to_layout(x, layout)},
             [=](const Tensors& t) { return max_pool2d(t[0], options); },
             to_layout(pooled(x, options, true), layout)});
      check({"avg_pool2d",
             {to_layout(x, layout)},
             [=](const Tensors& t) { return avg_pool2d(t[0], options); },
             to_layout(pooled(x, options, false), layout)});
    }
}

TEST_CASE("of equal pixels the first takes the gradient of max_pool2d; NaN wins") {
  for (const Place& place : places()) {
    INFO(place.name);
    const Tensor x = ones({1, 1, 2, 4}, place.real, place.device).require_grad();
    CHECK_EQ(sum(max_pool2d(x)).backward().of(x).read<float>().get(), std::vector<float>{1, 0, 1, 0, 0, 0, 0, 0});
    const Array with_nan{{1, 1, 2, 2}, {1, NAN, 3, 2}};
    CHECK(std::isnan(max_pool2d(upload(with_nan, place)).item<float>()));
    const Tensor whole = tensor<std::int32_t>(std::vector<std::int32_t>{-5, -7, -6, -9}, {1, 1, 2, 2}, place.device);
    CHECK_EQ(max_pool2d(whole, {.kernel = {2, 2}, .stride = {2, 2}, .padding = {1, 1}}).read<std::int32_t>().get(),
             std::vector<std::int32_t>{-5, -7, -6, -9});
  }
}

static Array resized(const Array& x, const Pair& size, bool linear) {
  const std::int64_t h = x.shape[2], w = x.shape[3];
  return make({x.shape[0], x.shape[1], size[0], size[1]}, [&](const Index& i) {
    if (!linear) return x.at({i[0], i[1], i[2] * h / size[0], i[3] * w / size[1]});
    const auto place = [](std::int64_t c, std::int64_t in, std::int64_t out) {
      return std::max(0.0, (static_cast<double>(c) + 0.5) * static_cast<double>(in) / static_cast<double>(out) - 0.5);
    };
    const double y = place(i[2], h, size[0]), column = place(i[3], w, size[1]);
    const auto y0 = static_cast<std::int64_t>(y), x0 = static_cast<std::int64_t>(column);
    const double fy = y - static_cast<double>(y0), fx = column - static_cast<double>(x0);
    const auto at = [&](std::int64_t r, std::int64_t c) { return x.at({i[0], i[1], std::min(r, h - 1), std::min(c, w - 1)}); };
    return (at(y0, x0) * (1 - fx) + at(y0, x0 + 1) * fx) * (1 - fy) + (at(y0 + 1, x0) * (1 - fx) + at(y0 + 1, x0 + 1) * fx) * fy;
  });
}

TEST_CASE("upsampling to any size, in both layouts") {
  const Array x = sample({1, 2, 3, 4});
  for (const Pair& size : {Pair{6, 8}, Pair{7, 5}, Pair{2, 3}, Pair{3, 9}, Pair{1, 1}})
    for (const ImageLayout layout : {ImageLayout::nchw, ImageLayout::nhwc}) {
      const UpsampleOptions options{.size = size, .layout = layout};
      check({"upsample_nearest",
             {to_layout(x, layout)},
             [=](const Tensors& t) { return upsample_nearest(t[0], options); },
             to_layout(resized(x, size, false), layout)});
      check({"upsample_bilinear",
             {to_layout(x, layout)},
             [=](const Tensors& t) { return upsample_bilinear(t[0], options); },
             to_layout(resized(x, size, true), layout)});
    }
  check({"upsample by a scale",
         {x},
         [](const Tensors& t) {
           return upsample_nearest(t[0], {.scale = {3, 2}});
         },
         resized(x, {9, 8}, false)});
}

TEST_CASE("depth_to_space and space_to_depth are TensorFlow's and ONNX's") {
  const Array x = sample({2, 8, 3, 2});
  for (const ImageLayout layout : {ImageLayout::nchw, ImageLayout::nhwc})
    for (const DepthOrder order : {DepthOrder::depth_column_row, DepthOrder::column_row_depth}) {
      const DepthOptions options{.layout = layout, .order = order};
      const Array space = make({2, 2, 6, 4}, [&](const Index& i) {
        const std::int64_t block = i[2] % 2 * 2 + i[3] % 2;
        const std::int64_t channel = order == DepthOrder::depth_column_row ? block * 2 + i[1] : i[1] * 4 + block;
        return x.at({i[0], channel, i[2] / 2, i[3] / 2});
      });
      check({"depth_to_space",
             {to_layout(x, layout)},
             [=](const Tensors& t) { return depth_to_space(t[0], 2, options); },
             to_layout(space, layout)});
      check({"space_to_depth",
             {to_layout(space, layout)},
             [=](const Tensors& t) { return space_to_depth(t[0], 2, options); },
             to_layout(x, layout)});
    }
}

TEST_CASE("images without elements") {
  for (const Place& place : places()) {
    INFO(place.name);
    const Tensor none = zeros({0, 2, 4, 4}, place.real, place.device);
    CHECK_EQ(to_string(conv2d(none, zeros({3, 2, 3, 3}, place.real, place.device)).shape()), "[0, 3, 2, 2]");
    CHECK_EQ(
        conv2d(zeros({1, 0, 4, 4}, place.real, place.device), zeros({1, 0, 3, 3}, place.real, place.device)).read<float>().get(),
        std::vector<float>(4, 0));
    CHECK_EQ(to_string(max_pool2d(none).shape()), "[0, 2, 2, 2]");
    CHECK_EQ(to_string(upsample_nearest(none).shape()), "[0, 2, 8, 8]");
    CHECK_EQ(to_string(depth_to_space(zeros({0, 4, 2, 2}, place.real, place.device), 2).shape()), "[0, 1, 4, 4]");
    const Tensor weight = ones({3, 2, 3, 3}, place.real, place.device).require_grad();
    CHECK_EQ(sum(conv2d(none, weight)).backward().of(weight).read<float>().get(), std::vector<float>(54, 0));
  }
}
