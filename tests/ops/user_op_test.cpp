#include <doctest/doctest.h>

#include <cmath>

#include "hearth/ops.hpp"
#include "hearth/testing.hpp"
#include "ops/devices.hpp"

/// Ops as a user defines them, in a namespace of their own.
namespace app {

using hearth::Expr;
using hearth::Tensor;

HEARTH_UNARY_OP(bent_identity){
    .summary = "(sqrt(x^2 + 1) - 1) / 2 + x.",
    .forward = [](Expr x) { return (sqrt(x * x + 1) - 1) / 2 + x; },
    .reference = [](double x) { return std::hypot(x, 1) / 2 - 0.5 + x; },
    .ends = 1e6,
};

HEARTH_UNARY_OP(cube_sum){
    .summary = "An op with a WGSL function and a gradient of its own.",
    .native = {.wgsl = "app_cube_sum",
               .wgsl_source = "fn app_cube_sum(x: f32) -> f32 { return x * x * x + x; }\n",
               .f32 = [](float x) { return x * x * x + x; },
               .f64 = [](double x) { return x * x * x + x; }},
    .grad = [](Expr x, Expr) { return 3 * x * x + 1; },
    .ends = 1e6,
};

HEARTH_BINARY_OP(scaled_hypot){
    .summary = "sqrt(a^2 + 2 b^2).",
    .forward = [](Expr a, Expr b) { return sqrt(a * a + 2 * b * b); },
    .domain = {0.5, 3},
    .ends = 1e6,
    .dtypes = hearth::OpDTypes::floats,
};

HEARTH_REDUCE_OP(mean_square){
    .summary = "Mean of the squares.",
    .combine = hearth::Combine::sum,
    .before = [](Expr x) { return x * x; },
    .after = [](Expr total, Expr count) { return total / count; },
    .grad = [](Expr x, Expr, Expr count) { return 2 * x / count; },
    .dtypes = hearth::OpDTypes::floats,
};

/// A wrong gradient, which the check must find.
inline constexpr hearth::UnaryOp wrong_gradient =
    hearth::OpName{"wrong_gradient"} | hearth::UnarySpec{
                                           .summary = "",
                                           .forward = [](Expr x) { return x * x; },
                                           .grad = [](Expr x, Expr) { return 3 * x; },
                                       };
/// A wrong value.
inline constexpr hearth::UnaryOp wrong_value =
    hearth::OpName{"wrong_value"} | hearth::UnarySpec{
                                        .summary = "",
                                        .forward = [](Expr x) { return x * x; },
                                        .reference = [](double x) { return x * x + 0.001; },
                                    };

}  // namespace app

using hearth::testing::check_op;

TEST_CASE("an op defined by a user passes the same checks as the library's") {
  for (const devices::Lane& lane : devices::all()) {
    INFO(lane.name);
    for (const auto& report : {check_op(app::ops::bent_identity, lane.device), check_op(app::ops::cube_sum, lane.device),
                               check_op(app::ops::scaled_hypot, lane.device), check_op(app::ops::mean_square, lane.device)})
      CHECK_MESSAGE(report.passed(), report.text());
  }
}

TEST_CASE("a user's op is a function on tensors and on expressions") {
  const hearth::Tensor x = hearth::tensor<float>({0.0f, 2.0f}, {2}, devices::cpu()[0].device);
  CHECK(app::cube_sum(x).read<float>().get() == std::vector<float>{0, 10});
}

TEST_CASE("a wrong gradient or value is found and named") {
  const hearth::Device& device = devices::cpu()[0].device;
  const auto gradient = check_op(app::wrong_gradient, device);
  CHECK_FALSE(gradient.passed());
  CHECK(gradient.text().find("wrong_gradient, f32, gradient") != std::string::npos);
  CHECK_FALSE(check_op(app::wrong_value, device).passed());
}
