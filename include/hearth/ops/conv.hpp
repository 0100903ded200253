#pragma once
#include <array>
#include <cstdint>

#include "hearth/tensor.hpp"

/// Convolution, pooling and resizing of images. Two numbers are (height, width).
/// All throw Error(shape_mismatch) unless images have four axes.
namespace hearth {

enum class ImageLayout : unsigned char {
  nchw,  ///< [image, channel, height, width]
  nhwc,  ///< [image, height, width, channel]
};

using Pair = std::array<std::int64_t, 2>;

struct Conv2dOptions {
  Pair stride{1, 1};
  Pair padding{0, 0};   ///< zeros on each side
  Pair dilation{1, 1};  ///< distance of the kernel's taps
  std::int64_t groups = 1;
  ImageLayout layout = ImageLayout::nchw;
};

/// 2D convolution (cross-correlation).
/// Shapes: nchw: input [n, c, h, w], weight [o, c / groups, kh, kw] -> [n, o, oh, ow].
///         nhwc: input [n, h, w, c], weight [kh, kw, c / groups, o] -> [n, oh, ow, o].
/// oh = (h + 2 padding - dilation (kh - 1) - 1) / stride + 1. Floats only; f16 accumulates in f32.
/// Throws Error(shape_mismatch) when channels do not fit or the kernel is larger than the padded image.
[[nodiscard]] Tensor conv2d(const Tensor& input, const Tensor& weight, const Conv2dOptions& options = {});

struct ConvTranspose2dOptions {
  Pair stride{1, 1};
  Pair padding{0, 0};         ///< what the convolution of the other direction pads
  Pair output_padding{0, 0};  ///< rows and columns more at the high ends
  Pair dilation{1, 1};
  std::int64_t groups = 1;
  ImageLayout layout = ImageLayout::nchw;
};
/// The transpose of conv2d with the same weight: from the shape of its result to the shape of its input.
/// oh = (h - 1) stride - 2 padding + dilation (kh - 1) + 1 + output_padding.
[[nodiscard]] Tensor conv_transpose2d(const Tensor& input, const Tensor& weight, const ConvTranspose2dOptions& options = {});

struct Pool2dOptions {
  Pair kernel{2, 2};
  Pair stride{0, 0};   ///< 0: the kernel's size
  Pair padding{0, 0};  ///< at most half the kernel
  ImageLayout layout = ImageLayout::nchw;
  bool count_padding = true;  ///< average: whether padding counts as zeros
};
/// The largest value in each window; NaN wins. Of equal ones the first takes the gradient.
[[nodiscard]] Tensor max_pool2d(const Tensor& x, const Pool2dOptions& options = {});
/// The mean of each window. Floats only.
[[nodiscard]] Tensor avg_pool2d(const Tensor& x, const Pool2dOptions& options = {});

struct UpsampleOptions {
  Pair scale{2, 2};
  Pair size{0, 0};  ///< of the result; 0: scale times the input's
  ImageLayout layout = ImageLayout::nchw;
};
/// out[y, x] = in[floor(y h / oh), floor(x w / ow)]. Sizes may also shrink.
[[nodiscard]] Tensor upsample_nearest(const Tensor& x, const UpsampleOptions& options = {});
/// Linear between pixel centres (align_corners = false), held at the borders. Floats only.
[[nodiscard]] Tensor upsample_bilinear(const Tensor& x, const UpsampleOptions& options = {});

enum class DepthOrder : unsigned char {
  depth_column_row,  ///< channels are [block, block, c]: TensorFlow, ONNX's DCR
  column_row_depth,  ///< channels are [c, block, block]: ONNX's CRD, PyTorch's pixel_shuffle
};
struct DepthOptions {
  ImageLayout layout = ImageLayout::nchw;
  DepthOrder order = DepthOrder::depth_column_row;
};
/// Blocks of `block` x `block` channels become pixels: c / block^2 channels, block h x block w pixels.
/// Throws Error(shape_mismatch) when the channels cannot be divided.
[[nodiscard]] Tensor depth_to_space(const Tensor& x, std::int64_t block, const DepthOptions& options = {});
/// The other way round.
[[nodiscard]] Tensor space_to_depth(const Tensor& x, std::int64_t block, const DepthOptions& options = {});

}  // namespace hearth
