#include "runtime/cpu/generic.hpp"

#include <Eigen/Core>
#include <algorithm>
#include <vector>

namespace hearth::runtime::cpu {

namespace {

using Strides = Eigen::Stride<Eigen::Dynamic, Eigen::Dynamic>;
template <typename T>
using Matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
template <typename T>
using View = Eigen::Map<const Matrix<T>, Eigen::Unaligned, Strides>;
template <typename T>
using Result = Eigen::Map<Matrix<T>, Eigen::Unaligned, Strides>;

/// Rows of the output that a thread takes at once.
constexpr std::int64_t rows_per_task = 64;

template <typename T>
void multiply_any(const Matrices<T>& x, ThreadPool& pool) {
  if (x.m == 0 || x.n == 0) return;
  const View<T> b(x.b, x.k, x.n, Strides(x.b_row, x.b_column));
  pool.parallel_for(x.m, rows_per_task, [&](std::int64_t begin, std::int64_t end) {
    const View<T> a(x.a + begin * x.a_row, end - begin, x.k, Strides(x.a_row, x.a_column));
    Result<T> out(x.out + begin * x.n, end - begin, x.n, Strides(x.n, 1));
    out.noalias() = a * b;
  });
}

/// Strides in elements of a picture [y, x, channel] and of a weight [tap, channel, out].
struct Layout {
  std::int64_t image, row, column, channel;
  std::int64_t out_image, out_pixel, out_channel;
};

Layout layout_of(const ir::Conv2d& c) {
  const std::int64_t pixels = c.oh * c.ow;
  if (c.nhwc)
    return {c.h * c.w * c.in_channels, c.w * c.in_channels, c.in_channels, 1, pixels * c.out_channels, c.out_channels, 1};
  return {c.in_channels * c.h * c.w, c.w, 1, c.h * c.w, c.out_channels * pixels, 1, pixels};
}

template <typename T>
class Convolution {
 public:
  Convolution(const ir::Conv2d& conv, const T* input, const T* weight, T* out)
      : c_(conv), input_(input), weight_(weight), out_(out), at_(layout_of(conv)) {
    taps_ = c_.kh * c_.kw;
    in_group_ = c_.in_channels / c_.groups;
    out_group_ = c_.out_channels / c_.groups;
  }

  void run(ThreadPool& pool) {
    if (c_.n * c_.oh * c_.ow * c_.out_channels == 0) return;
    const std::int64_t blocks = (c_.oh * c_.ow + rows_per_task - 1) / rows_per_task;
    pool.parallel_for(c_.n * c_.groups * blocks, 1, [&](std::int64_t begin, std::int64_t end) {
      std::vector<T> patches(static_cast<std::size_t>(rows_per_task * in_group_ * taps_));
      for (std::int64_t i = begin; i < end; ++i) {
        const std::int64_t first = i % blocks * rows_per_task;
        block(i / blocks / c_.groups, i / blocks % c_.groups, first, std::min(first + rows_per_task, c_.oh * c_.ow),
              patches.data());
      }
    });
  }

 private:
  /// The taps of each pixel as a row [tap][channel] (channels last) or [channel][tap] (channels first), as the weight has them.
  void block(std::int64_t image, std::int64_t group, std::int64_t first, std::int64_t last, T* patches) {
    const std::int64_t length = in_group_ * taps_;
    for (std::int64_t pixel = first; pixel < last; ++pixel) patch(image, group, pixel, patches + (pixel - first) * length);
    const View<T> rows(patches, last - first, length, Strides(length, 1));
    const T* weight = c_.nhwc ? weight_ + group * out_group_ : weight_ + group * out_group_ * length;
    const View<T> columns(weight, length, out_group_, c_.nhwc ? Strides(c_.out_channels, 1) : Strides(1, length));
    Result<T> out(out_ + image * at_.out_image + first * at_.out_pixel + group * out_group_ * at_.out_channel, last - first,
                  out_group_, Strides(at_.out_pixel, at_.out_channel));
    out.noalias() = rows * columns;
  }
  void patch(std::int64_t image, std::int64_t group, std::int64_t pixel, T* to) {
    const std::int64_t y0 = pixel / c_.ow * c_.stride[0] - c_.padding[0];
    const std::int64_t x0 = pixel % c_.ow * c_.stride[1] - c_.padding[1];
    const std::int64_t tap_step = c_.nhwc ? in_group_ : 1, channel_step = c_.nhwc ? 1 : taps_;
    for (std::int64_t tap = 0; tap < taps_; ++tap) {
      const std::int64_t y = y0 + tap / c_.kw * c_.dilation[0], x = x0 + tap % c_.kw * c_.dilation[1];
      const bool inside = y >= 0 && y < c_.h && x >= 0 && x < c_.w;
      const T* from = input_ + image * at_.image + y * at_.row + x * at_.column + group * in_group_ * at_.channel;
      for (std::int64_t channel = 0; channel < in_group_; ++channel)
        to[tap * tap_step + channel * channel_step] = inside ? from[channel * at_.channel] : T(0);
    }
  }

  const ir::Conv2d& c_;
  const T* input_;
  const T* weight_;
  T* out_;
  Layout at_;
  std::int64_t taps_ = 0, in_group_ = 0, out_group_ = 0;
};

}  // namespace

void multiply(const Matrices<double>& matrices, ThreadPool& pool) { multiply_any(matrices, pool); }
void multiply(const Matrices<std::uint32_t>& matrices, ThreadPool& pool) { multiply_any(matrices, pool); }

void convolve(const ir::Conv2d& conv, const double* input, const double* weight, double* out, ThreadPool& pool) {
  Convolution<double>(conv, input, weight, out).run(pool);
}
void convolve(const ir::Conv2d& conv, const std::uint32_t* input, const std::uint32_t* weight, std::uint32_t* out,
              ThreadPool& pool) {
  Convolution<std::uint32_t>(conv, input, weight, out).run(pool);
}

}  // namespace hearth::runtime::cpu
