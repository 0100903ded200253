#include "ir/expr.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <random>

#include "ir/kernel.hpp"

namespace hearth::test {
namespace {

using ir::evaluate;
using ir::Op;
using ir::same;

Expr f(int i) { return Expr::argument(i, DType::f32); }
Expr i32(int i) { return Expr::argument(i, DType::i32); }
double literal(const Expr& e) {
  REQUIRE(e.node()->op == Op::literal);
  return e.node()->value;
}

// exp with a gradient and a square by a forward only, as op blocks define them.
constexpr UnaryOp exponential{
    "exponential", {.summary = "", .native = {"exp", nullptr, std::exp, std::exp}, .grad = [](Expr, Expr y) { return y; }}};
constexpr UnaryOp square{"square", {.summary = "", .forward = [](Expr x) { return x * x; }}};
constexpr UnaryOp logistic{"logistic",
                           {.summary = "",
                            .forward = [](Expr x) { return 1 / (1 + exponential(-x)); },
                            .grad = [](Expr, Expr y) { return y * (1 - y); }}};
constexpr BinaryOp hypotenuse{"hypotenuse",
                              {.summary = "",
                               .native = {"hypotenuse", nullptr, [](float a, float b) { return std::hypot(a, b); },
                                          [](double a, double b) { return std::hypot(a, b); }},
                               .grad_a = [](Expr a, Expr, Expr y) { return a / y; },
                               .grad_b = [](Expr, Expr b, Expr y) { return b / y; }}};
constexpr UnaryOp opaque{"opaque", {.summary = "", .native = {"opaque", nullptr, std::exp, std::exp}}};

TEST_CASE("expr_literals_take_the_dtype_of_their_partner") {
  CHECK((f(0) + 1).dtype() == DType::f32);
  CHECK((i32(0) + 1).dtype() == DType::i32);
  CHECK((2.0 * i32(0)).dtype() == DType::i32);
  CHECK((i32(0) * 0.5).dtype() == DType::f32);
  CHECK((Expr::argument(0, DType::f64) * 0.1).node()->operands[1].node()->value == 0.1);
  CHECK((Expr::argument(0, DType::u32) + 1).dtype() == DType::u32);
  CHECK((Expr::argument(0, DType::f16) + 1).dtype() == DType::f32);
  CHECK(select(f(0) < 0, 0, f(0)).dtype() == DType::f32);
  CHECK((f(0) < 1).dtype() == DType::boolean);
  CHECK(literal(Expr(1) / 3.0 * 3) == 1);
}

TEST_CASE("expr_mixed_dtypes_are_promoted") {
  CHECK((i32(0) + f(1)).dtype() == DType::f32);
  CHECK((i32(0) + Expr::argument(1, DType::u32)).dtype() == DType::i32);
  CHECK((f(0) * Expr::argument(1, DType::f64)).dtype() == DType::f64);
  CHECK(((f(0) < 1) + (f(1) < 1)).dtype() == DType::i32);
  CHECK(max(f(0) < 1, f(1) < 1).dtype() == DType::boolean);
}

TEST_CASE("expr_folds_constants_by_the_rules_of_their_dtype") {
  const auto i = [](double v) { return Expr::constant(v, DType::i32); };
  CHECK(literal(i(7) / i(2)) == 3);
  CHECK(literal(i(-7) / i(2)) == -3);
  CHECK(literal(i(-7) % i(3)) == -1);
  CHECK(literal(i(5) / i(0)) == 0);
  CHECK(literal(i(5) % i(0)) == 0);
  CHECK(literal(i(-2147483648.0) / i(-1)) == -2147483648.0);
  CHECK(literal(i(2147483647) + i(1)) == -2147483648.0);
  CHECK(literal(Expr(1u) - Expr(2u)) == 4294967295.0);
  CHECK(literal(Expr::constant(1, DType::f32) / Expr::constant(3, DType::f32)) == double(1.0f / 3.0f));
  CHECK(literal(cast(Expr::constant(NAN, DType::f32), DType::i32)) == 0);
  CHECK(literal(cast(Expr::constant(1e20, DType::f32), DType::u32)) == 4294967295.0);
  CHECK(std::isnan(literal(max(Expr::constant(NAN, DType::f32), Expr::constant(1, DType::f32)))));
}

TEST_CASE("expr_drops_neutral_operands_but_keeps_float_meaning") {
  const Expr n = i32(0);
  CHECK(same(n + 0, n));
  CHECK(same(n * 1, n));
  CHECK(literal(n * 0) == 0);
  CHECK(literal(n % 1) == 0);
  CHECK(literal(n / 0) == 0);
  CHECK(same(f(0) * 1, f(0)));
  CHECK(same(f(0) / 1, f(0)));
  CHECK((f(0) * 0).node()->op == Op::mul);  // NaN stays NaN
  CHECK((f(0) + 0).node()->op == Op::add);  // -0 + 0 is 0
  CHECK(same(~~(f(0) < 1), f(0) < 1));
  CHECK(same(-(-f(0)), f(0)));
}

TEST_CASE("expr_equal_structure_has_equal_hash") {
  const Expr a = f(0) * 2 + max(f(1), 0);
  const Expr b = f(0) * 2 + max(f(1), 0);
  CHECK(a.node() != b.node());
  CHECK(ir::hash(a) == ir::hash(b));
  CHECK(same(a, b));
  CHECK_FALSE(same(a, f(0) * 2 + max(f(1), 1)));
  CHECK_FALSE(same(a, f(0) * 2 + min(f(1), 0)));
  CHECK_FALSE(same(f(0), f(1)));
  CHECK_FALSE(same(f(0), Expr::argument(0, DType::f64)));
  CHECK_FALSE(same(Expr::constant(0.0, DType::f32), Expr::constant(-0.0, DType::f32)));
}

TEST_CASE("expr_inlines_composite_ops_without_a_gradient") {
  CHECK(square(f(0)).node()->op == Op::mul);
  CHECK(logistic(f(0)).node()->op == Op::native);
  CHECK(exponential(i32(0)).dtype() == DType::f32);
  const Expr e = ir::expand(logistic(f(0)) + 1, ir::Target::wgsl);
  ir::visit(e, [](const ir::Node& node) { CHECK((node.op != Op::native || node.unary == &exponential)); });
}

TEST_CASE("expr_passes_are_linear_in_shared_nodes") {
  Expr e = f(0);
  for (int i = 0; i < 200; ++i) e = e * e + f(1) * e;  // 2^200 paths
  CHECK(ir::node_count(e) == 801);
  CHECK(same(e,
             ir::rewrite(e, [](const ir::Node& leaf, std::span<const Expr>) { return Expr::argument(leaf.index, DType::f32); })));
  CHECK(ir::node_count(derivative(e, 0)) < 5000);
  CHECK(std::isfinite(evaluate(e, std::vector<double>{0.1, 0.1})));
}

TEST_CASE("expr_chains_of_any_length_need_no_stack") {
  Expr e = f(0);
  for (int i = 0; i < 200000; ++i) e = e + 1.0;
  CHECK(ir::node_count(e) > 200000);
  CHECK(evaluate(e, std::vector<double>{0.5}) == 200000.5);
  CHECK(evaluate(derivative(e, 0), std::vector<double>{0.5}) == 1);
}

TEST_CASE("expr_rewrite_replaces_leaves_once") {
  int calls = 0;
  const Expr x = f(0);
  const Expr e = ir::rewrite(x * x + f(1), [&](const ir::Node& leaf, std::span<const Expr>) -> Expr {
    ++calls;
    if (leaf.index == 0) return Expr::coordinate(3) + 1;
    return {};
  });
  CHECK(calls == 2);
  CHECK(same(e, (Expr::coordinate(3) + 1) * (Expr::coordinate(3) + 1) + f(1)));
}

TEST_CASE("derivative_agrees_with_finite_differences") {
  const Expr x = f(0);
  const Expr y = f(1);
  const std::vector<Expr> expressions{
      x + y,
      x - y * x,
      x * x * y,
      x / y,
      y / (x * x + 1),
      -x * y,
      x % y,
      max(x, y) * x,
      min(x, y) + y,
      select(x < y, x * x, y * y * x),
      exponential(x * y),
      logistic(x) * y,
      square(x + y),
      hypotenuse(x, y) * x,
      cast(cast(x, DType::f64) * 3, DType::f32) * y,
      exponential(-max(x, -x)) / (1 + exponential(y)),
  };
  std::mt19937 random(7);
  const auto sample = [&] { return 0.3 + 2.0 * (double(random()) / 4294967296.0); };
  for (std::size_t k = 0; k < expressions.size(); ++k)
    for (int input = 0; input < 2; ++input) {
      const Expr d = derivative(expressions[k], input);
      for (int trial = 0; trial < 5; ++trial) {
        std::vector<double> at{sample(), sample()};
        const double got = evaluate(d, at);
        const double h = 1e-6;
        std::vector<double> up = at, down = at;
        up[static_cast<std::size_t>(input)] += h;
        down[static_cast<std::size_t>(input)] -= h;
        const double want = (evaluate(expressions[k], up) - evaluate(expressions[k], down)) / (2 * h);
        CAPTURE(k);
        CAPTURE(input);
        CHECK(std::abs(got - want) < 1e-5 * (1 + std::abs(want)));
        // and once more
        const Expr dd = derivative(d, input);
        const double second = (evaluate(d, up) - evaluate(d, down)) / (2 * h);
        CHECK(std::abs(evaluate(dd, at) - second) < 1e-4 * (1 + std::abs(second)));
      }
    }
}

TEST_CASE("derivative_is_zero_through_integers_and_comparisons") {
  const Expr x = f(0);
  for (const Expr& e :
       {cast(cast(x, DType::i32), DType::f32), cast(x < 1, DType::f32), cast(bitcast(x, DType::u32) >> 3, DType::f32), f(1)})
    CHECK(literal(derivative(e, 0)) == 0);
  CHECK(derivative(i32(0) + 1, 0).dtype() == DType::f32);
  CHECK(literal(derivative(x, 0)) == 1);
}

TEST_CASE("derivative_at_a_tie_takes_the_second_operand") {
  const Expr d = derivative(max(f(0), 0), 0);
  CHECK(evaluate(d, std::vector<double>{0}) == 0);
  CHECK(evaluate(d, std::vector<double>{1}) == 1);
  CHECK(evaluate(d, std::vector<double>{-1}) == 0);
}

TEST_CASE("derivative_names_an_op_without_a_gradient") {
  CHECK_THROWS_WITH_AS(static_cast<void>(derivative(opaque(f(0)), 0)), doctest::Contains("'opaque'"), Error);
}

TEST_CASE("kernels_are_the_same_by_everything_but_the_label") {
  const auto make = [] {
    ir::Kernel kernel;
    kernel.label = "a";
    kernel.bindings = {DType::f32, DType::f32};
    kernel.extent = {4, 5};
    kernel.value = Expr::load(0, DType::f32, {Expr::coordinate(ir::flat_coordinate)}) * 2;
    return kernel;
  };
  const auto base = ir::finish(make());
  ir::Kernel renamed = make();
  renamed.label = "b";
  const auto other = ir::finish(renamed);
  CHECK(base->hash == other->hash);
  CHECK(same(*base, *other));
  const auto differs = [&](auto change) {
    ir::Kernel kernel = make();
    change(kernel);
    const auto changed = ir::finish(std::move(kernel));
    CHECK(changed->hash != base->hash);
    CHECK_FALSE(same(*changed, *base));
  };
  differs([](ir::Kernel& k) { k.extent = {5, 4}; });
  differs([](ir::Kernel& k) { k.bindings[1] = DType::f16; });
  differs([](ir::Kernel& k) { k.value = k.value + 1; });
  differs([](ir::Kernel& k) { k.form = ir::Form::reduce; });
  differs([](ir::Kernel& k) { k.reduced = {2}; });
  differs([](ir::Kernel& k) { k.combine = Combine::max; });
  differs([](ir::Kernel& k) { k.epilogue = Expr::argument(0, DType::f32); });
  differs([](ir::Kernel& k) { k.parameters = {DType::f32}; });
  ir::Kernel matmul = make();
  matmul.form = ir::Form::matmul;
  ir::Kernel wider = matmul;
  wider.matmul.k = 3;
  CHECK(ir::finish(matmul)->hash != ir::finish(wider)->hash);
  ir::Kernel source = make();
  source.form = ir::Form::source;
  ir::Kernel edited = source;
  edited.source = "// other";
  CHECK(ir::finish(source)->hash != ir::finish(edited)->hash);
}

}  // namespace
}  // namespace hearth::test
