#include "demo/compose.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace hearth::demo {
namespace {

/// Weights of four neighbours for a place `t` between the middle two: Catmull-Rom, as in compare.wgsl.
std::array<float, 4> cubic(float t) {
  const float t2 = t * t, t3 = t2 * t;
  return {0.5f * (-t + 2 * t2 - t3), 0.5f * (2 - 5 * t2 + 3 * t3), 0.5f * (t + 4 * t2 - 3 * t3), 0.5f * (t3 - t2)};
}

std::array<float, 3> bicubic(const io::Image& photo, int x, int y, int scale) {
  const float at_x = (float(x) + 0.5f) / float(scale) - 0.5f, at_y = (float(y) + 0.5f) / float(scale) - 0.5f;
  const float base_x = std::floor(at_x), base_y = std::floor(at_y);
  const std::array<float, 4> weights_x = cubic(at_x - base_x), weights_y = cubic(at_y - base_y);
  std::array<float, 3> sum{};
  for (int j = 0; j < 4; ++j)
    for (int i = 0; i < 4; ++i) {
      const int column = std::clamp(int(base_x) + i - 1, 0, photo.width - 1),
                row = std::clamp(int(base_y) + j - 1, 0, photo.height - 1);
      const std::uint8_t* pixel = photo.pixels.data() + std::size_t(row * photo.width + column) * 4;
      const float weight = weights_x[std::size_t(i)] * weights_y[std::size_t(j)];
      for (std::size_t c = 0; c < 3; ++c) sum[c] += weight * float(pixel[c]) / 255.0f;
    }
  return sum;
}

}  // namespace

io::Image compose(const io::Image& photo, std::span<const float> enlarged, int scale) {
  const int width = photo.width * scale, height = photo.height * scale;
  const int picture_width = 2 * width + divider_width;
  std::vector<float> values(std::size_t(picture_width) * std::size_t(height) * 3, 1.0f);
  for (int y = 0; y < height; ++y) {
    float* row = values.data() + std::size_t(y) * std::size_t(picture_width) * 3;
    for (int x = 0; x < width; ++x) std::ranges::copy(bicubic(photo, x, y, scale), row + x * 3);
    const auto from = enlarged.subspan(std::size_t(y) * std::size_t(width) * 3, std::size_t(width) * 3);
    std::ranges::copy(from, row + (width + divider_width) * 3);
  }
  return io::to_image(values, height, picture_width, 3);
}

}  // namespace hearth::demo
