#include "ir/interpret.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <random>

#include "reference.hpp"

namespace hearth::test {
namespace {

using ir::Form;
using ir::Kernel;

std::vector<double> numbers(std::size_t count, double low, double high, bool whole, unsigned seed = 1) {
  std::mt19937 random(seed);
  std::vector<double> values;
  for (std::size_t i = 0; i < count; ++i) {
    const double v = low + (high - low) * (double(random()) / 4294967296.0);
    values.push_back(whole ? std::floor(v) : double(float(v)));
  }
  return values;
}

Memory random_memory(DType dtype, std::size_t count, unsigned seed = 1) {
  switch (dtype) {
    case DType::boolean: return {dtype, numbers(count, 0, 2, true, seed)};
    case DType::u8: return {dtype, numbers(count, 0, 256, true, seed)};
    case DType::u32: return {dtype, numbers(count, 0, 1000, true, seed)};
    case DType::i8: return {dtype, numbers(count, -128, 128, true, seed)};
    case DType::i32: return {dtype, numbers(count, -1000, 1000, true, seed)};
    default: return {dtype, numbers(count, -3, 3, false, seed)};
  }
}

Expr at_flat(int binding, DType dtype) { return Expr::load(binding, dtype, {Expr::coordinate(ir::flat_coordinate)}); }

void check_close(const std::vector<double>& got, const std::vector<double>& want, double tolerance) {
  REQUIRE(got.size() == want.size());
  int wrong = 0;
  for (std::size_t i = 0; i < got.size() && wrong < 5; ++i) {
    const bool both_nan = std::isnan(got[i]) && std::isnan(want[i]);
    const bool equal = got[i] == want[i] || both_nan || std::abs(got[i] - want[i]) <= tolerance * (1 + std::abs(want[i]));
    CAPTURE(i);
    CAPTURE(got[i]);
    CAPTURE(want[i]);
    CHECK(equal);
    wrong += !equal;
  }
}

double tolerance_of(DType dtype) { return dtype == DType::f16 ? 2e-3 : dtype == DType::f64 ? 1e-12 : is_float(dtype) ? 2e-6 : 0; }

Kernel map_kernel(std::vector<DType> bindings, Shape extent, Expr value) {
  Kernel kernel;
  kernel.label = "test";
  kernel.bindings = std::move(bindings);
  kernel.extent = extent;
  kernel.value = std::move(value);
  return kernel;
}

void check_map(Kernel kernel, const std::vector<Memory>& inputs, double tolerance) {
  const auto ready = ir::finish(std::move(kernel));
  check_close(interpreted(*ready, inputs), reference(*ready, inputs), tolerance);
}

TEST_CASE("interpret_runs_arithmetic_of_every_storage_dtype") {
  for (DType dtype : {DType::f16, DType::f32, DType::f64, DType::i32, DType::u32, DType::i8, DType::u8}) {
    CAPTURE(int(dtype));
    const Expr x = at_flat(0, dtype);
    const Expr y = at_flat(1, dtype);
    const DType result = compute_dtype(dtype);
    const std::vector<Memory> inputs{random_memory(dtype, 3001), random_memory(dtype, 3001, 2)};
    for (const Expr& e :
         {x + y, x - y, x * y, x / y, x % y, max(x, y), min(x, y), -x, select(x < y, x, y * 2), max(x * 3 + y, 1) - x}) {
      CAPTURE(ir::hash(e));
      check_map(map_kernel({dtype, dtype, result}, {3001}, e), inputs, std::max(tolerance_of(dtype), tolerance_of(result)) * 4);
    }
  }
}

TEST_CASE("interpret_runs_comparisons_and_bits") {
  for (DType dtype : {DType::f32, DType::f64, DType::i32, DType::u32, DType::boolean}) {
    CAPTURE(int(dtype));
    const Expr x = at_flat(0, dtype);
    const Expr y = at_flat(1, dtype);
    std::vector<Memory> inputs{random_memory(dtype, 999), random_memory(dtype, 999, 3)};
    for (std::size_t i = 0; i < 999; i += 7) inputs[1].set(i, inputs[0].get(i));
    for (const Expr& e :
         {x<y, x <= y, x == y, x != y, x> y, x >= y, ~(x < y), (x < y) | (y == 0), (x < y) ^ (x == y), (x < 1) & (y > 0)})
      check_map(map_kernel({dtype, dtype, DType::boolean}, {999}, e), inputs, 0);
    if (is_integer(dtype))
      for (const Expr& e : {x & y, x | y, x ^ y, ~x, x << 3, x >> 2, x << (y & 63), x >> (y & 63), x << y})
        check_map(map_kernel({dtype, dtype, dtype}, {999}, e), inputs, 0);
  }
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
  const Expr x = at_flat(0, DType::i32);
  const Expr y = at_flat(1, DType::i32);
  const std::vector<Memory> inputs{{DType::i32, a}, {DType::i32, b}};
  for (const Expr& e : {x / y, x % y, x * y, x + y, x - y, x << y, x >> y, -x, x / -1, x / 0, x % 0, x % -1, x / 3, x % 3})
    check_map(map_kernel({DType::i32, DType::i32, DType::i32}, {64}, e), inputs, 0);
  const auto ready = ir::finish(map_kernel({DType::i32, DType::i32, DType::i32}, {64}, x / y));
  const std::vector<double> got = interpreted(*ready, inputs);
  CHECK(got[2] == low);  // INT_MIN / -1
  CHECK(got[3] == 0);    // x / 0
  CHECK(got[21] == -3);  // -7 / 2
}

TEST_CASE("interpret_casts_clamp_and_wrap") {
  const std::vector<double> edges{-1e30,        -2147483648.0, -2.7,         -0.4,         0,    0.5, 2.9,      255.5,    300,
                                  2147483520.0, 2147483648.0,  4294967040.0, 4294967296.0, 1e30, NAN, INFINITY, -INFINITY};
  const std::vector<Memory> inputs{{DType::f32, edges}};
  const Expr x = at_flat(0, DType::f32);
  const Shape extent{static_cast<std::int64_t>(edges.size())};
  for (DType to : {DType::i32, DType::u32, DType::boolean, DType::f64})
    check_map(map_kernel({DType::f32, to}, extent, cast(x, to)), inputs, 0);
  const auto bytes = ir::finish(map_kernel({DType::f32, DType::u8}, extent, cast(x, DType::u8)));
  CHECK(interpreted(*bytes, inputs)[7] == 255);
  CHECK(interpreted(*bytes, inputs)[0] == 0);
  const std::vector<Memory> ints{{DType::i32, {-2147483648.0, -129, -1, 0, 200, 2147483647}}};
  const Expr i = at_flat(0, DType::i32);
  for (DType to : {DType::f32, DType::u32, DType::boolean, DType::i8, DType::u8})
    check_map(map_kernel({DType::i32, to}, {6}, cast(i, to)), ints, to == DType::f32 ? 1e-7 : 0);
}

TEST_CASE("interpret_keeps_nan_in_max_and_min") {
  const std::vector<Memory> inputs{{DType::f32, {NAN, 1, NAN, -0.0, 3}}, {DType::f32, {1, NAN, NAN, 0.0, 2}}};
  const Expr x = at_flat(0, DType::f32);
  const Expr y = at_flat(1, DType::f32);
  for (const Expr& e : {max(x, y), min(x, y)}) check_map(map_kernel({DType::f32, DType::f32, DType::f32}, {5}, e), inputs, 0);
  const auto ready = ir::finish(map_kernel({DType::f32, DType::f32, DType::f32}, {5}, max(x, y)));
  const std::vector<double> got = interpreted(*ready, inputs);
  CHECK(std::isnan(got[0]));
  CHECK(std::isnan(got[1]));
  CHECK(got[4] == 3);
}

TEST_CASE("interpret_reads_views_of_every_kind") {
  const Expr i = Expr::coordinate(0);
  const Expr j = Expr::coordinate(1);
  const Expr k = Expr::coordinate(2);
  const Expr flat = Expr::coordinate(ir::flat_coordinate);
  const std::vector<Expr> indices{
      i * 77 + j * 11 + k,                     // dense
      k * 63 + j * 9 + i,                      // transposed
      (8 - i) * 77 + (6 - j) * 11 + (10 - k),  // flipped
      j * 11,                                  // broadcast
      k,
      i,
      Expr(5),
      flat * 2 + 1,
      1386 - flat * 2,
      (flat / 3) % 7 * 9 + flat % 3,  // a reshape that is not affine
      (flat * 5) % 693,
  };
  for (DType dtype : {DType::f32, DType::f16, DType::u8, DType::boolean, DType::f64}) {
    const std::vector<Memory> inputs{random_memory(dtype, 1500), random_memory(dtype, 1500, 5)};
    for (const Expr& index : indices) {
      const DType result = compute_dtype(dtype);
      check_map(map_kernel({dtype, dtype, result}, {9, 7, 11}, Expr::load(0, dtype, {index})), inputs, 0);
      if (dtype == DType::f32)
        check_map(
            map_kernel({dtype, dtype, result}, {9, 7, 11}, Expr::load(0, dtype, {index}) * at_flat(1, dtype) + cast(j, dtype)),
            inputs, 1e-6);
    }
  }
}

TEST_CASE("interpret_uses_parameters_and_coordinates_as_values") {
  Kernel kernel = map_kernel({DType::f32}, {3, 5},
                             cast(Expr::coordinate(0), DType::f32) * Expr::parameter(0, DType::f32) +
                                 cast(Expr::coordinate(ir::flat_coordinate) + Expr::parameter(1, DType::i32), DType::f32));
  kernel.parameters = {DType::f32, DType::i32};
  const auto ready = ir::finish(std::move(kernel));
  const float scale = 2.5f;
  std::uint32_t word = 0;
  std::memcpy(&word, &scale, 4);
  check_close(interpreted(*ready, {}, {word, static_cast<std::uint32_t>(-4)}), reference(*ready, {}, {2.5, -4}), 0);
}

TEST_CASE("interpret_reduces_rows_columns_and_between") {
  struct Case {
    Shape extent, reduced;
    Expr index;
  };
  const Expr a = Expr::coordinate(0);
  const Expr b = Expr::coordinate(1);
  const Expr c = Expr::coordinate(2);
  const std::vector<Case> cases{
      {{5}, {7}, a * 7 + b},               // short rows
      {{3}, {5000}, a * 5000 + b},         // long rows
      {{700}, {3}, a * 3 + b},             // many short rows
      {{7}, {5}, b * 7 + a},               // columns
      {{2000}, {9}, b * 2000 + a},         // wide columns
      {{4, 6}, {10}, a * 60 + c * 6 + b},  // the middle axis
      {{1}, {100000}, b},
      {{}, {33, 77}, a * 77 + b},
      {{4}, {3, 5}, b * 20 + a * 5 + c},  // outer and inner axes
      {{2, 1, 3}, {1, 4}, a * 12 + c * 4 + Expr::coordinate(4)},
      {{6}, {0}, a},  // nothing to reduce
  };
  for (DType dtype : {DType::f32, DType::f16, DType::f64, DType::i32, DType::u32, DType::boolean})
    for (Combine how : {Combine::sum, Combine::prod, Combine::max, Combine::min})
      for (const Case& test : cases) {
        if (dtype == DType::boolean && (how == Combine::sum || how == Combine::prod)) continue;
        CAPTURE(int(dtype));
        CAPTURE(int(how));
        CAPTURE(to_string(test.extent));
        CAPTURE(to_string(test.reduced));
        Kernel kernel = map_kernel({dtype, compute_dtype(dtype)}, test.extent, Expr::load(0, dtype, {test.index}));
        kernel.form = Form::reduce;
        kernel.reduced = test.reduced;
        kernel.combine = how;
        const auto count = static_cast<std::size_t>(std::max<std::int64_t>(1, test.extent.elements() * test.reduced.elements()));
        std::vector<Memory> inputs{random_memory(dtype, count)};
        if (how == Combine::prod && is_float(dtype))
          for (std::size_t i = 0; i < count; ++i) inputs[0].set(i, 1 + inputs[0].get(i) / 3000);
        const auto ready = ir::finish(std::move(kernel));
        const double tolerance = how == Combine::max || how == Combine::min ? 0 : tolerance_of(compute_dtype(dtype)) * 10;
        const auto want = reference(*ready, inputs);
        check_close(interpreted(*ready, inputs), want, tolerance);
        check_close(interpreted(*ready, inputs, {}, 3), want, tolerance);
      }
}

TEST_CASE("interpret_applies_the_epilogue_with_loads_of_its_own") {
  Kernel kernel =
      map_kernel({DType::f32, DType::f32, DType::f16}, {4, 300},
                 Expr::load(0, DType::f32, {(Expr::coordinate(0) * 300 + Expr::coordinate(1)) * 6 + Expr::coordinate(2)}));
  kernel.form = Form::reduce;
  kernel.reduced = {6};
  kernel.epilogue = Expr::argument(0, DType::f32) / 6 + Expr::load(1, DType::f32, {Expr::coordinate(1)});
  const auto ready = ir::finish(std::move(kernel));
  const std::vector<Memory> inputs{random_memory(DType::f32, 7200), random_memory(DType::f32, 300, 4)};
  check_close(interpreted(*ready, inputs), reference(*ready, inputs), 2e-3);
}

TEST_CASE("interpret_sums_long_rows_accurately") {
  Kernel kernel = map_kernel({DType::f32, DType::f32}, {}, Expr::load(0, DType::f32, {Expr::coordinate(0)}));
  kernel.form = Form::reduce;
  kernel.reduced = {1000000};
  const auto ready = ir::finish(std::move(kernel));
  const std::vector<Memory> inputs{{DType::f32, std::vector<double>(1000000, 0.1)}};
  CHECK(std::abs(interpreted(*ready, inputs)[0] / (1e6 * double(0.1f)) - 1) < 1e-7);
}

}  // namespace
}  // namespace hearth::test
