#include <doctest/doctest.h>

#include <array>
#include <cmath>

#include "hearth/ops.hpp"
#include "ir/expr.hpp"

/// The blocks as expressions, in f64: no device takes part.
namespace {

using hearth::DType;
using hearth::Expr;
using hearth::OpRegistry;

double at(const hearth::UnaryOp& op, double x) { return hearth::ir::evaluate(op(Expr::argument(0, DType::f64)), std::array{x}); }
double at(const hearth::BinaryOp& op, double a, double b, DType dtype = DType::f64) {
  return hearth::ir::evaluate(op(Expr::argument(0, dtype), Expr::argument(1, dtype)), std::array{a, b});
}

TEST_CASE("every block says what it gives, and once only") {
  for (const auto* op : OpRegistry::all().unary) {
    CHECK_MESSAGE(std::string(op->spec.summary).size() > 8, op->name);
    CHECK_MESSAGE((op->spec.forward || op->spec.native.f64), op->name);
    // A primitive has no forward to differentiate.
    CHECK_MESSAGE((op->spec.forward || op->spec.grad), op->name);
  }
  for (const auto* op : OpRegistry::all().binary)
    CHECK_MESSAGE((op->spec.forward || (op->spec.native.f64 && op->spec.grad_a && op->spec.grad_b)), op->name);
}

TEST_CASE("a composite agrees with its reference over its domain") {
  for (const auto* op : OpRegistry::all().unary) {
    if (!op->spec.reference || !op->spec.forward) continue;
    for (int i = 0; i < 40; ++i) {
      const double x = op->spec.domain.low + (op->spec.domain.high - op->spec.domain.low) * (i + 0.37) / 40;
      CHECK_MESSAGE(at(*op, x) == doctest::Approx(op->spec.reference(x)).epsilon(1e-12), op->name, " of ", x);
    }
  }
}

TEST_CASE("pow of a negative base follows the exponent's parity") {
  CHECK(at(hearth::ops::pow, -2, 3) == -8);
  CHECK(at(hearth::ops::pow, -2, -2) == 0.25);
  CHECK(std::isnan(at(hearth::ops::pow, -2, 0.5)));
  CHECK(at(hearth::ops::pow, -3, 5, DType::i32) == -243);
  CHECK(at(hearth::ops::pow, 7, 0, DType::i32) == 1);
  CHECK(at(hearth::ops::pow, 2, -1, DType::i32) == 0);
  CHECK(at(hearth::ops::pow, -1, -3, DType::i32) == -1);
  CHECK(at(hearth::ops::pow, 3, 20, DType::u32) == 3486784401.0);
}

TEST_CASE("integer division is defined for every pair") {
  using hearth::ops::floor_divide;
  using hearth::ops::remainder;
  CHECK(at(floor_divide, -7, 2, DType::i32) == -4);
  CHECK(at(floor_divide, 7, -2, DType::i32) == -4);
  CHECK(at(floor_divide, -8, 2, DType::i32) == -4);
  CHECK(at(floor_divide, 5, 0, DType::i32) == 0);
  CHECK(at(floor_divide, -2147483648.0, -1, DType::i32) == -2147483648.0);
  CHECK(at(remainder, -7, 2, DType::i32) == 1);
  CHECK(at(remainder, 7, -2, DType::i32) == -1);
  CHECK(at(remainder, 5, 0, DType::i32) == 0);
  CHECK(at(remainder, -2147483648.0, -1, DType::i32) == 0);
}

TEST_CASE("rounding takes halves to the even number") {
  CHECK(at(hearth::ops::round, 0.5) == 0);
  CHECK(at(hearth::ops::round, 1.5) == 2);
  CHECK(at(hearth::ops::round, 2.5) == 2);
  CHECK(at(hearth::ops::round, -2.5) == -2);
}

}  // namespace
