#pragma once
#include <cstdint>
#include <vector>

namespace hearth::models {

/// A rectangle of pixels: [x, x + width) x [y, y + height).
struct Rect {
  int x = 0;
  int y = 0;
  int width = 0;
  int height = 0;
  friend bool operator==(const Rect&, const Rect&) = default;
};

/// A part of a picture that is computed at once: `core` is kept, `window` is what has to be read for it.
struct Window {
  Rect window;
  Rect core;
};

/// Cuts a picture into windows of one size (one set of kernels serves all) with at most `max_pixels` pixels, so that the least is
/// computed twice. The cores tile the picture; each window covers its core and `halo` pixels around it, but for the picture's
/// own border. Empty when not even a core of one pixel fits.
[[nodiscard]] std::vector<Window> cut_into_windows(int width, int height, int halo, std::int64_t max_pixels);

}  // namespace hearth::models
