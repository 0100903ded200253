#include "runtime/cpu/conv.hpp"

#include <algorithm>
#include <cstring>

#include "runtime/cpu/tile.hpp"

namespace hearth::runtime::cpu {

namespace {

constexpr int most_rows = 16;
constexpr std::int64_t tiles_per_task = 8;

constexpr std::int64_t divide_up(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

/// Channels last. The rows of a tile are output pixels; each tap of the kernel is a run of channels at a pixel of the input, so
/// the input is read in place, and a tap outside the picture reads zeros. Nothing is unrolled into a matrix.
class ChannelsLast {
 public:
  ChannelsLast(const ir::Conv2d& conv, const float* input, const float* weight, float* out, ThreadPool& pool,
               const Finish& finish)
      : c_(conv), input_(input), weight_(weight), out_(out), pool_(pool), finish_(finish), kernels_(kernels()) {
    taps_ = c_.kh * c_.kw;
    in_group_ = c_.in_channels / c_.groups;
    out_group_ = c_.out_channels / c_.groups;
    depthwise_ = c_.groups > 1 && in_group_ == 1 && out_group_ == 1;
    panels_ = divide_up(out_group_, kernels_.width);
    zeros_.resize(static_cast<std::size_t>(depthwise_ ? c_.in_channels : in_group_));
  }

  void run() {
    if (!depthwise_) pack();
    const std::int64_t pixels = c_.oh * c_.ow;
    const std::int64_t per_task = tiles_per_task * kernels_.rows;
    const std::int64_t tasks_per_image = divide_up(pixels, per_task);
    const std::int64_t flops = 2 * per_task * taps_ * in_group_ * c_.out_channels;
    const std::int64_t grain = std::max<std::int64_t>(1, 1000000 / std::max<std::int64_t>(flops, 1));
    pool_.parallel_for(c_.n * tasks_per_image, grain, [&](std::int64_t begin, std::int64_t end) {
      std::vector<const float*> pointers(static_cast<std::size_t>(taps_ * tiles_per_task * kernels_.rows));
      for (std::int64_t task = begin; task < end; ++task) {
        const std::int64_t image = task / tasks_per_image;
        const std::int64_t first = task % tasks_per_image * per_task;
        const std::int64_t last = std::min(first + per_task, pixels);
        if (depthwise_) {
          depthwise(image, first, last, pointers);
        } else {
          for (std::int64_t group = 0; group < c_.groups; ++group) dense(image, group, first, last, pointers);
        }
        if (finish_) finish_((image * pixels + first) * c_.out_channels, (image * pixels + last) * c_.out_channels);
      }
    });
  }

 private:
  /// [group][panel][tap][channel][width]
  void pack() {
    const std::int64_t rows = taps_ * in_group_;
    panel_size_ = rows * kernels_.width;
    packed_.assign(static_cast<std::size_t>(c_.groups * panels_ * panel_size_), 0.0f);
    float* to = packed_.data();
    for (std::int64_t group = 0; group < c_.groups; ++group) {
      for (std::int64_t panel = 0; panel < panels_; ++panel) {
        const std::int64_t first = panel * kernels_.width;
        const auto columns = static_cast<std::size_t>(std::min<std::int64_t>(kernels_.width, out_group_ - first));
        for (std::int64_t row = 0; row < rows; ++row, to += kernels_.width)
          std::memcpy(to, weight_ + row * c_.out_channels + group * out_group_ + first, columns * sizeof(float));
      }
    }
  }

  /// Pointers to the taps of `count` pixels: [tap][pixel].
  void point(std::int64_t image, std::int64_t first, int count, std::int64_t channel, const float** pointers) const {
    std::int64_t oy = first / c_.ow, ox = first % c_.ow;
    for (int p = 0; p < count; ++p) {
      const std::int64_t y0 = oy * c_.stride[0] - c_.padding[0];
      const std::int64_t x0 = ox * c_.stride[1] - c_.padding[1];
      const float** to = pointers + p;
      for (std::int64_t ky = 0; ky < c_.kh; ++ky) {
        const std::int64_t y = y0 + ky * c_.dilation[0];
        const bool row_inside = y >= 0 && y < c_.h;
        const float* row = input_ + (image * c_.h + y) * c_.w * c_.in_channels + channel;
        for (std::int64_t kx = 0; kx < c_.kw; ++kx, to += count) {
          const std::int64_t x = x0 + kx * c_.dilation[1];
          *to = row_inside && x >= 0 && x < c_.w ? row + x * c_.in_channels : zeros_.data();
        }
      }
      if (++ox == c_.ow) {
        ox = 0;
        ++oy;
      }
    }
  }

  void dense(std::int64_t image, std::int64_t group, std::int64_t first, std::int64_t last,
             std::vector<const float*>& pointers) const {
    const int rows = kernels_.rows;
    for (std::int64_t pixel = first, at = 0; pixel < last; pixel += rows, at += taps_ * rows) {
      const int count = static_cast<int>(std::min<std::int64_t>(rows, last - pixel));
      point(image, pixel, count, group * in_group_, pointers.data() + at);
    }
    for (std::int64_t panel = 0; panel < panels_; ++panel) {
      Tile t;
      t.segments = taps_;
      t.length = in_group_;
      t.panel = packed_.data() + (group * panels_ + panel) * panel_size_;
      t.panel_row = kernels_.width;
      t.column_count = static_cast<int>(std::min<std::int64_t>(kernels_.width, out_group_ - panel * kernels_.width));
      t.out_row = c_.out_channels;
      float* out = out_ + image * c_.oh * c_.ow * c_.out_channels + group * out_group_ + panel * kernels_.width;
      for (std::int64_t pixel = first, at = 0; pixel < last; pixel += rows, at += taps_ * rows) {
        t.rows = pointers.data() + at;
        t.row_count = static_cast<int>(std::min<std::int64_t>(rows, last - pixel));
        t.out = out + pixel * c_.out_channels;
        kernels_.tile(t);
      }
    }
  }

  void depthwise(std::int64_t image, std::int64_t first, std::int64_t last, std::vector<const float*>& pointers) const {
    for (std::int64_t pixel = first; pixel < last; ++pixel) {
      point(image, pixel, 1, 0, pointers.data());
      kernels_.depthwise(
          {pointers.data(), taps_, c_.in_channels, weight_, out_ + (image * c_.oh * c_.ow + pixel) * c_.out_channels});
    }
  }

  const ir::Conv2d& c_;
  const float* input_;
  const float* weight_;
  float* out_;
  ThreadPool& pool_;
  const Finish& finish_;
  const Kernels& kernels_;
  std::int64_t taps_ = 0, in_group_ = 0, out_group_ = 0, panels_ = 0, panel_size_ = 0;
  bool depthwise_ = false;
  std::vector<float> packed_, zeros_;
};

/// Channels first. The rows of a tile are output channels, whose weights lie in a row; the columns are pixels, whose taps are
/// unrolled into a panel [channel][tap][width] that stays in the cache while all channels pass over it.
class ChannelsFirst {
 public:
  ChannelsFirst(const ir::Conv2d& conv, const float* input, const float* weight, float* out, ThreadPool& pool)
      : c_(conv), input_(input), weight_(weight), out_(out), pool_(pool), kernels_(kernels()) {
    in_group_ = c_.in_channels / c_.groups;
    out_group_ = c_.out_channels / c_.groups;
    length_ = in_group_ * c_.kh * c_.kw;
  }

  void run() {
    const std::int64_t pixels = c_.oh * c_.ow;
    const std::int64_t panels = divide_up(pixels, kernels_.width);
    const std::int64_t flops = 2 * kernels_.width * length_ * out_group_;
    const std::int64_t grain = std::max<std::int64_t>(1, 500000 / std::max<std::int64_t>(flops, 1));
    pool_.parallel_for(c_.n * c_.groups * panels, grain, [&](std::int64_t begin, std::int64_t end) {
      std::vector<float> panel(static_cast<std::size_t>(length_ * kernels_.width));
      for (std::int64_t task = begin; task < end; ++task) {
        const std::int64_t plane = task / panels;  // image and group
        const std::int64_t first = task % panels * kernels_.width;
        const int columns = static_cast<int>(std::min<std::int64_t>(kernels_.width, pixels - first));
        unroll(plane / c_.groups, plane % c_.groups, first, columns, panel.data());
        multiply(plane / c_.groups, plane % c_.groups, first, columns, panel.data());
      }
    });
  }

 private:
  void unroll(std::int64_t image, std::int64_t group, std::int64_t first, int columns, float* panel) const {
    const float* plane = input_ + (image * c_.in_channels + group * in_group_) * c_.h * c_.w;
    for (std::int64_t channel = 0; channel < in_group_; ++channel, plane += c_.h * c_.w) {
      for (std::int64_t ky = 0; ky < c_.kh; ++ky) {
        for (std::int64_t kx = 0; kx < c_.kw; ++kx, panel += kernels_.width) {
          std::int64_t oy = first / c_.ow, ox = first % c_.ow;
          for (int at = 0; at < columns; ++oy, ox = 0) {
            const int run = static_cast<int>(std::min<std::int64_t>(columns - at, c_.ow - ox));
            unroll_row(plane, oy * c_.stride[0] - c_.padding[0] + ky * c_.dilation[0],
                       ox * c_.stride[1] - c_.padding[1] + kx * c_.dilation[1], run, panel + at);
            at += run;
          }
          std::fill(panel + columns, panel + kernels_.width, 0.0f);
        }
      }
    }
  }
  void unroll_row(const float* plane, std::int64_t y, std::int64_t x, int run, float* to) const {
    if (y < 0 || y >= c_.h) {
      std::fill(to, to + run, 0.0f);
      return;
    }
    const float* row = plane + y * c_.w;
    const std::int64_t step = c_.stride[1];
    if (x >= 0 && x + (run - 1) * step < c_.w) {
      if (step == 1) {
        std::memcpy(to, row + x, static_cast<std::size_t>(run) * sizeof(float));
      } else {
        for (int i = 0; i < run; ++i) to[i] = row[x + i * step];
      }
      return;
    }
    for (int i = 0; i < run; ++i) {
      const std::int64_t at = x + i * step;
      to[i] = at >= 0 && at < c_.w ? row[at] : 0.0f;
    }
  }
  void multiply(std::int64_t image, std::int64_t group, std::int64_t first, int columns, const float* panel) const {
    const std::int64_t pixels = c_.oh * c_.ow;
    const float* rows[most_rows];
    Tile t;
    t.rows = rows;
    t.length = length_;
    t.panel = panel;
    t.panel_row = kernels_.width;
    t.column_count = columns;
    t.out_row = pixels;
    for (std::int64_t channel = 0; channel < out_group_; channel += kernels_.rows) {
      const std::int64_t row = group * out_group_ + channel;
      t.row_count = static_cast<int>(std::min<std::int64_t>(kernels_.rows, out_group_ - channel));
      for (int r = 0; r < t.row_count; ++r) rows[r] = weight_ + (row + r) * length_;
      t.out = out_ + (image * c_.out_channels + row) * pixels + first;
      kernels_.tile(t);
    }
  }

  const ir::Conv2d& c_;
  const float* input_;
  const float* weight_;
  float* out_;
  ThreadPool& pool_;
  const Kernels& kernels_;
  std::int64_t in_group_ = 0, out_group_ = 0, length_ = 0;
};

}  // namespace

void convolve(const ir::Conv2d& conv, const float* input, const float* weight, float* out, ThreadPool& pool,
              const Finish& finish) {
  if (conv.n * conv.oh * conv.ow * conv.out_channels == 0) return;
  if (conv.nhwc) {
    ChannelsLast(conv, input, weight, out, pool, finish).run();
  } else {
    ChannelsFirst(conv, input, weight, out, pool).run();
    if (finish) finish(0, conv.n * conv.out_channels * conv.oh * conv.ow);
  }
}

}  // namespace hearth::runtime::cpu
