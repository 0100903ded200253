#pragma once
#include <cstdint>

#include "hearth/dtype.hpp"
#include "hearth/op.hpp"
#include "ir/expr.hpp"

/// The inner loops of the CPU interpreter. Registers are blocks of f32, f64,
/// i32 or u32; booleans are u32, 0 or 1.
namespace hearth::ir::host {

/// dst[i] = op(a[i], b[i], c[i]) for i < count; unused operands are null.
using Loop = void (*)(void* dst, const void* a, const void* b, const void* c, int count);
/// dst[i] = converted source[i * stride]; strides in elements.
using LoadLoop = void (*)(void* dst, const void* source, std::int64_t stride, int count);
/// dst[i] = converted source[index[i]].
using GatherLoop = void (*)(void* dst, const void* source, const std::int32_t* index, int count);
/// Accumulators are double for floats, else of the values' own type.
/// rows: total[r] = combine(total[r], values[r * length ...]); columns:
/// total[i] = combine(total[i], values[i]).
using RowsLoop = void (*)(void* totals, const void* values, int rows, int length);
using ColumnsLoop = void (*)(void* totals, const void* values, int count);

struct Loops {
  Loop (*find)(Op op, DType operand, DType result);
  LoadLoop (*find_load)(DType storage);
  GatherLoop (*find_gather)(DType storage);
  Loop (*find_store)(DType storage);  ///< dst in storage, a in the compute dtype
  RowsLoop (*find_rows)(Combine combine, DType type);
  ColumnsLoop (*find_columns)(Combine combine, DType type);
};

/// The widest version that this processor runs.
[[nodiscard]] const Loops& loops();

}  // namespace hearth::ir::host
