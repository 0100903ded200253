#include "tensor/gradient.hpp"

#include <array>

#include "graph/execute.hpp"
#include "ir/expr.hpp"

namespace hearth::detail {

namespace {

/// The most operands of an elementwise operation here, with its output and gradient.
constexpr int max_operands = 8;

}  // namespace

Tensor elementwise_gradient(const Expr& slope, const graph::Operation& operation, const Tensor& output, const Tensor& gradient,
                            int input) {
  const int count = static_cast<int>(operation.inputs.size());
  const Tensor x = as_tensor(operation.inputs[static_cast<std::size_t>(input)]);
  if (slope.node()->op == ir::Op::literal) {
    if (slope.node()->value == 0) return {};
    if (slope.node()->value == 1 && gradient.dtype() == x.dtype() && gradient.shape() == operation.shape)
      return graph::sum_to(gradient, x.shape());
  }
  const Expr value = slope * cast(Expr::argument(count + 1, compute_dtype(operation.dtype)), slope.dtype());

  // Only what the expression uses becomes an input: the rest need not be kept in memory, nor take a binding.
  std::array<int, max_operands> place;
  place.fill(-1);
  ir::visit(value, [&](const ir::Node& node) {
    if (node.op == ir::Op::argument) place[static_cast<std::size_t>(node.index)] = 0;
  });
  std::vector<graph::Operand> inputs;
  inputs.reserve(max_operands);
  for (int i = 0; i < count + 2; ++i) {
    if (place[static_cast<std::size_t>(i)] < 0) continue;
    place[static_cast<std::size_t>(i)] = static_cast<int>(inputs.size());
    if (i < count)
      inputs.push_back(operation.inputs[static_cast<std::size_t>(i)]);
    else
      inputs.emplace_back(i == count ? output : gradient);
  }
  const Expr compact = ir::rewrite(value, [&](const ir::Node& node, std::span<const Expr>) {
    return node.op == ir::Op::argument ? Expr::argument(place[static_cast<std::size_t>(node.index)], node.dtype) : Expr();
  });
  const Tensor full = graph::elementwise("gradient", cast(compact, compute_dtype(x.dtype())), inputs, operation.shape, x.dtype(),
                                         gradient.device());
  return graph::sum_to(full, x.shape());
}

}  // namespace hearth::detail
