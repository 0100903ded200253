#pragma once
#include "ir/kernel.hpp"

#include <functional>

#include "runtime/cpu/thread_pool.hpp"

namespace hearth::runtime::cpu {

/// Called after the elements [begin, end) of the output are complete, on the thread that wrote them.
using Finish = std::function<void(std::int64_t begin, std::int64_t end)>;

/// 2D convolution of f32, see ir::Conv2d. `finish` may be null.
void convolve(const ir::Conv2d& conv, const float* input, const float* weight, float* out, ThreadPool& pool,
              const Finish& finish);

}  // namespace hearth::runtime::cpu
