#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "ir/host/loops_versions.hpp"

#if defined(__x86_64__) && defined(__GNUC__)
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2,fma,f16c"))), apply_to = function)
#else
#pragma GCC target("avx2,fma,f16c")
#pragma GCC optimize("O3", "no-trapping-math", "no-math-errno")
#endif

namespace hearth::ir::host {
namespace {
#include "ir/host/loops.inc"
}  // namespace

const Loops avx2_loops{find, find_load, find_gather, find_store, find_rows, find_columns};

}  // namespace hearth::ir::host

#if defined(__clang__)
#pragma clang attribute pop
#endif
#endif
