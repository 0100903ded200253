#include "demo/compose.hpp"

#include <doctest/doctest.h>

using namespace hearth;

TEST_CASE("bicubic keeps a flat photo flat, the divider is white, the result is beside it") {
  io::Image photo{3, 2, 4, {}};
  for (int i = 0; i < 6; ++i)
    for (int value : {50, 100, 150, 255}) photo.pixels.push_back(static_cast<std::uint8_t>(value));
  const std::vector<float> enlarged(std::size_t(6 * 4 * 3), 0.2f);
  const io::Image picture = demo::compose(photo, enlarged, 2);
  CHECK(picture.width == 16);
  CHECK(picture.height == 4);
  const auto pixel = [&](int x, int y) {
    const std::uint8_t* p = picture.pixels.data() + (y * 16 + x) * 3;
    return std::vector<int>{p[0], p[1], p[2]};
  };
  for (int y = 0; y < 4; ++y) {
    for (int x = 0; x < 6; ++x) CHECK(pixel(x, y) == std::vector<int>{50, 100, 150});
    for (int x = 6; x < 10; ++x) CHECK(pixel(x, y) == std::vector<int>{255, 255, 255});
    for (int x = 10; x < 16; ++x) CHECK(pixel(x, y) == std::vector<int>{51, 51, 51});
  }
}

TEST_CASE("bicubic goes through a ramp in a straight line") {
  io::Image photo{8, 1, 4, {}};
  for (int i = 0; i < 8; ++i)
    for (int c = 0; c < 4; ++c) photo.pixels.push_back(static_cast<std::uint8_t>(i * 16));
  const io::Image picture = demo::compose(photo, std::vector<float>(32 * 4 * 3), 4);
  // The middle of large pixel x is at (x + 0.5) / 4 - 0.5 of the small ones, where no clamped neighbour takes part.
  for (int x = 6; x < 26; ++x) CHECK(picture.pixels[std::size_t(x) * 3] == 4 * x - 6);
}
