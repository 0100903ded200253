#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "hearth/expr.hpp"
#include "hearth/op.hpp"
#include "hearth/shape.hpp"

/// What a server launches: the only thing that printers and the CPU interpreter
/// see.
namespace hearth::ir {

/// Batched matrix product out[b, m, n] = sum over k of a[b, m, k] * b[b, k, n],
/// operands through strides in elements.
struct Matmul {
  Shape batch;             ///< up to 6 sizes; strides 0 where an operand broadcasts
  Shape a_batch, b_batch;  ///< strides of the batch axes
  std::int64_t m = 0, n = 0, k = 0;
  std::int64_t a_offset = 0, a_row = 0, a_column = 0;  ///< strides along m and k
  std::int64_t b_offset = 0, b_row = 0, b_column = 0;  ///< strides along k and n
};

/// 2D convolution (cross-correlation), dense operands.
/// nhwc: input [n, h, w, c], weight [kh, kw, c / groups, o], output [n, oh, ow,
/// o]. nchw: input [n, c, h, w], weight [o, c / groups, kh, kw], output [n, o,
/// oh, ow].
struct Conv2d {
  bool nhwc = false;
  std::int64_t n = 0, h = 0, w = 0, in_channels = 0, out_channels = 0, kh = 0, kw = 0, oh = 0, ow = 0, groups = 1;
  std::array<std::int64_t, 2> stride{1, 1}, padding{0, 0}, dilation{1, 1};  ///< padding: at the low ends
};

struct Interpreted;
/// Where the CPU interpreter keeps what it made of a kernel.
struct InterpretedSlot {
  std::mutex mutex;
  std::shared_ptr<const Interpreted> program;
};

enum class Form : std::uint8_t {
  map,     ///< out[i] = value(i) over `extent`
  reduce,  ///< out[i] = combine over r of value(i, r), then `epilogue`
  matmul,  ///< bindings a, b, epilogue inputs, out
  conv2d,  ///< bindings input, weight, epilogue inputs, out
  source,  ///< the user's own WGSL
};

struct Kernel {
  std::string label;
  Form form = Form::map;
  /// Storage dtypes of the bindings in order, the output last. Every element
  /// index counts from the start of a binding.
  std::vector<DType> bindings;
  int outputs = 1;  ///< more than one for `source` only
  /// Compute dtypes of the launch parameters; each takes one 32-bit word, f64
  /// two (low word first).
  std::vector<DType> parameters;

  /// Sizes of the output, dense row-major; rank up to 8. matmul: batch + [m,
  /// n]; conv2d: as its layout says.
  Shape extent;
  /// reduce: sizes of the reduced axes; their coordinates follow the output's
  /// (coordinate(extent.rank() + j)).
  Shape reduced;
  Combine combine = Combine::sum;
  /// map, reduce: the value. Loads have one coordinate, the flat element index
  /// in the binding (i32). No `argument` nodes.
  Expr value;
  /// reduce, matmul, conv2d: applied to the total, which is argument(0) in the
  /// accumulator's dtype; may load from further bindings by output coordinates.
  /// Null: the total itself.
  Expr epilogue;
  Matmul matmul;
  Conv2d conv2d;

  std::string source, entry_point;  ///< Form::source
  /// Form::source: how many are launched. Nothing compiled depends on it, so it is no part of what makes kernels the same.
  std::array<std::uint32_t, 3> workgroups{1, 1, 1};

  /// Structural hash over everything but the label and the workgroups; set by `finish`.
  std::uint64_t hash = 0;
  /// Filled at the first run on the CPU; made by `finish`.
  std::shared_ptr<InterpretedSlot> interpreted;
};

using KernelRef = std::shared_ptr<const Kernel>;

/// Sets the hash. Every kernel passes through here once.
[[nodiscard]] KernelRef finish(Kernel kernel);

/// Same kernel in everything but the label and the workgroups.
[[nodiscard]] bool same(const Kernel& a, const Kernel& b);

}  // namespace hearth::ir
