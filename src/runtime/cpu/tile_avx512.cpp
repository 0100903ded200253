#include "runtime/cpu/tile.hpp"

// 32 registers of 16 floats.
#if defined(HEARTH_X86_TILES)
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx512f,avx2,fma"))), apply_to = function)
#else
#pragma GCC target("avx512f,avx2,fma")
#pragma GCC optimize("O3")
#endif

#define HEARTH_TILE_BYTES 64
#define HEARTH_TILE_ROWS 12

namespace hearth::runtime::cpu {
namespace {
#include "runtime/cpu/tile.inc"
}  // namespace

const Kernels kernels_avx512 = {"avx512", tile_rows, width, &any_tile, &depthwise};

}  // namespace hearth::runtime::cpu

#if defined(__clang__)
#pragma clang attribute pop
#endif
#endif
