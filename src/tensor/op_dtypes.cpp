#include "tensor/op_dtypes.hpp"

#include <fmt/format.h>

#include <cmath>

#include "hearth/error.hpp"

namespace hearth::detail {

ResolvedDType resolve(OpDTypes kind, DType input, const char* operation) {
  switch (kind) {
    case OpDTypes::floats: {
      const DType result = is_float(input) ? input : DType::f32;
      return {compute_dtype(result), result};
    }
    case OpDTypes::numbers: {
      // Arithmetic on truth values counts them.
      const DType result = input == DType::boolean ? DType::i32 : input;
      return {compute_dtype(result), result};
    }
    case OpDTypes::all: return {compute_dtype(input), input};
    case OpDTypes::integers:
      if (is_float(input))
        throw Error(ErrorCode::dtype_mismatch,
                    fmt::format("{}: the operands are {}, it takes integers and booleans.", operation, to_string(input)));
      return {compute_dtype(input), input};
    case OpDTypes::predicate: return {compute_dtype(input), DType::boolean};
    case OpDTypes::float_predicate: return {is_float(input) ? compute_dtype(input) : DType::f32, DType::boolean};
  }
  return {};
}

ResolvedDType resolve(const ReduceOp& op, DType input) {
  ResolvedDType dtype = resolve(op.spec.dtypes, input, op.name);
  const bool grows = op.spec.combine == Combine::sum || op.spec.combine == Combine::prod;
  if (grows && is_integer(dtype.result)) dtype.result = dtype.compute;
  return dtype;
}

DType number_dtype(DType tensor, double number, const char* operation) {
  if (is_float(tensor)) return tensor;
  if (std::trunc(number) != number || std::isinf(number)) return DType::f32;
  struct Range {
    double low, high;
  };
  const Range range = [tensor]() -> Range {
    switch (tensor) {
      case DType::u8: return {0, 255};
      case DType::i8: return {-128, 127};
      case DType::u32: return {0, 4294967295.0};
      default: return {-2147483648.0, 2147483647.0};
    }
  }();
  if (number < range.low || number > range.high)
    throw Error(ErrorCode::invalid_argument, fmt::format("{}: the number {} is outside {}, which reaches from {} to {}.",
                                                         operation, number, to_string(tensor), range.low, range.high));
  return tensor == DType::boolean ? DType::i32 : tensor;
}

}  // namespace hearth::detail
