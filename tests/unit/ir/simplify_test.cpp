#include <doctest/doctest.h>

#include <random>

#include "ir/simplify.hpp"

using namespace hearth;

namespace {

Expr i32(std::int64_t value) { return Expr::constant(static_cast<double>(value), DType::i32); }

/// The value at given coordinates.
double at(const Expr& e, const Shape& point, const Shape& extents, int output_rank) {
  const Expr bound = ir::rewrite(e, [&](const ir::Node& node, std::span<const Expr>) -> Expr {
    if (node.op != ir::Op::coordinate) return {};
    if (node.index >= 0) return i32(point[node.index]);
    std::int64_t flat = 0;
    for (int axis = 0; axis < output_rank; ++axis) flat = flat * extents[axis] + point[axis];
    return i32(flat);
  });
  return ir::evaluate(bound, std::span<const double>());
}

template <typename F>
void for_all(const Shape& extents, F f) {
  for (std::int64_t flat = 0; flat < extents.elements(); ++flat) {
    Shape point = extents;
    std::int64_t rest = flat;
    for (int axis = extents.rank() - 1; axis >= 0; --axis) {
      point[axis] = rest % extents[axis];
      rest /= extents[axis];
    }
    f(point);
  }
}

}  // namespace

TEST_CASE("simplify keeps the value of index arithmetic") {
  std::mt19937 random(7);
  const auto pick = [&](int count) { return static_cast<int>(random() % static_cast<unsigned>(count)); };
  for (int round = 0; round < 400; ++round) {
    const Shape extents{1 + pick(4), 2 + pick(5), 1 + pick(6)};
    const int rank = 1 + pick(3);
    std::vector<Expr> pool{Expr::coordinate(0), Expr::coordinate(1), Expr::coordinate(2), Expr::coordinate(ir::flat_coordinate),
                           i32(pick(9))};
    for (int step = 0; step < 14; ++step) {
      const Expr a = pool[random() % pool.size()], b = pool[random() % pool.size()];
      switch (pick(9)) {
        case 0: pool.push_back(a + b); break;
        case 1: pool.push_back(a - b); break;
        case 2: pool.push_back(a * (1 + pick(6))); break;
        case 3: pool.push_back(a / (1 + pick(7))); break;
        case 4: pool.push_back(a % (1 + pick(7))); break;
        case 5: pool.push_back(min(a, b)); break;
        case 6: pool.push_back(max(a, b)); break;
        case 7: pool.push_back(select(a < b, a, b + 1)); break;
        default: pool.push_back((a * 12 + b % 12) / 6); break;
      }
    }
    const Expr e = pool.back();
    const Expr simple = ir::simplify(e, extents, rank);
    CAPTURE(round);
    bool equal = true;
    for_all(extents,
            [&](const Shape& point) { equal = equal && at(e, point, extents, rank) == at(simple, point, extents, rank); });
    CHECK(equal);
    if (const auto affine = ir::affine(e, extents, rank)) {
      bool fits = true;
      for_all(extents, [&](const Shape& point) {
        std::int64_t value = affine->offset;
        for (int axis = 0; axis < 3; ++axis) value += affine->strides[axis] * point[axis];
        fits = fits && static_cast<double>(value) == at(e, point, extents, rank);
      });
      CHECK(fits);
    }
  }
}

TEST_CASE("coordinates taken apart and put together cancel") {
  const Shape extents{27, 31, 31};
  const Expr flat = Expr::coordinate(0) * 961 + Expr::coordinate(1) * 31 + Expr::coordinate(2);
  CHECK(ir::same(ir::simplify(flat, extents, 3), Expr::coordinate(ir::flat_coordinate)));
  CHECK(ir::same(ir::simplify((flat / 31) % 31, extents, 3), Expr::coordinate(1)));
  const Expr x = Expr::coordinate(0);  // of an output [26000]
  const Expr apart = x / 961 * 961 + x / 31 % 31 * 31 + x % 31;
  CHECK(ir::same(ir::simplify(apart, {26000}, 1), Expr::coordinate(ir::flat_coordinate)));
}

TEST_CASE("views are affine") {
  // A transposed [4, 6], sliced with step -2 along its first axis.
  const Expr e = (5 - Expr::coordinate(0) * 2) + Expr::coordinate(1) * 6;
  const auto affine = ir::affine(e, {3, 4}, 2);
  REQUIRE(affine);
  CHECK(affine->offset == 5);
  CHECK(affine->strides == Shape{-2, 6});
  CHECK_FALSE(ir::affine(Expr::coordinate(0) / 2, {4}, 1));
}

TEST_CASE("bounds decide comparisons") {
  CHECK(ir::same(ir::simplify(Expr::coordinate(0) < 4, {4}, 1), Expr::constant(1, DType::boolean)));
  CHECK_FALSE(ir::same(ir::simplify(Expr::coordinate(0) < 3, {4}, 1), Expr::constant(1, DType::boolean)));
}

TEST_CASE("float arithmetic keeps its meaning") {
  const Expr x = Expr::argument(0, DType::f32);
  for (const Expr& e : {x * 0.0, x - x, x / x, x + 0.0}) {
    const Expr simple = ir::simplify(e, {4}, 1);
    const double infinity[] = {INFINITY};
    const double a = ir::evaluate(e, infinity), b = ir::evaluate(simple, infinity);
    CHECK((a == b || (a != a && b != b)));
  }
}

TEST_CASE("simplify takes chains of any length and shared nodes") {
  Expr chain = Expr::argument(0, DType::f32);
  for (int i = 0; i < 100000; ++i) chain = chain + 1.0;
  CHECK(ir::node_count(ir::simplify(chain, {4}, 1)) > 100000);
  Expr doubled = Expr::coordinate(0);
  for (int i = 0; i < 28; ++i) doubled = doubled + doubled;  // 2^28 paths
  CHECK(ir::same(ir::simplify(doubled, {4}, 1), Expr::coordinate(ir::flat_coordinate) * (1 << 28)));
}
