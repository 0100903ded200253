#include <cstring>
#include <functional>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "base/hash.hpp"
#include "ir/expr.hpp"
#include "ir/scalar.hpp"

/// Passes over the distinct nodes of an expression. None of them recurses:
/// chains may be thousands of nodes deep.
namespace hearth::ir {
namespace {

using NodeIndex = std::unordered_map<const Node*, int>;

/// Operands of `node`, taken from `values` that are held by each node's place
/// in topological order.
template <typename T>
std::vector<T> gather(const Node& node, const NodeIndex& place, const std::vector<T>& values) {
  std::vector<T> operands;
  operands.reserve(node.operands.size());
  for (const Expr& operand : node.operands) operands.push_back(values[static_cast<std::size_t>(place.at(operand.node().get()))]);
  return operands;
}

bool shallow_same(const Node& a, const Node& b) {
  return a.op == b.op && a.dtype == b.dtype && a.index == b.index && a.unary == b.unary && a.binary == b.binary &&
         std::memcmp(&a.value, &b.value, sizeof a.value) == 0 && a.operands.size() == b.operands.size();
}

struct PairHash {
  std::size_t operator()(const std::pair<const Node*, const Node*>& p) const noexcept {
    return base::hash_combine(reinterpret_cast<std::uintptr_t>(p.first),
                              std::uint64_t(reinterpret_cast<std::uintptr_t>(p.second)));
  }
};

bool is_leaf(Op op) { return op == Op::argument || op == Op::load || op == Op::coordinate || op == Op::parameter; }

double native_value(const Node& node, std::span<const double> x) {
  if (node.op == Op::native) {
    const Native& native = node.unary->spec.native;
    if (native.f64) return native.f64(x[0]);
    if (native.f32) return native.f32(static_cast<float>(x[0]));
    return node.unary->spec.reference ? node.unary->spec.reference(x[0]) : 0;
  }
  const NativeBinary& native = node.binary->spec.native;
  if (native.f64) return native.f64(x[0], x[1]);
  if (native.f32) return native.f32(static_cast<float>(x[0]), static_cast<float>(x[1]));
  return node.binary->spec.reference ? node.binary->spec.reference(x[0], x[1]) : 0;
}

bool has_to_expand(const Node& node, Target target) {
  const auto test = [&](const auto& spec) {
    return spec.forward && !(target == Target::wgsl ? bool(spec.native.wgsl) : bool(spec.native.f32));
  };
  if (node.op == Op::native) return test(node.unary->spec);
  return node.op == Op::native_binary && test(node.binary->spec);
}

DType widened(DType dtype) { return dtype == DType::f32 ? DType::f64 : dtype; }

double value_of(const Node& node, const std::vector<double>& x, const Values& values) {
  const auto index = static_cast<std::size_t>(node.index);
  switch (node.op) {
    case Op::literal: return node.value;
    case Op::argument: return values.arguments[index];
    case Op::parameter: return values.parameters[index];
    case Op::coordinate: return node.index == flat_coordinate ? values.flat : values.coordinates[index];
    case Op::load: return values.load(node.index, x);
    case Op::native:
    case Op::native_binary: return native_value(node, x);
    case Op::bitcast: return apply_scalar(node.op, node.operands[0].dtype(), node.dtype, x[0]);
    default: {
      const DType type = node.operands[node.op == Op::select ? 1 : 0].dtype();
      return apply_scalar(node.op, widened(type), widened(node.dtype), x[0], x.size() > 1 ? x[1] : 0, x.size() > 2 ? x[2] : 0);
    }
  }
}

}  // namespace

std::vector<const Node*> topological(const Expr& e) {
  std::vector<const Node*> order;
  if (!e) return order;
  std::unordered_set<const Node*> seen;
  std::vector<std::pair<const Node*, std::size_t>> stack{{e.node().get(), 0}};
  seen.insert(e.node().get());
  while (!stack.empty()) {
    auto& [node, next] = stack.back();
    if (next == node->operands.size()) {
      order.push_back(node);
      stack.pop_back();
      continue;
    }
    const Node* operand = node->operands[next++].node().get();
    if (seen.insert(operand).second) stack.emplace_back(operand, 0);
  }
  return order;
}

void visit(const Expr& e, const std::function<void(const Node&)>& visit) {
  for (const Node* node : topological(e)) visit(*node);
}

int node_count(const Expr& e) { return static_cast<int>(topological(e).size()); }

bool same(const Expr& a, const Expr& b) {
  if (a.node() == b.node()) return true;
  if (!a || !b || hash(a) != hash(b)) return false;
  using Pair = std::pair<const Node*, const Node*>;
  std::vector<Pair> stack{{a.node().get(), b.node().get()}};
  std::unordered_set<Pair, PairHash> seen;
  while (!stack.empty()) {
    const auto [x, y] = stack.back();
    stack.pop_back();
    if (x == y) continue;
    if (x->hash != y->hash || !shallow_same(*x, *y)) return false;
    if (!seen.insert({x, y}).second) continue;
    for (std::size_t i = 0; i < x->operands.size(); ++i)
      stack.emplace_back(x->operands[i].node().get(), y->operands[i].node().get());
  }
  return true;
}

Expr rewrite(const Expr& e, const std::function<Expr(const Node&, std::span<const Expr> operands)>& leaf) {
  if (!e) return e;
  const std::vector<const Node*> order = topological(e);
  NodeIndex place;
  place.reserve(order.size());
  std::vector<Expr> done;
  done.reserve(order.size());
  for (const Node* node : order) {
    place.emplace(node, static_cast<int>(done.size()));
    const std::vector<Expr> operands = gather(*node, place, done);
    Expr result;
    if (is_leaf(node->op)) result = leaf(*node, operands);
    if (!result) {
      bool changed = false;
      for (std::size_t i = 0; i < operands.size(); ++i) changed |= operands[i].node() != node->operands[i].node();
      result = changed ? rebuild(*node, operands) : Expr(Ref<Node>(const_cast<Node*>(node)));
    }
    done.push_back(std::move(result));
  }
  return done.back();
}

Expr expand(const Expr& e, Target target) {
  Expr current = e;
  for (;;) {
    const std::vector<const Node*> order = topological(current);
    NodeIndex place;
    place.reserve(order.size());
    std::vector<Expr> done;
    done.reserve(order.size());
    bool found = false;
    for (const Node* node : order) {
      place.emplace(node, static_cast<int>(done.size()));
      const std::vector<Expr> x = gather(*node, place, done);
      if (has_to_expand(*node, target)) {
        found = true;
        done.push_back(
            cast(node->op == Op::native ? node->unary->spec.forward(x[0]) : node->binary->spec.forward(x[0], x[1]), node->dtype));
        continue;
      }
      bool changed = false;
      for (std::size_t i = 0; i < x.size(); ++i) changed |= x[i].node() != node->operands[i].node();
      done.push_back(changed ? rebuild(*node, x) : Expr(Ref<Node>(const_cast<Node*>(node))));
    }
    if (!found) return current;
    current = done.back();  // a forward may hold composites of its own
  }
}

Evaluator::Evaluator(const Expr& e) : expanded_(expand(e, Target::cpu)), order_(topological(expanded_)) {
  NodeIndex place;
  for (const Node* node : order_) {
    place.emplace(node, static_cast<int>(place.size()));
    for (const Expr& operand : node->operands) operands_.push_back(place.at(operand.node().get()));
  }
  done_.resize(order_.size());
}

double Evaluator::operator()(const Values& values) {
  std::size_t next = 0;
  std::vector<double> x;
  for (std::size_t i = 0; i < order_.size(); ++i) {
    const Node& node = *order_[i];
    x.clear();
    for (std::size_t k = 0; k < node.operands.size(); ++k) x.push_back(done_[static_cast<std::size_t>(operands_[next++])]);
    done_[i] = value_of(node, x, values);
  }
  return done_.back();
}

double evaluate(const Expr& e, const Values& values) { return Evaluator(e)(values); }

double evaluate(const Expr& e, std::span<const double> arguments) { return evaluate(e, Values{.arguments = arguments}); }

}  // namespace hearth::ir
