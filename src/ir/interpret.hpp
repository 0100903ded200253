#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "ir/kernel.hpp"

namespace hearth::ir {

/// Runs `body(begin, end)` over [0, count) in pieces of at least `grain`, on as
/// many threads as there are; returns when all are done.
using ParallelFor =
    std::function<void(std::int64_t count, std::int64_t grain, const std::function<void(std::int64_t, std::int64_t)>& body)>;

/// Runs a map or reduce kernel on host memory: `bindings` point at the
/// bindings' starts, the output last. Values are computed over blocks of
/// elements, so that the loops vectorise.
void interpret(const Kernel& kernel, std::span<std::byte* const> bindings, std::span<const std::uint32_t> parameters,
               const ParallelFor& parallel);

}  // namespace hearth::ir
