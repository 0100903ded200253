#pragma once
#include <functional>
#include <set>
#include <string>

#include "ir/wgsl_parts.hpp"

namespace hearth::ir {

/// Turns the totals of a matmul or conv2d kernel into stored elements: epilogue, conversion, store. By one element, or by four
/// neighbours along the last axis, which then also reads the epilogue's inputs by four where they lie in order.
class Outputs {
 public:
  /// `fours`: four() will be used; can_do_fours must hold.
  Outputs(WgslModule& module, bool fours);

  /// Whether outputs can be stored four at once.
  [[nodiscard]] static bool can_do_fours(const Kernel& kernel);
  /// The dtype of the totals.
  [[nodiscard]] static DType accumulator(const Kernel& kernel) { return compute_dtype(kernel.bindings.front()); }

  /// Text of a call that gives the stored value of flat element `o` (i32) with the coordinate `last` (i32) along the last axis.
  std::string one(const std::string& o, const std::string& last, const std::string& total);
  /// The same for four elements from `o` on, a multiple of four; `total` is a vec4.
  std::string four(const std::string& o, const std::string& last, const std::string& total);
  /// Statements that store what one and four gave.
  std::string store_one(const std::string& o, const std::string& value);
  std::string store_four(const std::string& o, const std::string& value);

 private:
  void declare_finish();

  WgslModule& module_;
  const Kernel& kernel_;
  Expr epilogue_;
  bool fours_;
  std::set<int> flat_, last_;  ///< bindings read by four, at the output's own place or along the last axis
};

/// The kernel of last resort: `total` (a WGSL expression of `o`, a flat index, i32) for one element an invocation, or the four of
/// a word for packed dtypes.
[[nodiscard]] Expected<Wgsl> print_one_each(WgslModule& module, const std::string& total);

}  // namespace hearth::ir
