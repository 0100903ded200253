#pragma once
#include <cstdint>

#include "runtime/cpu/thread_pool.hpp"

namespace hearth::runtime::cpu {

/// out[i * n + j] = sum over k of a[i * a_row + k * a_column] * b[k * b_row + j * b_column], one matrix.
struct Gemm {
  std::int64_t m = 0, n = 0, k = 0;
  const float* a = nullptr;
  std::int64_t a_row = 0, a_column = 0;
  const float* b = nullptr;
  std::int64_t b_row = 0, b_column = 0;
  float* out = nullptr;
};

void multiply(const Gemm& gemm, ThreadPool& pool);

}  // namespace hearth::runtime::cpu
