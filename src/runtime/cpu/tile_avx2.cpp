#include "runtime/cpu/tile.hpp"

// 16 registers of 8 floats.
#if defined(HEARTH_X86_TILES)
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2,fma"))), apply_to = function)
#else
#pragma GCC target("avx2,fma")
#pragma GCC optimize("O3")
#endif

#define HEARTH_TILE_BYTES 32
#define HEARTH_TILE_ROWS 6

namespace hearth::runtime::cpu {
namespace {
#include "runtime/cpu/tile.inc"
}  // namespace

const Kernels kernels_avx2 = {"avx2", tile_rows, width, &any_tile, &depthwise};

}  // namespace hearth::runtime::cpu

#if defined(__clang__)
#pragma clang attribute pop
#endif
#endif
