#include "ir/host/loops.hpp"

#include "ir/host/loops_versions.hpp"

namespace hearth::ir::host {

const Loops& loops() {
#if defined(__x86_64__) && defined(__GNUC__)
  static const Loops& best = [&]() -> const Loops& {
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512vl"))
      return avx512_loops;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return avx2_loops;
    return base_loops;
  }();
  return best;
#else
  return base_loops;
#endif
}

}  // namespace hearth::ir::host
