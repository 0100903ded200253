#pragma once
#include <cstdint>
#include <vector>

#include "graph/node.hpp"
#include "ir/simplify.hpp"

namespace hearth::graph {

/// Turns the body of an operation on given inputs into the expressions of a kernel: every input becomes a load at a flat element
/// index of a binding (one binding per distinct allocation), every number and view offset a launch parameter. Axes of size 1 are
/// dropped from the output.
class Lowering {
 public:
  struct Parameter {
    int input;
    bool is_offset;
    DType dtype;
  };
  /// `operands`: inputs that are bindings of their own, in order, before all others.
  Lowering(const Operation& operation, const Shape& reduced, int operands = 0);

  [[nodiscard]] Expr value(const Expr& body);
  /// argument(0) is the total and stays; argument(i + 1) is input i.
  [[nodiscard]] Expr epilogue(const Expr& body);
  /// The flat element index that a view's only load reads, without the base's offset, over the operation's own axes.
  [[nodiscard]] Expr view_index(const Expr& body) const;

  [[nodiscard]] const Shape& extent() const noexcept { return extent_; }
  [[nodiscard]] const std::vector<int>& binding_inputs() const noexcept { return binding_inputs_; }
  [[nodiscard]] const std::vector<Parameter>& parameters() const noexcept { return parameters_; }
  /// Adds the bindings' and parameters' dtypes.
  void bind(ir::Kernel& kernel) const;

 private:
  [[nodiscard]] Expr load_input(int input, std::span<const Expr> coordinates);
  [[nodiscard]] Expr at_output(int input);
  [[nodiscard]] Expr number(int input);
  [[nodiscard]] Expr offset(int input);
  [[nodiscard]] Expr finish(const Expr& e) const;
  [[nodiscard]] int binding(int input);

  const Operation& operation_;
  int operands_;
  Shape extent_;            ///< the output without axes of size 1
  Shape extents_;           ///< extent_ and the reduced axes
  std::vector<Expr> axes_;  ///< coordinates of the operation's axes and the reduced ones in terms of the kernel's
  std::vector<int> binding_inputs_;
  std::vector<Parameter> parameters_;
};

/// sum of strides * coordinates.
[[nodiscard]] Expr flat_index(std::span<const Expr> coordinates, const Shape& strides);
[[nodiscard]] bool is_dense(const Shape& shape, const Shape& strides);
/// 32-bit words of a launch parameter; gives their number.
std::size_t encode_parameter(double value, DType dtype, std::uint32_t* words);
/// A reduction over no elements is its identity.
[[nodiscard]] Body empty_reduction(const Body& body);
/// An operation that copies its input.
[[nodiscard]] Operation copy_of(const Operand& input);

}  // namespace hearth::graph
