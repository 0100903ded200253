#include "ir/interpret.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <random>

#include "support/kernel_cases.hpp"

namespace hearth::test {
namespace {

using ir::Form;
using ir::Kernel;

void check_close(const std::vector<double>& got, const std::vector<double>& want, double tolerance) {
  REQUIRE(got.size() == want.size());
  int wrong = 0;
  for (std::size_t i = 0; i < got.size() && wrong < 5; ++i) {
    const bool both_nan = std::isnan(got[i]) && std::isnan(want[i]);
    const bool equal = got[i] == want[i] || both_nan || std::abs(got[i] - want[i]) <= tolerance * (1 + std::abs(want[i]));
    if (equal) continue;
    CAPTURE(i);
    CAPTURE(got[i]);
    CAPTURE(want[i]);
    CHECK(equal);
    ++wrong;
  }
}

void check_map(Kernel kernel, const std::vector<Memory>& inputs, double tolerance) {
  const auto ready = ir::finish(std::move(kernel));
  check_close(interpreted(*ready, inputs), reference(*ready, inputs), tolerance);
}

void check_all(const std::vector<KernelCase>& cases, double tolerance) {
  for (const KernelCase& test : cases) {
    CAPTURE(test.kernel->label);
    CAPTURE(int(test.kernel->bindings.back()));
    const std::vector<double> want = reference(*test.kernel, test.inputs);
    const double allowed = test.tolerance > 0 ? tolerance : 0;
    check_close(interpreted(*test.kernel, test.inputs), want, allowed);
    check_close(interpreted(*test.kernel, test.inputs, {}, 3), want, allowed);  // pieces end anywhere
  }
}

TEST_CASE("interpret_agrees_with_the_reference_on_every_kind_of_kernel") { check_all(kernel_cases(), 2e-5); }

TEST_CASE("interpret_agrees_with_the_reference_in_f16") { check_all(f16_kernel_cases(), 4e-3); }

TEST_CASE("interpret_agrees_with_the_reference_in_f64") {
  std::vector<KernelCase> cases;
  add_arithmetic(cases, DType::f64, 3001);
  add_reductions(cases, {DType::f64});
  check_all(cases, 1e-12);
}

TEST_CASE("interpret_defines_integer_arithmetic_at_the_ends") {
  const double low = -2147483648.0;
  const double high = 2147483647.0;
  std::vector<double> a, b;
  for (double x : {low, low + 1, -7.0, -1.0, 0.0, 1.0, 7.0, high})
    for (double y : {low, -2.0, -1.0, 0.0, 1.0, 2.0, 40.0, high}) {
      a.push_back(x);
      b.push_back(y);
    }
  const Expr x = element(0, DType::i32);
  const Expr y = element(1, DType::i32);
  const std::vector<Memory> inputs{{DType::i32, a}, {DType::i32, b}};
  for (const Expr& e : {x / y, x % y, x * y, x + y, x - y, x << y, x >> y, -x, x / -1, x / 0, x % 0, x % -1, x / 3, x % 3})
    check_map(map_of("test", {DType::i32, DType::i32, DType::i32}, {64}, e), inputs, 0);
  const auto ready = ir::finish(map_of("test", {DType::i32, DType::i32, DType::i32}, {64}, x / y));
  const std::vector<double> got = interpreted(*ready, inputs);
  CHECK(got[2] == low);  // INT_MIN / -1
  CHECK(got[3] == 0);    // x / 0
  CHECK(got[21] == -3);  // -7 / 2
}

TEST_CASE("interpret_keeps_nan_in_max_and_min") {
  const std::vector<Memory> inputs{{DType::f32, {NAN, 1, NAN, -0.0, 3}}, {DType::f32, {1, NAN, NAN, 0.0, 2}}};
  const Expr x = element(0, DType::f32);
  const Expr y = element(1, DType::f32);
  for (const Expr& e : {max(x, y), min(x, y)}) check_map(map_of("test", {DType::f32, DType::f32, DType::f32}, {5}, e), inputs, 0);
  const auto ready = ir::finish(map_of("test", {DType::f32, DType::f32, DType::f32}, {5}, max(x, y)));
  const std::vector<double> got = interpreted(*ready, inputs);
  CHECK(std::isnan(got[0]));
  CHECK(std::isnan(got[1]));
  CHECK(got[4] == 3);
}

TEST_CASE("interpret_uses_parameters_and_coordinates_as_values") {
  Kernel kernel = map_of("test", {DType::f32}, {3, 5},
                         cast(Expr::coordinate(0), DType::f32) * Expr::parameter(0, DType::f32) +
                             cast(Expr::coordinate(ir::flat_coordinate) + Expr::parameter(1, DType::i32), DType::f32));
  kernel.parameters = {DType::f32, DType::i32};
  const auto ready = ir::finish(std::move(kernel));
  const float scale = 2.5f;
  std::uint32_t word = 0;
  std::memcpy(&word, &scale, 4);
  check_close(interpreted(*ready, {}, {word, static_cast<std::uint32_t>(-4)}), reference(*ready, {}, {2.5, -4}), 0);
}

TEST_CASE("interpret_sums_long_rows_accurately") {
  Kernel kernel = map_of("test", {DType::f32, DType::f32}, {}, Expr::load(0, DType::f32, {Expr::coordinate(0)}));
  kernel.form = Form::reduce;
  kernel.reduced = {1000000};
  const auto ready = ir::finish(std::move(kernel));
  const std::vector<Memory> inputs{{DType::f32, std::vector<double>(1000000, 0.1)}};
  CHECK(std::abs(interpreted(*ready, inputs)[0] / (1e6 * double(0.1f)) - 1) < 1e-7);
}

}  // namespace
}  // namespace hearth::test
