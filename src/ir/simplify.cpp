#include "ir/simplify.hpp"

#include <algorithm>
#include <numeric>
#include <unordered_map>

#include "ir/linear.hpp"

namespace hearth::ir {

namespace {

/// Rewrites an expression bottom up. Index arithmetic (i32 with known bounds) is kept as a linear form of terms, so that
/// coordinates that were taken apart and put together again cancel.
class Simplifier {
 public:
  Simplifier(const Shape& extents, int output_rank) : extents_(extents), rank_(output_rank), bounds_(extents, output_rank) {
    std::int64_t stride = 1;
    strides_ = Shape::filled(output_rank, 0);
    for (int axis = output_rank - 1; axis >= 0; --axis) {
      strides_[axis] = stride;
      stride *= extents[axis];
    }
  }

  /// Operands first, so that `run` and `flatten` do not recurse through long chains.
  Expr run_all(const Expr& e) {
    for (const Node* node : topological(e)) run(Expr(Ref<Node>(const_cast<Node*>(node))));
    return run(e);
  }
  Expr flatten_all(const Expr& e) {
    for (const Node* node : topological(e)) flatten(Expr(Ref<Node>(const_cast<Node*>(node))));
    return flatten(e);
  }

  Expr run(const Expr& e) {
    if (!e) return e;
    const Node* const key = e.node().get();
    if (auto found = done_.find(key); found != done_.end()) return found->second.second;
    Expr result = step(e);
    done_.emplace(key, std::pair(e, result));
    return result;
  }

  /// The row-major combination of all output coordinates as the flat coordinate; the last pass.
  Expr flatten(const Expr& e) {
    if (!e) return e;
    const Node& node = *e.node();
    if (auto found = flat_.find(&node); found != flat_.end()) return found->second.second;
    Expr result = e;
    if (is_index(e)) {
      Linear sum = linear_of(e);
      Linear outer;
      outer.constant = sum.constant;
      for (auto& [term, factor] : sum.terms) outer.add(with_operands(term), factor);
      take_flat(outer);
      result = outer.emit();
    } else {
      result = with_operands(e);
    }
    flat_.emplace(&node, std::pair(e, result));
    return result;
  }

 private:
  [[nodiscard]] bool is_index(const Expr& e) { return e.dtype() == DType::i32 && bounds_.of(e); }

  Expr with_operands(const Expr& e) {
    const Node& node = *e.node();
    if (node.operands.empty()) return e;
    std::vector<Expr> operands;
    bool changed = false;
    for (const Expr& operand : node.operands) {
      operands.push_back(flatten(operand));
      changed |= !(operands.back().node() == operand.node());
    }
    return changed ? rebuild(node, operands) : e;
  }

  void take_flat(Linear& sum) const {
    std::int64_t factor = 0;
    bool any = false;
    for (int axis = 0; axis < rank_; ++axis) {
      if (extents_[axis] == 1) continue;
      const std::int64_t own = sum.factor_of(Expr::coordinate(axis));
      if (own == 0 || own % strides_[axis] != 0) return;
      if (any && own / strides_[axis] != factor) return;
      factor = own / strides_[axis];
      any = true;
    }
    if (!any) return;
    for (int axis = 0; axis < rank_; ++axis)
      if (extents_[axis] != 1) sum.add(Expr::coordinate(axis), -factor * strides_[axis]);
    sum.add(Expr::coordinate(flat_coordinate), factor);
  }

  Expr step(const Expr& e) {
    const Node& node = *e.node();
    if (node.op == Op::coordinate) {
      if (node.index == flat_coordinate) {
        Linear sum;
        for (int axis = 0; axis < rank_; ++axis)
          if (extents_[axis] != 1) sum.add(Expr::coordinate(axis), strides_[axis]);
        return sum.emit();
      }
      return extents_[node.index] == 1 ? Expr::constant(0, DType::i32) : e;
    }
    if (node.operands.empty()) return e;
    std::vector<Expr> operands;
    bool changed = false;
    for (const Expr& operand : node.operands) {
      operands.push_back(run(operand));
      changed |= !(operands.back().node() == operand.node());
    }
    const Expr rebuilt = changed ? rebuild(node, operands) : e;
    const Node& now = *rebuilt.node();
    if (now.operands.empty() || now.op != node.op) return rebuilt;
    switch (now.op) {
      case Op::add:
      case Op::sub:
      case Op::neg:
      case Op::mul: return is_index(rebuilt) ? gather(linear_of(rebuilt)).emit() : rebuilt;
      case Op::div: return divide(rebuilt, now.operands[0], now.operands[1]);
      case Op::rem: return remainder(rebuilt, now.operands[0], now.operands[1]);
      case Op::less:
      case Op::less_equal:
      case Op::equal:
      case Op::not_equal: return compare(rebuilt);
      case Op::min:
      case Op::max: return extreme(rebuilt);
      default: return rebuilt;
    }
  }

  /// c * n * (y / n) + c * (y % n) is c * y.
  Linear gather(Linear sum) {
    for (bool changed = true; changed;) {
      changed = false;
      for (const auto& [term, factor] : sum.terms) {
        const Node& rem = *term.node();
        if (rem.op != Op::rem) continue;
        const std::optional<std::int64_t> n = literal_of(rem.operands[1]);
        const Expr y = rem.operands[0];
        if (!n || *n <= 0 || factor > INT32_MAX / *n || factor < INT32_MIN / *n) continue;
        const Linear quotient = linear_of(divide({}, y, rem.operands[1]));
        if (quotient.constant != 0 || quotient.terms.size() != 1 || quotient.terms[0].second != 1) continue;
        const Expr high = quotient.terms[0].first;
        if (sum.factor_of(high) != factor * *n) continue;
        const std::int64_t c = factor;
        const Expr low = term;
        sum.add(low, -c);
        sum.add(high, -c * *n);
        sum.add(linear_of(y), c);
        changed = true;
        break;
      }
    }
    return sum;
  }

  /// Parts of `sum` whose factors are multiples of g, divided by g, and the rest.
  static std::pair<Linear, Linear> split(const Linear& sum, std::int64_t g) {
    Linear multiples, rest;
    for (const auto& [term, factor] : sum.terms)
      if (factor % g == 0)
        multiples.add(term, factor / g);
      else
        rest.add(term, factor);
    // Floor: the rest's constant is not negative.
    const std::int64_t low = ((sum.constant % g) + g) % g;
    multiples.constant = (sum.constant - low) / g;
    rest.constant = low;
    return {multiples, rest};
  }

  static std::vector<std::int64_t> divisors(const Linear& sum, std::int64_t n) {
    std::vector<std::int64_t> found;
    for (const auto& [term, factor] : sum.terms) {
      const std::int64_t g = std::gcd(factor, n);
      if (g > 1 && g < n) found.push_back(g);
    }
    std::sort(found.begin(), found.end(), std::greater<>());
    found.erase(std::unique(found.begin(), found.end()), found.end());
    return found;
  }

  /// x / n with both simple already; `as_is` is given back when nothing is known better (null: made).
  Expr divide(const Expr& as_is, const Expr& x, const Expr& by) {
    const std::optional<std::int64_t> n = literal_of(by);
    const std::optional<Bounds> b = x.dtype() == DType::i32 ? bounds_.of(x) : std::nullopt;
    const auto plain = [&] { return as_is ? as_is : x / by; };
    if (!n || *n <= 0 || !b || b->low < 0) return plain();
    if (*n == 1) return x;
    if (b->high < *n) return Expr::constant(0, DType::i32);
    const Linear sum = linear_of(x);
    auto [whole, rest] = split(sum, *n);
    const std::optional<Bounds> r = bounds_.of(rest);
    if (r && r->low >= 0) {
      if (r->high < *n) return gather(whole).emit();
      if (!whole.terms.empty() || whole.constant != 0) {
        whole.add(linear_of(divide({}, rest.emit(), by)), 1);
        return gather(whole).emit();
      }
    }
    for (std::int64_t g : divisors(sum, *n)) {
      const auto [big, small] = split(sum, g);
      const std::optional<Bounds> s = bounds_.of(small);
      if (s && s->low >= 0 && s->high < g)
        return divide({}, gather(big).emit(), Expr::constant(static_cast<double>(*n / g), DType::i32));
    }
    const Node& inner = *x.node();
    if (inner.op == Op::div) {
      const std::optional<std::int64_t> m = literal_of(inner.operands[1]);
      if (m && *m > 0 && *m <= INT32_MAX / *n)
        return divide({}, inner.operands[0], Expr::constant(static_cast<double>(*m * *n), DType::i32));
    }
    return plain();
  }

  Expr remainder(const Expr& as_is, const Expr& x, const Expr& by) {
    const std::optional<std::int64_t> n = literal_of(by);
    const std::optional<Bounds> b = x.dtype() == DType::i32 ? bounds_.of(x) : std::nullopt;
    const auto plain = [&] { return as_is ? as_is : x % by; };
    if (!n || *n <= 0 || !b || b->low < 0) return plain();
    if (*n == 1) return Expr::constant(0, DType::i32);
    if (b->high < *n) return x;
    const Linear sum = linear_of(x);
    const auto [whole, rest] = split(sum, *n);
    const std::optional<Bounds> r = bounds_.of(rest);
    if (r && r->low >= 0) {
      if (r->high < *n) return gather(rest).emit();
      if (!whole.terms.empty() || whole.constant != 0) return remainder({}, gather(rest).emit(), by);
    }
    for (std::int64_t g : divisors(sum, *n)) {
      const auto [big, small] = split(sum, g);
      const std::optional<Bounds> s = bounds_.of(small);
      if (s && s->low >= 0 && s->high < g) {
        Linear result = small;
        result.add(linear_of(remainder({}, gather(big).emit(), Expr::constant(static_cast<double>(*n / g), DType::i32))), g);
        return gather(result).emit();
      }
    }
    return plain();
  }

  Expr compare(const Expr& e) {
    const Node& node = *e.node();
    const Expr& a = node.operands[0];
    const Expr& b = node.operands[1];
    if (a.dtype() != DType::i32) return e;
    const std::optional<Bounds> x = bounds_.of(a), y = bounds_.of(b);
    if (!x || !y) return e;
    const auto known = [](bool value) { return Expr::constant(value, DType::boolean); };
    switch (node.op) {
      case Op::less: return x->high < y->low ? known(true) : x->low >= y->high ? known(false) : e;
      case Op::less_equal: return x->high <= y->low ? known(true) : x->low > y->high ? known(false) : e;
      default: break;
    }
    const bool apart = x->high < y->low || y->high < x->low;
    const bool single = x->low == x->high && y->low == y->high && x->low == y->low;
    if (apart) return known(node.op == Op::not_equal);
    if (single) return known(node.op == Op::equal);
    return e;
  }

  Expr extreme(const Expr& e) {
    const Node& node = *e.node();
    const Expr& a = node.operands[0];
    const Expr& b = node.operands[1];
    if (a.dtype() != DType::i32) return e;
    const std::optional<Bounds> x = bounds_.of(a), y = bounds_.of(b);
    if (!x || !y) return e;
    if (x->high <= y->low) return node.op == Op::min ? a : b;
    if (y->high <= x->low) return node.op == Op::min ? b : a;
    return e;
  }

  const Shape& extents_;
  int rank_;
  Shape strides_;
  BoundsOf bounds_;
  // The key's expression is kept, so that its address stays its own.
  std::unordered_map<const Node*, std::pair<Expr, Expr>> done_, flat_;
};

}  // namespace

Expr simplify(const Expr& e, const Shape& extents, int output_rank) {
  Simplifier simplifier(extents, output_rank);
  return simplifier.flatten_all(simplifier.run_all(e));
}

std::optional<Affine> affine(const Expr& e, const Shape& extents, int output_rank) {
  Simplifier simplifier(extents, output_rank);
  const Linear sum = linear_of(simplifier.run_all(e));
  Affine result{sum.constant, Shape::filled(extents.rank(), 0)};
  for (const auto& [term, factor] : sum.terms) {
    const Node& node = *term.node();
    if (node.op != Op::coordinate || node.index < 0) return std::nullopt;
    result.strides[node.index] += factor;
  }
  return result;
}

}  // namespace hearth::ir
