#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "ir/host/loops_versions.hpp"

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O3", "no-trapping-math", "no-math-errno")
#endif

namespace hearth::ir::host {
namespace {
#include "ir/host/loops.inc"
}  // namespace

const Loops base_loops{find, find_load, find_gather, find_store, find_rows, find_columns};

}  // namespace hearth::ir::host
