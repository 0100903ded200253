#pragma once
#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "support/kernel_reference.hpp"

/// Map and reduce kernels of every kind, for everything that runs kernels.
namespace hearth::test {

struct KernelCase {
  ir::KernelRef kernel;
  std::vector<Memory> inputs;
  double tolerance = 0;
};

inline Expr element(int binding, DType dtype) { return Expr::load(binding, dtype, {Expr::coordinate(ir::flat_coordinate)}); }

inline ir::Kernel map_of(std::string label, std::vector<DType> bindings, Shape extent, Expr value) {
  ir::Kernel kernel;
  kernel.label = std::move(label);
  kernel.bindings = std::move(bindings);
  kernel.extent = extent;
  kernel.value = std::move(value);
  return kernel;
}

inline void add_arithmetic(std::vector<KernelCase>& cases, DType dtype, std::int64_t count) {
  const Expr x = element(0, dtype);
  const Expr y = element(1, dtype);
  const DType result = compute_dtype(dtype);
  const auto size = static_cast<std::size_t>(count);
  std::vector<Memory> inputs{random_memory(dtype, size), random_memory(dtype, size, 2)};
  for (std::size_t i = 0; i < size; i += 7) inputs[1].set(i, inputs[0].get(i));
  if (is_float(dtype)) inputs[0].set(1, NAN);
  const std::vector<std::pair<const char*, Expr>> values{
      {"add", x + y},
      {"sub", x - y},
      {"mul", x * y},
      {"div", x / y},
      {"rem", x % y},
      {"max", max(x, y)},
      {"min", min(x, y)},
      {"neg", -x},
      {"relu", max(x, 0)},
      {"select", select(x < y, x, y * 2)},
      {"chain", max(x * 3 + y, 1) - x * (y + 2)},
      {"min_literal", min(1, x)},
  };
  for (const auto& [name, value] : values)
    cases.push_back({ir::finish(map_of(name, {dtype, dtype, dtype}, {count}, value)), inputs, is_float(dtype) ? 4e-3 : 0});
  for (const Expr& value : {x < y, x <= y, x == y, x != y, ~(x < y), (x < y) | (y == 0), (x < y) ^ (x == y)})
    cases.push_back({ir::finish(map_of("compare", {dtype, dtype, DType::boolean}, {count}, value)), inputs, 0});
  if (is_integer(dtype) && size_bytes(dtype) == 4)
    for (const Expr& value :
         {x & y, x | y, x ^ y, ~x, x << 3, x >> 2, x << (y & 63), x >> (y & 63), x << y, x / 7, x % 7, x << 40, x >> 40})
      cases.push_back({ir::finish(map_of("bits", {dtype, dtype, result}, {count}, value)), inputs, 0});
}

inline void add_edges(std::vector<KernelCase>& cases) {
  std::vector<double> a, b;
  for (double x : {-2147483648.0, -2147483647.0, -7.0, -1.0, 0.0, 1.0, 7.0, 2147483647.0})
    for (double y : {-2147483648.0, -2.0, -1.0, 0.0, 1.0, 2.0, 40.0, 2147483647.0}) {
      a.push_back(x);
      b.push_back(y);
    }
  const Expr i = element(0, DType::i32);
  const Expr j = element(1, DType::i32);
  for (const Expr& e : {i / j, i % j, i * j, i + j, i - j, i << j, i >> j, -i, i / -1, i / 0, i % 0, i % -1, i / 3, i % 3})
    cases.push_back({ir::finish(map_of("integer_edges", {DType::i32, DType::i32, DType::i32}, {64}, e)),
                     {{DType::i32, a}, {DType::i32, b}},
                     0});
  const std::vector<double> edges{-1e30,        -2147483648.0, -2.7,         -0.4,         0,    0.5, 2.9,      255.5,    300,
                                  2147483520.0, 2147483648.0,  4294967040.0, 4294967296.0, 1e30, NAN, INFINITY, -INFINITY};
  const Expr x = element(0, DType::f32);
  const Shape extent{static_cast<std::int64_t>(edges.size())};
  for (DType to : {DType::i32, DType::u32, DType::boolean, DType::u8, DType::i8})
    cases.push_back({ir::finish(map_of("float_casts", {DType::f32, to}, extent, cast(x, to))), {{DType::f32, edges}}, 0});
  for (const Expr& e : {x * Expr(INFINITY), max(x, Expr(-INFINITY)), x + Expr(NAN), min(x, 1e38), x % 1.5, x + 1e-42,
                        select(x == Expr(INFINITY), 1.0, 0.0), x - 0.1f, x % Expr(INFINITY)})
    cases.push_back({ir::finish(map_of("float_literals", {DType::f32, DType::f32}, extent, e)), {{DType::f32, edges}}, 1e-6});
  const std::vector<double> large{0x80000000u, 0xffffffffu, 0, 1, 12345678, 0xdeadbeefu, 7, 0x10000u};
  const Expr u = element(0, DType::u32);
  for (const Expr& e : {mul_high(u, Expr(0xd2511f53u)), mul_high(u, u), bitcast(u, DType::i32) >> 1, u / 3, u % 3, -u})
    cases.push_back({ir::finish(map_of("unsigned", {DType::u32, e.dtype()}, {8}, e)), {{DType::u32, large}}, 0});
}

inline void add_views(std::vector<KernelCase>& cases) {
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
  for (DType dtype : {DType::f32, DType::u8, DType::i8, DType::boolean, DType::i32})
    for (const Expr& index : indices) {
      const std::vector<Memory> inputs{random_memory(dtype, 1500), random_memory(dtype, 1500, 5)};
      cases.push_back({ir::finish(map_of("view", {dtype, dtype, dtype}, {9, 7, 11}, Expr::load(0, dtype, {index}))), inputs, 0});
      cases.push_back({ir::finish(map_of("view_and_dense", {dtype, dtype, DType::f32}, {9, 7, 11},
                                         cast(Expr::load(0, dtype, {index}), DType::f32) * cast(element(1, dtype), DType::f32) +
                                             cast(j * k, DType::f32))),
                       inputs, 1e-6});
    }
  // Large enough for four elements an invocation, with a bias along the last axis.
  const std::vector<Memory> inputs{random_memory(DType::f32, 40000), random_memory(DType::f32, 100, 5)};
  cases.push_back({ir::finish(map_of("bias", {DType::f32, DType::f32, DType::f32}, {400, 100},
                                     max(element(0, DType::f32) + Expr::load(1, DType::f32, {j}), 0))),
                   inputs, 1e-6});
  cases.push_back({ir::finish(map_of("dense_and_shifted", {DType::f32, DType::f32}, {39996},
                                     element(0, DType::f32) - Expr::load(0, DType::f32, {Expr::coordinate(0) + 1}))),
                   {inputs[0]},
                   1e-6});
  cases.push_back({ir::finish(map_of("arange", {DType::i32}, {300, 700}, flat * 3 - 1)), {}, 0});
  cases.push_back({ir::finish(map_of("ones", {DType::u8}, {3}, Expr::constant(7, DType::u32))), {}, 0});
  cases.push_back({ir::finish(map_of("many_axes", {DType::f32}, {2, 1, 3, 2, 1, 2, 2, 3},
                                     cast(Expr::coordinate(0) * 1000 + Expr::coordinate(2) * 100 + Expr::coordinate(7) * 10 +
                                              Expr::coordinate(5) + Expr::coordinate(1),
                                          DType::f32))),
                   {},
                   0});
}

inline void add_reductions(std::vector<KernelCase>& cases, const std::vector<DType>& dtypes) {
  struct Reduction {
    const char* name;
    Shape extent, reduced;
    Expr index;
  };
  const Expr a = Expr::coordinate(0);
  const Expr b = Expr::coordinate(1);
  const Expr c = Expr::coordinate(2);
  const std::vector<Reduction> reductions{
      {"short_rows", {5}, {7}, a * 7 + b},
      {"rows", {50}, {130}, a * 130 + b},
      {"long_rows", {3}, {5000}, a * 5000 + b},
      {"many_short_rows", {700}, {3}, a * 3 + b},
      {"columns", {7}, {5}, b * 7 + a},
      {"tall_columns", {100}, {700}, b * 100 + a},
      {"wide_columns", {2000}, {9}, b * 2000 + a},
      {"many_columns", {40000}, {20}, b * 40000 + a},
      {"middle", {4, 6}, {10}, a * 60 + c * 6 + b},
      {"tall_middle", {4, 40}, {90}, a * 3600 + c * 40 + b},
      {"all", {1}, {100001}, b},
      {"all_of_two", {}, {33, 77}, a * 77 + b},
      {"outer_and_inner", {4}, {3, 5}, b * 20 + a * 5 + c},
      {"large_outer_and_inner", {4}, {30, 50}, b * 200 + a * 50 + c},
      {"ones_among_the_axes", {2, 1, 3}, {1, 4}, a * 12 + c * 4 + Expr::coordinate(4)},
      {"windows", {10, 12}, {3, 3}, (a + c) * 14 + b + Expr::coordinate(3)},
      {"empty", {6}, {0}, a},
      {"sixteen_axes",
       {2, 1, 2, 1, 2, 1, 2, 3},
       {2, 1, 1, 3, 1, 1, 1, 2},
       ((((a * 2 + c) * 2 + Expr::coordinate(4)) * 2 + Expr::coordinate(6)) * 3 + Expr::coordinate(7)) * 12 +
           Expr::coordinate(8) * 6 + Expr::coordinate(11) * 2 + Expr::coordinate(15)},
  };
  for (DType dtype : dtypes)
    for (Combine how : {Combine::sum, Combine::prod, Combine::max, Combine::min})
      for (const Reduction& r : reductions) {
        if (dtype == DType::boolean && (how == Combine::sum || how == Combine::prod)) continue;
        const DType stored = is_float(dtype) || size_bytes(dtype) == 1 ? dtype : compute_dtype(dtype);
        ir::Kernel kernel = map_of(std::string(r.name), {dtype, stored}, r.extent, Expr::load(0, dtype, {r.index}));
        kernel.form = ir::Form::reduce;
        kernel.reduced = r.reduced;
        kernel.combine = how;
        const auto count = static_cast<std::size_t>(std::max<std::int64_t>(200, r.extent.elements() * r.reduced.elements()));
        std::vector<Memory> inputs{random_memory(dtype, count)};
        if (how == Combine::prod && is_float(dtype))
          for (std::size_t i = 0; i < count; ++i) inputs[0].set(i, 1 + inputs[0].get(i) / 3000);
        const bool exact = how == Combine::max || how == Combine::min || !is_float(dtype);
        const double rounding = stored == DType::f16 ? 4e-3 : how == Combine::prod ? 2e-4 : 2e-5;
        cases.push_back({ir::finish(std::move(kernel)), std::move(inputs), exact ? 0 : rounding});
      }
}

inline void add_epilogues(std::vector<KernelCase>& cases) {
  const Expr row = Expr::coordinate(0);
  const Expr column = Expr::coordinate(1);
  ir::Kernel mean = map_of("mean_and_bias", {DType::f32, DType::f32, DType::f32}, {4, 300},
                           Expr::load(0, DType::f32, {(row * 300 + column) * 6 + Expr::coordinate(2)}));
  mean.form = ir::Form::reduce;
  mean.reduced = {6};
  mean.epilogue = Expr::argument(0, DType::f32) / 6 + Expr::load(1, DType::f32, {column});
  const std::vector<Memory> inputs{random_memory(DType::f32, 7200), random_memory(DType::f32, 300, 4)};
  cases.push_back({ir::finish(mean), inputs, 1e-5});
  ir::Kernel any =
      map_of("any", {DType::f32, DType::f32, DType::boolean}, {30}, Expr::load(0, DType::f32, {row * 200 + column}) > 2.98);
  any.form = ir::Form::reduce;
  any.reduced = {200};
  any.combine = Combine::max;
  cases.push_back({ir::finish(any), inputs, 0});
  ir::Kernel nan = map_of("nan_wins", {DType::f32, DType::f32}, {10}, Expr::load(0, DType::f32, {row * 100 + column}));
  nan.form = ir::Form::reduce;
  nan.reduced = {100};
  nan.combine = Combine::max;
  Memory with_nan = random_memory(DType::f32, 1000);
  with_nan.set(205, NAN);
  cases.push_back({ir::finish(nan), {with_nan}, 0});
}

inline std::vector<KernelCase> kernel_cases() {
  std::vector<KernelCase> cases;
  for (DType dtype : {DType::f32, DType::i32, DType::u32, DType::i8, DType::u8}) add_arithmetic(cases, dtype, 3001);
  add_arithmetic(cases, DType::f32, 20000);
  add_edges(cases);
  add_views(cases);
  add_reductions(cases, {DType::f32, DType::i32, DType::u32, DType::boolean, DType::u8});
  add_epilogues(cases);
  return cases;
}

/// The same kinds in binary16.
inline std::vector<KernelCase> f16_kernel_cases() {
  std::vector<KernelCase> cases;
  add_arithmetic(cases, DType::f16, 3001);
  add_arithmetic(cases, DType::f16, 20000);
  add_reductions(cases, {DType::f16});
  return cases;
}

}  // namespace hearth::test
