#pragma once
#include <span>

#include "graph/operation.hpp"

namespace hearth::graph {

/// Runs an operation through the executors of its inputs' device (`device` when it has no tensor among its inputs) and gives its
/// value. Shape and dtype are set already. Throws Error(wrong_device) when inputs differ in device, Error(wrong_thread),
/// Error(unsupported) for a dtype that the device lacks (f16 without the feature, f64 on a GPU).
[[nodiscard]] Tensor execute(Operation operation, const Device& device = {});

/// An elementwise operation from an expression over `argument(i)`, inputs broadcast to `shape`; differentiable.
[[nodiscard]] Tensor elementwise(const char* name, const Expr& value, std::span<const Operand> inputs, const Shape& shape,
                                 DType dtype, const Device& device = {});

/// Sums `x` over the axes that broadcasting from `shape` added, so that the result has `shape`: the gradient of broadcasting.
[[nodiscard]] Tensor sum_to(const Tensor& x, const Shape& shape);

}  // namespace hearth::graph
