#include "runtime/cpu/tile.hpp"

// For the processor that the whole library is compiled for: SSE2, NEON, wasm SIMD.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O3")
#endif

#define HEARTH_TILE_BYTES 16
#define HEARTH_TILE_ROWS 6

namespace hearth::runtime::cpu {
namespace {
#include "runtime/cpu/tile.inc"
}  // namespace

const Kernels kernels_base = {"base", tile_rows, width, &any_tile, &depthwise};

const Kernels& kernels() noexcept {
#if defined(HEARTH_X86_TILES)
  static const Kernels& best = __builtin_cpu_supports("avx512f")                                 ? kernels_avx512
                               : __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? kernels_avx2
                                                                                                 : kernels_base;
  return best;
#else
  return kernels_base;
#endif
}

}  // namespace hearth::runtime::cpu
