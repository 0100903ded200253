#pragma once
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "hearth/shape.hpp"
#include "ir/expr.hpp"

namespace hearth::ir {

/// constant + sum of factor * term, in i32 arithmetic.
struct Linear {
  std::vector<std::pair<Expr, std::int64_t>> terms;  ///< distinct, factors not 0
  std::int64_t constant = 0;

  void add(const Expr& term, std::int64_t factor);
  void add(const Linear& other, std::int64_t factor);
  [[nodiscard]] std::int64_t factor_of(const Expr& term) const;
  /// As an expression; the same sums give the same expression.
  [[nodiscard]] Expr emit() const;
};

[[nodiscard]] Linear linear_of(const Expr& e);
[[nodiscard]] std::optional<std::int64_t> literal_of(const Expr& e);

struct Bounds {
  std::int64_t low, high;
};

/// Bounds of i32 expressions from those of the coordinates; none where a value may wrap or comes from memory.
class BoundsOf {
 public:
  BoundsOf(const Shape& extents, int output_rank);
  std::optional<Bounds> of(const Expr& e);
  std::optional<Bounds> of(const Linear& sum);

 private:
  std::optional<Bounds> find(const Expr& e);
  const Shape& extents_;
  std::int64_t output_elements_ = 1;
  std::unordered_map<const Node*, std::pair<Expr, std::optional<Bounds>>> known_;
};

}  // namespace hearth::ir
