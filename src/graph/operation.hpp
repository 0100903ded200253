#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "hearth/tensor.hpp"
#include "ir/kernel.hpp"

namespace hearth::graph {

class Context;
struct Operation;

/// An operand: a tensor's value with its history, or a number that changes without a new kernel.
struct Operand {
  Ref<Node> node;
  Ref<Tape> tape;
  double number = 0;  ///< used when node is null
  DType dtype = DType::f32;

  Operand() = default;
  Operand(const Tensor& t);  // NOLINT: tensors are operands
  Operand(double n, DType d) : number(n), dtype(d) {}
  [[nodiscard]] bool is_number() const noexcept { return !node; }
};

/// What an operation computes, in terms of its inputs.
/// map and reduce: `value` over `argument(i)` (elementwise, broadcast) and `load(i, coordinates)`, typed by compute_dtype(input);
/// a number operand appears as argument(i) too.
struct Body {
  ir::Form form = ir::Form::map;
  Expr value;
  Shape reduced;  ///< reduce: sizes of the axes that follow the output's
  Combine combine = Combine::sum;
  Expr epilogue;           ///< reduce: of argument(0) = the total
  bool view = false;       ///< a single load and nothing else: no data moves when strides can say it
  bool reads_once = true;  ///< every input element is read about once: producers may be computed in place
  ir::Matmul matmul;       ///< sizes only; strides come from the operands
  ir::Conv2d conv2d;
};

/// A family of operations: how one is lowered and what its gradient is. One constant object per op; executors never ask which.
struct Definition {
  const char* name = "";
  Body (*lower)(const Operation& operation) = nullptr;
  /// One tensor per input (null: none), in terms of public functions; `needed[i]` tells which are used.
  std::vector<Tensor> (*gradient)(const Operation& operation, const Tensor& output, const Tensor& gradient,
                                  std::span<const bool> needed) = nullptr;
};

/// A value: what to compute, from what, with the output's shape and dtype already known and checked.
struct Operation {
  const Definition* definition = nullptr;
  std::vector<Operand> inputs;
  Shape shape;
  DType dtype = DType::f32;
  /// Sizes, axes and flags that `lower` reads; part of the kernel's key.
  std::vector<std::int64_t> attributes;
  const void* spec = nullptr;         ///< the UnaryOp, BinaryOp or ReduceOp block; part of the key
  std::shared_ptr<const void> extra;  ///< anything else a definition keeps (a user's kernel, an expression)
  std::uint64_t extra_hash = 0;
  const char* label = nullptr;  ///< how kernels and errors call it, when not by the definition's name
  [[nodiscard]] const char* name() const noexcept { return label ? label : definition->name; }
};

}  // namespace hearth::graph
