#include "ir/iteration.hpp"

#include <vector>

#include "ir/expr.hpp"
#include "ir/simplify.hpp"

namespace hearth::ir {
namespace {

/// Puts `with[axis]` for every coordinate.
Expr substitute(const Expr& e, const std::vector<Expr>& with) {
  return rewrite(e, [&](const Node& leaf, std::span<const Expr>) {
    return leaf.op == Op::coordinate && leaf.index != flat_coordinate ? with[static_cast<std::size_t>(leaf.index)] : Expr();
  });
}

}  // namespace

Iteration iterate(const Kernel& kernel) {
  Iteration it;
  std::vector<Expr> with;
  int next = 0;
  const auto add = [&](std::int64_t dim, Shape& kept) {
    if (dim != 1) kept.push_back(dim);
    with.push_back(dim == 1 ? Expr::constant(0, DType::i32) : Expr::coordinate(next++));
  };
  for (std::int64_t dim : kernel.extent) add(dim, it.extent);
  for (std::int64_t dim : kernel.reduced) add(dim, it.reduced);
  if (it.extent.rank() + it.reduced.rank() > max_rank) {
    // Too many: the reduced axes become one, and the output's as well where
    // even that is not enough.
    const auto decode = [](const Shape& sizes, const Expr& flat, int axis) {
      return (flat / Expr(static_cast<int>(row_major_strides(sizes)[axis]))) % Expr(static_cast<int>(sizes[axis]));
    };
    const bool one_output = it.extent.rank() == max_rank;
    const Expr o = Expr::coordinate(0);
    const Expr r = Expr::coordinate(one_output ? 1 : it.extent.rank());
    const int outputs = it.extent.rank();
    for (Expr& e : with) {
      if (e.node()->op != Op::coordinate) continue;
      const int axis = e.node()->index;
      if (axis >= outputs)
        e = decode(it.reduced, r, axis - outputs);
      else if (one_output)
        e = decode(it.extent, o, axis);
    }
    if (one_output) it.extent = Shape{it.extent.elements()};
    it.reduced = Shape{it.reduced.elements()};
  }
  it.sizes = it.extent;
  for (std::int64_t dim : it.reduced) it.sizes.push_back(dim);
  it.value = simplify(substitute(kernel.value, with), it.sizes, it.extent.rank());
  if (kernel.epilogue) it.epilogue = simplify(substitute(kernel.epilogue, with), it.extent, it.extent.rank());
  return it;
}

}  // namespace hearth::ir
