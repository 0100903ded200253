#pragma once
#include <cstdint>

#include "ir/kernel.hpp"
#include "runtime/cpu/thread_pool.hpp"

/// Products and convolutions of dtypes without an own kernel, through Eigen: f64 (the reference), i32 and u32 (both as u32: the
/// bits are the same, and they wrap).
namespace hearth::runtime::cpu {

template <typename T>
struct Matrices {
  std::int64_t m = 0, n = 0, k = 0;
  const T* a = nullptr;
  std::int64_t a_row = 0, a_column = 0;
  const T* b = nullptr;
  std::int64_t b_row = 0, b_column = 0;
  T* out = nullptr;
};

void multiply(const Matrices<double>& matrices, ThreadPool& pool);
void multiply(const Matrices<std::uint32_t>& matrices, ThreadPool& pool);

void convolve(const ir::Conv2d& conv, const double* input, const double* weight, double* out, ThreadPool& pool);
void convolve(const ir::Conv2d& conv, const std::uint32_t* input, const std::uint32_t* weight, std::uint32_t* out,
              ThreadPool& pool);

}  // namespace hearth::runtime::cpu
