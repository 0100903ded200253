#include "models/windows.hpp"

#include <algorithm>

namespace hearth::models {
namespace {

/// One side cut into `count` windows of one size. Neighbours share two halos; the picture's ends need none, so the first and the
/// last window have larger cores.
struct Cut {
  int size = 0;  ///< of the picture
  int count = 1;
  int halo = 0;
  [[nodiscard]] std::int64_t window() const {
    const std::int64_t whole = size + std::int64_t{2} * halo * (count - 1);
    return std::min<std::int64_t>(size, std::max<std::int64_t>((whole + count - 1) / count, 2 * halo + 1));
  }
  [[nodiscard]] int core_begin(int i) const {
    if (i == 0) return 0;
    return i == count ? size : static_cast<int>(std::min<std::int64_t>(i * (window() - 2 * halo) + halo, size));
  }
  [[nodiscard]] int window_begin(int i) const {
    return static_cast<int>(std::clamp<std::int64_t>(core_begin(i) - halo, 0, size - window()));
  }
};

}  // namespace

std::vector<Window> cut_into_windows(int width, int height, int halo, std::int64_t max_pixels) {
  Cut best_x, best_y;
  std::int64_t least = -1;
  for (Cut x{width, 1, halo}; x.count <= width; ++x.count) {
    Cut y{height, 1, halo};
    while (y.count < height && x.window() * y.window() > max_pixels) ++y.count;
    const std::int64_t pixels = x.window() * y.window();
    const std::int64_t work = pixels * x.count * y.count;
    if (pixels <= max_pixels && (least < 0 || work < least)) {
      least = work;
      best_x = x;
      best_y = y;
    }
    // More columns than this only add halos.
    if (y.count == 1 && pixels <= max_pixels) break;
  }
  std::vector<Window> windows;
  if (least < 0) return windows;
  for (int row = 0; row < best_y.count; ++row)
    for (int column = 0; column < best_x.count; ++column) {
      const int x = best_x.core_begin(column), y = best_y.core_begin(row);
      windows.push_back({{best_x.window_begin(column), best_y.window_begin(row), static_cast<int>(best_x.window()),
                          static_cast<int>(best_y.window())},
                         {x, y, best_x.core_begin(column + 1) - x, best_y.core_begin(row + 1) - y}});
    }
  return windows;
}

}  // namespace hearth::models
