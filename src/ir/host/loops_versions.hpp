#pragma once
#include "ir/host/loops.hpp"

namespace hearth::ir::host {

extern const Loops base_loops;
#if defined(__x86_64__) && defined(__GNUC__)
extern const Loops avx2_loops;
extern const Loops avx512_loops;
#endif

}  // namespace hearth::ir::host
