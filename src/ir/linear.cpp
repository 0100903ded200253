#include "ir/linear.hpp"

#include <algorithm>
#include <cstdlib>

namespace hearth::ir {

std::optional<std::int64_t> literal_of(const Expr& e) {
  const Node& node = *e.node();
  if (node.op != Op::literal || is_float(node.dtype)) return std::nullopt;
  return static_cast<std::int64_t>(node.value);
}

void Linear::add(const Expr& term, std::int64_t factor) {
  if (factor == 0) return;
  for (auto it = terms.begin(); it != terms.end(); ++it) {
    if (hash(it->first) != hash(term) || !same(it->first, term)) continue;
    it->second += factor;
    if (it->second == 0) terms.erase(it);
    return;
  }
  terms.emplace_back(term, factor);
}

void Linear::add(const Linear& other, std::int64_t factor) {
  constant += other.constant * factor;
  for (const auto& [term, own] : other.terms) add(term, own * factor);
}

std::int64_t Linear::factor_of(const Expr& term) const {
  for (const auto& [own, factor] : terms)
    if (hash(own) == hash(term) && same(own, term)) return factor;
  return 0;
}

Expr Linear::emit() const {
  auto sorted = terms;
  std::sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) {
    if (a.second != b.second) return std::abs(a.second) > std::abs(b.second) || (a.second == -b.second && a.second > b.second);
    return hash(a.first) < hash(b.first);
  });
  const auto number = [](std::int64_t value) { return Expr::constant(static_cast<double>(value), DType::i32); };
  Expr sum;
  for (const auto& [term, factor] : sorted) {
    const std::int64_t size = std::abs(factor);
    const Expr part = size == 1 ? term : term * number(size);
    if (!sum)
      sum = factor < 0 ? -part : part;
    else
      sum = factor < 0 ? sum - part : sum + part;
  }
  if (!sum) return number(constant);
  if (constant > 0) return sum + number(constant);
  return constant < 0 ? sum - number(-constant) : sum;
}

Linear linear_of(const Expr& e) {
  Linear sum;
  const Node& node = *e.node();
  if (node.dtype == DType::i32) switch (node.op) {
      case Op::literal: sum.constant = static_cast<std::int64_t>(node.value); return sum;
      case Op::add:
      case Op::sub:
        sum = linear_of(node.operands[0]);
        sum.add(linear_of(node.operands[1]), node.op == Op::add ? 1 : -1);
        return sum;
      case Op::neg: sum.add(linear_of(node.operands[0]), -1); return sum;
      case Op::mul:
        for (std::size_t i = 0; i < 2; ++i)
          if (const auto factor = literal_of(node.operands[i])) {
            sum.add(linear_of(node.operands[1 - i]), *factor);
            return sum;
          }
        break;
      default: break;
    }
  sum.add(e, 1);
  return sum;
}

BoundsOf::BoundsOf(const Shape& extents, int output_rank) : extents_(extents) {
  for (int axis = 0; axis < output_rank; ++axis) output_elements_ *= extents[axis];
}

std::optional<Bounds> BoundsOf::of(const Expr& e) {
  const Node* const key = e.node().get();
  if (auto found = known_.find(key); found != known_.end()) return found->second.second;
  std::optional<Bounds> bounds = e.dtype() == DType::i32 ? find(e) : std::nullopt;
  if (bounds && (bounds->low < INT32_MIN || bounds->high > INT32_MAX)) bounds.reset();
  known_.emplace(key, std::pair(e, bounds));
  return bounds;
}

std::optional<Bounds> BoundsOf::of(const Linear& sum) {
  Bounds total{sum.constant, sum.constant};
  for (const auto& [term, factor] : sum.terms) {
    const std::optional<Bounds> own = of(term);
    if (!own) return std::nullopt;
    total.low += std::min(own->low * factor, own->high * factor);
    total.high += std::max(own->low * factor, own->high * factor);
  }
  if (total.low < INT32_MIN || total.high > INT32_MAX) return std::nullopt;
  return total;
}

std::optional<Bounds> BoundsOf::find(const Expr& e) {
  const Node& node = *e.node();
  const auto operand = [&](std::size_t i) { return of(node.operands[i]); };
  switch (node.op) {
    case Op::literal: return Bounds{static_cast<std::int64_t>(node.value), static_cast<std::int64_t>(node.value)};
    case Op::coordinate: {
      const std::int64_t extent = node.index == flat_coordinate ? output_elements_ : extents_[node.index];
      return Bounds{0, std::max<std::int64_t>(extent - 1, 0)};
    }
    case Op::cast:
      if (node.operands[0].dtype() == DType::boolean) return Bounds{0, 1};
      return std::nullopt;
    case Op::neg:
      if (const auto a = operand(0)) return Bounds{-a->high, -a->low};
      return std::nullopt;
    case Op::select: {
      const auto a = operand(1), b = operand(2);
      if (!a || !b) return std::nullopt;
      return Bounds{std::min(a->low, b->low), std::max(a->high, b->high)};
    }
    default: break;
  }
  if (node.operands.size() != 2) return std::nullopt;
  const auto a = operand(0), b = operand(1);
  if (!a || !b) return std::nullopt;
  switch (node.op) {
    case Op::add: return Bounds{a->low + b->low, a->high + b->high};
    case Op::sub: return Bounds{a->low - b->high, a->high - b->low};
    case Op::mul: {
      const std::int64_t corners[] = {a->low * b->low, a->low * b->high, a->high * b->low, a->high * b->high};
      return Bounds{*std::min_element(corners, corners + 4), *std::max_element(corners, corners + 4)};
    }
    case Op::div:
      if (b->low != b->high || b->low <= 0) return std::nullopt;
      return Bounds{a->low / b->low, a->high / b->low};
    case Op::rem:
      if (b->low != b->high || b->low <= 0) return std::nullopt;
      if (a->low >= 0) return Bounds{0, std::min(a->high, b->low - 1)};
      return Bounds{1 - b->low, b->low - 1};
    case Op::min: return Bounds{std::min(a->low, b->low), std::min(a->high, b->high)};
    case Op::max: return Bounds{std::max(a->low, b->low), std::max(a->high, b->high)};
    default: return std::nullopt;
  }
}

}  // namespace hearth::ir
