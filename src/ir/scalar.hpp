#pragma once
#include "ir/expr.hpp"

namespace hearth::ir {

/// One step of `node`'s kind on scalars held in doubles: integers exactly,
/// booleans as 0 and 1. `type`: the operands' dtype, `result`: the result's;
/// floats are rounded to f32 where `result` is f32. Not for leaves and natives.
[[nodiscard]] double apply_scalar(Op op, DType type, DType result, double a, double b = 0, double c = 0);

/// Conversion with the rules of `cast`, between compute dtypes.
[[nodiscard]] double convert_scalar(double value, DType from, DType to);

}  // namespace hearth::ir
