#pragma once
#include <cstdint>

namespace hearth::ir {

/// A workgroup's share of a sum over taps (ky, kx) and k, for matrix products (one tap, rows of `a` as pixels) and convolutions.
/// Workgroup memory holds a piece of the image, four k to a vector, and some rows of taps of the weights.
struct TiledShape {
  int pixels = 8, quads = 2;                        ///< outputs an invocation: pixels x 4 * quads channels
  int threads_x = 1, threads_y = 1, threads_c = 1;  ///< invocations along the pixels of a row, the rows, the channels
  int groups = 1;                                   ///< fours of k in workgroup memory at once
  int taps_x = 1, taps_y = 1;                       ///< taps of the kernel
  int rows = 1;                                     ///< rows of taps in workgroup memory at once
  std::int64_t stride_x = 1, stride_y = 1, dilation_x = 1, dilation_y = 1;
  bool interleaved = false;  ///< neighbouring pixels belong to neighbouring invocations; else to one
  std::int64_t k = 0;

  [[nodiscard]] int threads() const { return threads_x * threads_y * threads_c; }
  [[nodiscard]] int tile_x() const { return threads_x * pixels; }
  [[nodiscard]] int tile_channels() const { return threads_c * quads * 4; }
  /// Size of the image piece; the width is odd where invocations lie along y, so that they meet different banks.
  [[nodiscard]] int image_width() const;
  [[nodiscard]] int image_height() const { return static_cast<int>((threads_y - 1) * stride_y + (taps_y - 1) * dilation_y + 1); }
  /// Vectors from one group of k to the next.
  [[nodiscard]] int image_plane() const;
  /// Vectors of weights for an invocation's channels, a row of taps and a group of k; odd, for the banks.
  [[nodiscard]] int weight_length() const { return taps_x * 4 * quads | 1; }
  [[nodiscard]] std::uint32_t workgroup_bytes() const;
};

}  // namespace hearth::ir
