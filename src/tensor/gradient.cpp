#include "tensor/gradient.hpp"

#include "graph/execute.hpp"
#include "ir/expr.hpp"

namespace hearth::detail {

Tensor elementwise_gradient(const Expr& slope, const graph::Operation& operation, const Tensor& output, const Tensor& gradient,
                            int input) {
  const Tensor x = as_tensor(operation.inputs[static_cast<std::size_t>(input)]);
  if (slope.node()->op == ir::Op::literal) {
    if (slope.node()->value == 0) return {};
    if (slope.node()->value == 1 && gradient.dtype() == x.dtype() && gradient.shape() == operation.shape)
      return graph::sum_to(gradient, x.shape());
  }
  std::vector<graph::Operand> operands;
  operands.reserve(operation.inputs.size() + 2);
  operands.assign(operation.inputs.begin(), operation.inputs.end());
  operands.emplace_back(output);
  operands.emplace_back(gradient);
  const int last = static_cast<int>(operands.size()) - 1;
  const Expr value = slope * cast(Expr::argument(last, compute_dtype(gradient.dtype())), slope.dtype());
  return graph::sum_to(
      graph::elementwise("gradient", cast(value, compute_dtype(x.dtype())), operands, operation.shape, x.dtype()), x.shape());
}

}  // namespace hearth::detail
