#include <string>
#include <unordered_map>

#include "hearth/error.hpp"
#include "ir/expr.hpp"

namespace hearth {
namespace {

using ir::Node;
using ir::Op;

/// Sum and product where a null expression is zero: a zero derivative never
/// meets an infinity.
Expr plus(const Expr& a, const Expr& b) { return a && b ? a + b : a ? a : b; }
Expr times(const Expr& d, const Expr& factor) { return d ? d * factor : d; }

[[noreturn]] void no_gradient(const char* op) {
  throw Error(ErrorCode::unsupported,
              std::string("derivative: op '") + op + "' has neither a gradient nor a forward expression.");
}

/// d forward / d argument(input), at the operands.
Expr derivative_of_forward(const Expr& forward, int input, std::span<const Expr> operands) {
  return ir::rewrite(derivative(forward, input), [&](const Node& leaf, std::span<const Expr>) {
    return leaf.op == Op::argument ? operands[static_cast<std::size_t>(leaf.index)] : Expr();
  });
}

/// Derivative of a node, given those of its operands; null is zero. One pass
/// forward: linear in the number of nodes.
Expr rule(const Node& node, const Expr& y, std::span<const Expr> d) {
  const auto x = [&](std::size_t i) -> const Expr& { return node.operands[i]; };
  const auto zero = [&] { return Expr::constant(0, node.dtype); };
  switch (node.op) {
    case Op::neg: return d[0] ? -d[0] : d[0];
    case Op::cast: return d[0] ? cast(d[0], node.dtype) : d[0];
    case Op::add: return plus(d[0], d[1]);
    case Op::sub: return d[0] && d[1] ? d[0] - d[1] : d[1] ? -d[1] : d[0];
    case Op::mul: return plus(times(d[0], x(1)), times(d[1], x(0)));
    case Op::div: {
      const Expr top = d[0] && d[1] ? d[0] - y * d[1] : d[1] ? -(y * d[1]) : d[0];
      return top / x(1);
    }
    case Op::rem: {  // y = a - trunc(a / b) b
      if (!d[1]) return d[0];
      const Expr part = (x(0) - y) / x(1) * d[1];
      return d[0] ? d[0] - part : -part;
    }
    case Op::max: return select(x(1) < x(0), d[0] ? d[0] : zero(), d[1] ? d[1] : zero());
    case Op::min: return select(x(0) < x(1), d[0] ? d[0] : zero(), d[1] ? d[1] : zero());
    case Op::select: return select(x(0), d[1] ? d[1] : zero(), d[2] ? d[2] : zero());
    case Op::native: {
      const UnarySpec& spec = node.unary->spec;
      if (spec.grad) return times(d[0], spec.grad(x(0), y));
      if (!spec.forward) no_gradient(node.unary->name);
      return times(d[0], derivative_of_forward(spec.forward(Expr::argument(0, x(0).dtype())), 0, node.operands));
    }
    case Op::native_binary: {
      const BinarySpec& spec = node.binary->spec;
      const auto partial = [&](int input, Expr (*grad)(Expr, Expr, Expr)) {
        if (grad) return grad(x(0), x(1), y);
        if (!spec.forward) no_gradient(node.binary->name);
        return derivative_of_forward(spec.forward(Expr::argument(0, x(0).dtype()), Expr::argument(1, x(1).dtype())), input,
                                     node.operands);
      };
      return plus(d[0] ? times(d[0], partial(0, spec.grad_a)) : Expr(), d[1] ? times(d[1], partial(1, spec.grad_b)) : Expr());
    }
    default: return {};
  }
}

}  // namespace

Expr derivative(const Expr& y, int input) {
  std::unordered_map<const Node*, Expr> done;
  for (const Node* node : ir::topological(y)) {
    Expr d;
    if (is_float(node->dtype)) {
      const bool input_leaf = node->op == Op::argument || node->op == Op::load;
      std::vector<Expr> operands;
      bool any = false;
      for (const Expr& operand : node->operands) {
        operands.push_back(done.at(operand.node().get()));
        any |= static_cast<bool>(operands.back());
      }
      if (input_leaf && node->index == input) d = Expr::constant(1, node->dtype);
      if (!input_leaf && any) d = rule(*node, Expr(Ref<Node>(const_cast<Node*>(node))), operands);
    }
    done.emplace(node, std::move(d));
  }
  const Expr& result = done.at(y.node().get());
  return result ? result : Expr::constant(0, is_float(y.dtype()) ? y.dtype() : DType::f32);
}

}  // namespace hearth
