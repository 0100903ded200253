#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "runtime/cpu/conv.hpp"
#include "runtime/cpu/gemm.hpp"
#include "runtime/cpu/generic.hpp"
#include "runtime/cpu/tile.hpp"

using namespace hearth;
using namespace hearth::runtime::cpu;

namespace {

template <typename T>
std::vector<T> numbers(std::int64_t count, std::uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<T> values(static_cast<std::size_t>(count));
  for (T& value : values) {
    const auto sample = static_cast<int>(random() % 2001) - 1000;
    value = std::is_integral_v<T> ? static_cast<T>(sample) : static_cast<T>(sample) / T(1000);
  }
  return values;
}

/// The largest difference between `got` and `expected`, in units of the magnitude of what was summed.
template <typename T>
double difference(const std::vector<T>& got, const std::vector<double>& expected, const std::vector<double>& magnitude) {
  double worst = 0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    if constexpr (std::is_integral_v<T>) {
      if (got[i] != static_cast<T>(static_cast<std::int64_t>(expected[i]))) worst = 1;
    } else {
      const double distance = std::abs(static_cast<double>(got[i]) - expected[i]) / (magnitude[i] + 1e-30);
      worst = std::max(worst, std::isnan(distance) ? 1.0 : distance);
    }
  }
  return worst;
}

template <typename T>
double signed_value(T value) {
  if constexpr (std::is_same_v<T, std::uint32_t>) {
    return static_cast<std::int32_t>(value);
  } else {
    return value;
  }
}

template <typename T>
constexpr double tolerance = std::is_same_v<T, float>    ? 1e-6
                             : std::is_same_v<T, double> ? 1e-14
                                                         : 0;

struct Sizes {
  std::int64_t m, n, k;
};

template <typename Problem, typename T>
void check_product(const Sizes& s, bool transpose_a, bool transpose_b, int threads) {
  CAPTURE(s.m);
  CAPTURE(s.n);
  CAPTURE(s.k);
  CAPTURE(transpose_a);
  CAPTURE(transpose_b);
  const auto a = numbers<T>(s.m * s.k, 1), b = numbers<T>(s.k * s.n, 2);
  std::vector<T> out(static_cast<std::size_t>(s.m * s.n), T(99));
  const std::int64_t a_row = transpose_a ? 1 : s.k, a_column = transpose_a ? s.m : 1;
  const std::int64_t b_row = transpose_b ? 1 : s.n, b_column = transpose_b ? s.k : 1;
  ThreadPool pool(threads);
  multiply(Problem{s.m, s.n, s.k, a.data(), a_row, a_column, b.data(), b_row, b_column, out.data()}, pool);
  std::vector<double> expected(out.size()), magnitude(out.size());
  for (std::int64_t i = 0; i < s.m; ++i) {
    for (std::int64_t j = 0; j < s.n; ++j) {
      double sum = 0, absolute = 0;
      for (std::int64_t k = 0; k < s.k; ++k) {
        const double product = signed_value(a[static_cast<std::size_t>(i * a_row + k * a_column)]) *
                               signed_value(b[static_cast<std::size_t>(k * b_row + j * b_column)]);
        sum += product;
        absolute += std::abs(product);
      }
      expected[static_cast<std::size_t>(i * s.n + j)] = sum;
      magnitude[static_cast<std::size_t>(i * s.n + j)] = absolute;
    }
  }
  CHECK(difference(out, expected, magnitude) <= tolerance<T>);
}

constexpr Sizes product_sizes[] = {{1, 1, 1},     {1, 1, 0},    {3, 5, 0},      {0, 4, 2},     {1, 33, 7},
                                   {5, 1, 9},     {12, 32, 16}, {13, 33, 17},   {25, 31, 513}, {1, 200, 64},
                                   {97, 65, 130}, {200, 3, 40}, {24, 70, 1030}, {130, 129, 5}};

template <typename T>
void check_convolution(const ir::Conv2d& base, int threads) {
  ir::Conv2d c = base;
  c.oh = (c.h + 2 * c.padding[0] - c.dilation[0] * (c.kh - 1) - 1) / c.stride[0] + 1;
  c.ow = (c.w + 2 * c.padding[1] - c.dilation[1] * (c.kw - 1) - 1) / c.stride[1] + 1;
  CAPTURE(c.nhwc);
  CAPTURE(c.in_channels);
  CAPTURE(c.out_channels);
  CAPTURE(c.groups);
  CAPTURE(c.kh);
  CAPTURE(c.kw);
  CAPTURE(c.stride[0]);
  CAPTURE(c.dilation[0]);
  CAPTURE(c.padding[0]);
  const std::int64_t in_group = c.in_channels / c.groups, out_group = c.out_channels / c.groups;
  const auto input = numbers<T>(c.n * c.h * c.w * c.in_channels, 3);
  const auto weight = numbers<T>(c.kh * c.kw * in_group * c.out_channels, 4);
  std::vector<T> out(static_cast<std::size_t>(c.n * c.oh * c.ow * c.out_channels), T(99));
  ThreadPool pool(threads);
  std::vector<std::atomic<int>> finished(std::is_same_v<T, float> ? out.size() : 0);
  if constexpr (std::is_same_v<T, float>) {
    convolve(c, input.data(), weight.data(), out.data(), pool, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) ++finished[static_cast<std::size_t>(i)];
    });
  } else {
    convolve(c, input.data(), weight.data(), out.data(), pool);
  }
  for (const auto& count : finished)
    if (count != 1) FAIL("an element was finished ", count.load(), " times");

  std::vector<double> expected(out.size()), magnitude(out.size());
  for (std::int64_t n = 0; n < c.n; ++n)
    for (std::int64_t oy = 0; oy < c.oh; ++oy)
      for (std::int64_t ox = 0; ox < c.ow; ++ox)
        for (std::int64_t o = 0; o < c.out_channels; ++o) {
          double sum = 0, absolute = 0;
          for (std::int64_t ky = 0; ky < c.kh; ++ky)
            for (std::int64_t kx = 0; kx < c.kw; ++kx)
              for (std::int64_t i = 0; i < in_group; ++i) {
                const std::int64_t y = oy * c.stride[0] - c.padding[0] + ky * c.dilation[0];
                const std::int64_t x = ox * c.stride[1] - c.padding[1] + kx * c.dilation[1];
                if (y < 0 || y >= c.h || x < 0 || x >= c.w) continue;
                const std::int64_t channel = o / out_group * in_group + i;
                const std::int64_t at = c.nhwc ? ((n * c.h + y) * c.w + x) * c.in_channels + channel
                                               : ((n * c.in_channels + channel) * c.h + y) * c.w + x;
                const std::int64_t w = c.nhwc ? ((ky * c.kw + kx) * in_group + i) * c.out_channels + o
                                              : ((o * in_group + i) * c.kh + ky) * c.kw + kx;
                const double product =
                    signed_value(input[static_cast<std::size_t>(at)]) * signed_value(weight[static_cast<std::size_t>(w)]);
                sum += product;
                absolute += std::abs(product);
              }
          const std::int64_t at =
              c.nhwc ? ((n * c.oh + oy) * c.ow + ox) * c.out_channels + o : ((n * c.out_channels + o) * c.oh + oy) * c.ow + ox;
          expected[static_cast<std::size_t>(at)] = sum;
          magnitude[static_cast<std::size_t>(at)] = absolute;
        }
  CHECK(difference(out, expected, magnitude) <= tolerance<T>);
}

std::vector<ir::Conv2d> convolutions() {
  std::vector<ir::Conv2d> all;
  for (const bool nhwc : {true, false}) {
    const auto add = [&](std::int64_t n, std::int64_t h, std::int64_t w, std::int64_t in, std::int64_t out, std::int64_t kh,
                         std::int64_t kw, std::int64_t groups, std::array<std::int64_t, 2> stride,
                         std::array<std::int64_t, 2> padding, std::array<std::int64_t, 2> dilation) {
      all.push_back({.nhwc = nhwc,
                     .n = n,
                     .h = h,
                     .w = w,
                     .in_channels = in,
                     .out_channels = out,
                     .kh = kh,
                     .kw = kw,
                     .groups = groups,
                     .stride = stride,
                     .padding = padding,
                     .dilation = dilation});
    };
    add(1, 8, 8, 3, 64, 3, 3, 1, {1, 1}, {1, 1}, {1, 1});
    add(2, 7, 9, 5, 7, 3, 3, 1, {1, 1}, {1, 1}, {1, 1});
    add(1, 13, 11, 4, 33, 3, 5, 1, {2, 1}, {0, 2}, {1, 1});
    add(1, 12, 12, 6, 8, 3, 3, 2, {1, 1}, {1, 1}, {1, 1});
    add(2, 9, 10, 19, 19, 3, 3, 19, {1, 1}, {1, 1}, {1, 1});  // depthwise, channels that fill no vector
    add(1, 9, 10, 4, 8, 3, 3, 4, {2, 2}, {1, 1}, {1, 1});     // depthwise with a multiplier
    add(1, 15, 14, 3, 4, 3, 3, 1, {1, 2}, {2, 3}, {2, 3});
    add(3, 5, 5, 65, 3, 1, 1, 1, {1, 1}, {0, 0}, {1, 1});
    add(1, 3, 3, 2, 2, 3, 3, 1, {1, 1}, {3, 3}, {1, 1});  // windows that are padding alone
    add(1, 40, 1, 2, 3, 4, 1, 1, {3, 1}, {1, 0}, {1, 1});
  }
  return all;
}

}  // namespace

TEST_CASE("products of f32 agree with f64 for any sizes and orders of memory") {
  for (const Sizes& s : product_sizes)
    for (int transposed = 0; transposed < 4; ++transposed)
      check_product<Gemm, float>(s, transposed & 1, transposed & 2, s.m % 2 == 0 ? 1 : 3);
}

TEST_CASE("products of f64 and of integers, which wrap") {
  for (const Sizes& s : product_sizes) {
    for (int transposed = 0; transposed < 4; ++transposed) {
      check_product<Matrices<double>, double>(s, transposed & 1, transposed & 2, 2);
      check_product<Matrices<std::uint32_t>, std::uint32_t>(s, transposed & 1, transposed & 2, 2);
    }
  }
}

TEST_CASE("products through every set of instructions that this processor has") {
  std::vector<const Kernels*> sets{&kernels_base};
#if defined(HEARTH_X86_TILES)
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) sets.push_back(&kernels_avx2);
  if (__builtin_cpu_supports("avx512f")) sets.push_back(&kernels_avx512);
#endif
  for (const Kernels* set : sets) {
    CAPTURE(set->name);
    constexpr int length = 21;
    const auto a = numbers<float>(set->rows * length, 5), panel = numbers<float>(set->width * length, 6);
    for (int rows = 1; rows <= set->rows; ++rows) {
      for (const int columns : {1, set->width / 2, set->width / 2 + 1, set->width}) {
        std::vector<const float*> pointers;
        for (int r = 0; r < rows; ++r) pointers.push_back(a.data() + r * length);
        std::vector<float> out(static_cast<std::size_t>(rows * set->width), 1.0f);
        Tile tile;
        tile.rows = pointers.data();
        tile.length = length;
        tile.panel = panel.data();
        tile.panel_row = set->width;
        tile.out = out.data();
        tile.out_row = set->width;
        tile.row_count = rows;
        tile.column_count = columns;
        tile.accumulate = true;
        set->tile(tile);
        for (int r = 0; r < rows; ++r) {
          for (int c = 0; c < set->width; ++c) {
            double expected = 1;
            for (int k = 0; c < columns && k < length; ++k)
              expected += static_cast<double>(a[static_cast<std::size_t>(r * length + k)]) *
                          panel[static_cast<std::size_t>(k * set->width + c)];
            CHECK(out[static_cast<std::size_t>(r * set->width + c)] == doctest::Approx(expected).epsilon(1e-5));
          }
        }
      }
    }
  }
}

TEST_CASE("convolutions of f32 agree with f64: odd sizes, strides, groups, dilation, padding") {
  int threads = 0;
  for (const ir::Conv2d& conv : convolutions()) check_convolution<float>(conv, 1 + ++threads % 3);
}

TEST_CASE("convolutions of f64 and integers") {
  for (const ir::Conv2d& conv : convolutions()) {
    check_convolution<double>(conv, 2);
    check_convolution<std::uint32_t>(conv, 2);
  }
}

TEST_CASE("the thread pool runs every index once, inside another loop and from two threads too") {
  ThreadPool pool(4);
  for (int round = 0; round < 200; ++round) {
    std::vector<std::atomic<int>> counts(1000);
    const auto count_all = [&] {
      pool.parallel_for(1000, 10, [&](std::int64_t begin, std::int64_t end) {
        if (begin == 0) pool.parallel_for(3, 1, [](std::int64_t, std::int64_t) {});
        for (std::int64_t i = begin; i < end; ++i) ++counts[static_cast<std::size_t>(i)];
      });
    };
    std::thread other;
    if (round % 10 == 0) other = std::thread(count_all);
    count_all();
    if (other.joinable()) other.join();
    for (const auto& count : counts)
      if (count != (round % 10 == 0 ? 2 : 1)) FAIL("round ", round, ": an index ran ", count.load(), " times");
  }
}
