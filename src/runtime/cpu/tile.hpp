#pragma once
#include <cstddef>

/// The innermost loops of matrix products and convolutions, once for each instruction set. What these files share are plain
/// pointers: a template or inline function of std compiled for AVX-512 could be the copy that the linker keeps for everybody.
namespace hearth::runtime::cpu {

/// out[r][c] (+)= sum over segments s, steps i of rows[s * row_count + r][i * step] * panel[(s * length + i) * panel_row + c].
struct Tile {
  const float* const* rows = nullptr;
  std::ptrdiff_t segments = 1, length = 0;
  std::ptrdiff_t step = 1;
  const float* panel = nullptr;
  std::ptrdiff_t panel_row = 0;  ///< at least `width` floats are readable in every row
  float* out = nullptr;
  std::ptrdiff_t out_row = 0, out_column = 1;
  int row_count = 0;     ///< 1 to Kernels::rows
  int column_count = 0;  ///< 1 to Kernels::width
  bool accumulate = false;
};

/// out[c] = sum over taps t of taps[t][c] * weights[t * channels + c].
struct Depthwise {
  const float* const* taps = nullptr;
  std::ptrdiff_t tap_count = 0, channels = 0;
  const float* weights = nullptr;
  float* out = nullptr;
};

struct Kernels {
  const char* name;
  int rows;   ///< of a tile
  int width;  ///< of a tile and of a panel's row: two vectors
  void (*tile)(const Tile&);
  void (*depthwise)(const Depthwise&);
};

/// The best for this processor.
[[nodiscard]] const Kernels& kernels() noexcept;

#if defined(__x86_64__) && defined(__GNUC__)
#define HEARTH_X86_TILES 1
#endif

extern const Kernels kernels_base;
#if defined(HEARTH_X86_TILES)
extern const Kernels kernels_avx2;
extern const Kernels kernels_avx512;
#endif

}  // namespace hearth::runtime::cpu
