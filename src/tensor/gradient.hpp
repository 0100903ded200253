#pragma once
#include <span>
#include <vector>

#include "graph/operation.hpp"

namespace hearth::detail {

/// The gradient of an elementwise operation for its input `input`, from `slope`: d output / d input over argument(i) = input i
/// and argument(n) = the output, n inputs. Summed to the input's shape. Null when it is 0 everywhere.
[[nodiscard]] Tensor elementwise_gradient(const Expr& slope, const graph::Operation& operation, const Tensor& output,
                                          const Tensor& gradient, int input);

/// The tensor behind an operand.
[[nodiscard]] inline Tensor as_tensor(const graph::Operand& operand) { return {operand.node, operand.tape}; }

}  // namespace hearth::detail
