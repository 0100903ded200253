#pragma once
#include "hearth/dtype.hpp"
#include "hearth/op.hpp"

/// Which dtype an op computes in and which one it gives.
namespace hearth::detail {

struct ResolvedDType {
  DType compute = DType::f32;  ///< of the expression
  DType result = DType::f32;   ///< of the output, as stored
};

/// For inputs that were promoted to `input`. Throws Error(dtype_mismatch) naming `operation`.
[[nodiscard]] ResolvedDType resolve(OpDTypes kind, DType input, const char* operation);

/// The same for a reduction: whole sums and products are kept in 32 bits, as those of bytes and truth values would wrap at once.
[[nodiscard]] ResolvedDType resolve(const ReduceOp& op, DType input);

/// The dtype of a number beside a tensor of `tensor`: the tensor's own; f32 for a fraction beside integers, i32 for a whole
/// number beside booleans. Throws Error(invalid_argument) when the tensor's integers do not reach the number.
[[nodiscard]] DType number_dtype(DType tensor, double number, const char* operation);

}  // namespace hearth::detail
