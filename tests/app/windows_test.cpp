#include "models/windows.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

using namespace hearth::models;

namespace {

/// Cores tile the picture; every window holds its core and the halo around it, but for the picture's border.
void check_cut(int width, int height, int halo, std::int64_t max_pixels) {
  CAPTURE(width);
  CAPTURE(height);
  CAPTURE(max_pixels);
  const std::vector<Window> windows = cut_into_windows(width, height, halo, max_pixels);
  REQUIRE(!windows.empty());
  std::vector<int> covered(std::size_t(width) * std::size_t(height), 0);
  bool holds = true, same_size = true, inside = true, small = true;
  for (const auto& [window, core] : windows) {
    for (int y = core.y; y < core.y + core.height; ++y)
      for (int x = core.x; x < core.x + core.width; ++x) ++covered[std::size_t(y) * std::size_t(width) + std::size_t(x)];
    inside = inside && window.x >= 0 && window.y >= 0 && window.x + window.width <= width && window.y + window.height <= height;
    holds = holds && window.x <= std::max(0, core.x - halo) && window.y <= std::max(0, core.y - halo) &&
            window.x + window.width >= std::min(width, core.x + core.width + halo) &&
            window.y + window.height >= std::min(height, core.y + core.height + halo);
    same_size = same_size && window.width == windows[0].window.width && window.height == windows[0].window.height;
    small = small && std::int64_t{window.width} * window.height <= max_pixels;
  }
  CHECK(inside);
  CHECK(holds);
  CHECK(same_size);
  CHECK(small);
  CHECK(covered == std::vector<int>(covered.size(), 1));
}

}  // namespace

TEST_CASE("a picture that fits is one window") {
  const std::vector<Window> windows = cut_into_windows(30, 20, 10, 600);
  REQUIRE(windows.size() == 1);
  CHECK(windows[0].window == Rect{0, 0, 30, 20});
  CHECK(windows[0].core == Rect{0, 0, 30, 20});
}

TEST_CASE("windows of one size cover their cores and halos") {
  check_cut(31, 20, 10, 600);
  check_cut(1280, 720, 10, 262144);
  check_cut(100, 1, 3, 17);
  check_cut(1, 100, 3, 17);
  check_cut(7, 7, 0, 1);
  check_cut(97, 53, 10, 21 * 21);
  check_cut(64, 48, 10, 1000);
  check_cut(5000, 40, 10, 262144);
}

TEST_CASE("little is computed twice") {
  std::int64_t pixels = 0;
  for (const Window& window : cut_into_windows(1280, 720, 10, 262144))
    pixels += std::int64_t{window.window.width} * window.window.height;
  CHECK(double(pixels) < 1.045 * 1280 * 720);
}

TEST_CASE("nothing when not even one pixel and its halo fit") { CHECK(cut_into_windows(100, 100, 10, 440).empty()); }
