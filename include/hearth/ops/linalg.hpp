#pragma once
#include "hearth/tensor.hpp"

namespace hearth {

/// Matrix product over the last two axes; leading axes broadcast. An operand with one axis is a row (lhs) or a column (rhs), and
/// that axis is not in the result, as in NumPy.
/// Shapes: lhs [..., m, k], rhs [..., k, n] -> [..., m, n]. Dtypes are promoted; f16 accumulates in f32.
/// Throws Error(shape_mismatch) when the inner sizes differ, Error(dtype_mismatch) for booleans.
[[nodiscard]] Tensor matmul(const Tensor& lhs, const Tensor& rhs);
/// Sum of the products of two tensors with one axis of the same size: rank 0.
[[nodiscard]] Tensor dot(const Tensor& lhs, const Tensor& rhs);
/// Products of all pairs: [m] and [n] -> [m, n].
[[nodiscard]] Tensor outer(const Tensor& lhs, const Tensor& rhs);

}  // namespace hearth
