#pragma once
#include <cmath>

#include "hearth/op.hpp"
#include "hearth/ops/native.hpp"
#include "hearth/tensor.hpp"

/// Every unary elementwise op, one block each. The rows of docs/ops.md are made from them.
namespace hearth {

// Functions of the derivatives below that are defined further down.
inline Expr cos(Expr x);
inline Expr cosh(Expr x);
inline Expr rsqrt(Expr x);
inline Expr sign(Expr x);

namespace detail {
/// The derivative of a function of steps.
inline Expr flat(Expr x, Expr) { return Expr::constant(0, x.dtype()); }
/// Primitives of ops that leave integers alone.
inline constexpr UnaryOp floor{
    .name = "floor", .spec = {.summary = "", .native = {.wgsl = "floor", .f32 = std::floor, .f64 = std::floor}, .grad = flat}};
inline constexpr UnaryOp ceil{
    .name = "ceil", .spec = {.summary = "", .native = {.wgsl = "ceil", .f32 = std::ceil, .f64 = std::ceil}, .grad = flat}};
inline constexpr UnaryOp trunc{
    .name = "trunc", .spec = {.summary = "", .native = {.wgsl = "trunc", .f32 = std::trunc, .f64 = std::trunc}, .grad = flat}};
inline constexpr UnaryOp round{
    .name = "round",
    .spec = {.summary = "", .native = {.wgsl = "round", .f32 = std::nearbyint, .f64 = std::nearbyint}, .grad = flat}};
/// Bits of |x|, of f32.
inline Expr magnitude_bits(Expr x) { return bitcast(x, DType::u32) & Expr(0x7fffffffu); }
}  // namespace detail

// ---- signs and rounding ----

HEARTH_UNARY_OP(neg){
    .summary = "Minus x; unsigned numbers wrap.",
    .forward = [](Expr x) { return -x; },
    .dtypes = OpDTypes::numbers,
};
HEARTH_UNARY_OP(abs){
    .summary = "Magnitude of x; the derivative at 0 is 0, the lowest integer stays itself.",
    .forward = [](Expr x) { return is_signed(x.dtype()) ? select(x <= 0, 0 - x, x) : x; },
    .grad = [](Expr x, Expr) { return sign(x); },
    .dtypes = OpDTypes::numbers,
};
HEARTH_UNARY_OP(sign){
    .summary = "-1, 0 or 1 by the sign of x; NaN stays NaN.",
    .forward = [](Expr x) { return select(x > 0, 1, is_signed(x.dtype()) ? select(x < 0, -1, x) : x); },
    .grad = detail::flat,
    .dtypes = OpDTypes::numbers,
};
HEARTH_UNARY_OP(square){
    .summary = "x times x.",
    .forward = [](Expr x) { return x * x; },
    .dtypes = OpDTypes::numbers,
};
HEARTH_UNARY_OP(floor){
    .summary = "The next whole number downward.",
    .forward = [](Expr x) { return is_float(x.dtype()) ? detail::floor(x) : x; },
    .domain = {-3.2, 3.1},
    .dtypes = OpDTypes::numbers,
};
HEARTH_UNARY_OP(ceil){
    .summary = "The next whole number upward.",
    .forward = [](Expr x) { return is_float(x.dtype()) ? detail::ceil(x) : x; },
    .domain = {-3.2, 3.1},
    .dtypes = OpDTypes::numbers,
};
HEARTH_UNARY_OP(trunc){
    .summary = "x without its fraction.",
    .forward = [](Expr x) { return is_float(x.dtype()) ? detail::trunc(x) : x; },
    .domain = {-3.2, 3.1},
    .dtypes = OpDTypes::numbers,
};
HEARTH_UNARY_OP(round){
    .summary = "The nearest whole number, halves to the even one.",
    .forward = [](Expr x) { return is_float(x.dtype()) ? detail::round(x) : x; },
    .domain = {-3.2, 3.1},
    .dtypes = OpDTypes::numbers,
};

// ---- powers and logarithms ----

HEARTH_UNARY_OP(exp){
    .summary = "Exponential, e to the power x.",
    .native = {.wgsl = "exp", .f32 = std::exp, .f64 = std::exp, .block = detail::exp_block},
    .grad = [](Expr, Expr y) { return y; },
};
HEARTH_UNARY_OP(exp2){
    .summary = "2 to the power x.",
    .native = {.wgsl = "exp2", .f32 = std::exp2, .f64 = std::exp2},
    .grad = [](Expr, Expr y) { return y * 0.69314718055994531; },
};
HEARTH_UNARY_OP(expm1){
    .summary = "exp(x) - 1, accurate near 0.",
    .native = {.wgsl = "hearth_expm1", .wgsl_source = detail::wgsl_expm1, .f32 = std::expm1, .f64 = std::expm1},
    .grad = [](Expr x, Expr) { return exp(x); },
};
HEARTH_UNARY_OP(log){
    .summary = "Natural logarithm; NaN below 0.",
    .native =
        {.wgsl = "hearth_log", .wgsl_source = detail::wgsl_log, .f32 = std::log, .f64 = std::log, .block = detail::log_block},
    .grad = [](Expr x, Expr) { return 1 / x; },
    .domain = {0.1, 5},
};
HEARTH_UNARY_OP(log2){
    .summary = "Logarithm to base 2; NaN below 0.",
    .native = {.wgsl = "hearth_log2", .wgsl_source = detail::wgsl_log2, .f32 = std::log2, .f64 = std::log2},
    .grad = [](Expr x, Expr) { return 1.4426950408889634 / x; },
    .domain = {0.1, 5},
};
HEARTH_UNARY_OP(log10){
    .summary = "Logarithm to base 10; NaN below 0.",
    .native = {.wgsl = "hearth_log10", .wgsl_source = detail::wgsl_log10, .f32 = std::log10, .f64 = std::log10},
    .grad = [](Expr x, Expr) { return 0.43429448190325183 / x; },
    .domain = {0.1, 5},
};
HEARTH_UNARY_OP(log1p){
    .summary = "log(1 + x), accurate near 0; NaN below -1.",
    .native = {.wgsl = "hearth_log1p", .wgsl_source = detail::wgsl_log1p, .f32 = std::log1p, .f64 = std::log1p},
    .grad = [](Expr x, Expr) { return 1 / (1 + x); },
    .domain = {-0.9, 3},
};
HEARTH_UNARY_OP(sqrt){
    .summary = "Square root; NaN below 0.",
    .native = {.wgsl = "sqrt", .f32 = std::sqrt, .f64 = std::sqrt, .block = detail::sqrt_block},
    .grad = [](Expr, Expr y) { return 0.5 / y; },
    .domain = {0.1, 5},
};
HEARTH_UNARY_OP(rsqrt){
    .summary = "1 divided by the square root of x.",
    .native = {
        .wgsl = "inverseSqrt", .f32 = [](float x) { return 1 / std::sqrt(x); }, .f64 = [](double x) { return 1 / std::sqrt(x); }},
    .grad = [](Expr, Expr y) { return -0.5 * y * y * y; },
    .domain = {0.1, 5},
};
HEARTH_UNARY_OP(cbrt){
    .summary = "Cube root.",
    .native = {.wgsl = "hearth_cbrt", .wgsl_source = detail::wgsl_cbrt, .f32 = std::cbrt, .f64 = std::cbrt},
    .grad = [](Expr, Expr y) { return 1 / (3 * y * y); },
    .domain = {0.2, 5},
};
HEARTH_UNARY_OP(reciprocal){
    .summary = "1 divided by x.",
    .forward = [](Expr x) { return 1 / x; },
    .domain = {0.2, 3},
};

// ---- trigonometry ----

HEARTH_UNARY_OP(sin){
    .summary = "Sine of x in radians; accurate to 2e-6 up to |x| = 5,000 on every device.",
    .native =
        {.wgsl = "hearth_sin", .wgsl_source = detail::wgsl_sin, .f32 = std::sin, .f64 = std::sin, .block = detail::sin_block},
    .grad = [](Expr x, Expr) { return cos(x); },
    .ends = 5000,
};
HEARTH_UNARY_OP(cos){
    .summary = "Cosine of x in radians; accurate to 2e-6 up to |x| = 5,000 on every device.",
    .native =
        {.wgsl = "hearth_cos", .wgsl_source = detail::wgsl_cos, .f32 = std::cos, .f64 = std::cos, .block = detail::cos_block},
    .grad = [](Expr x, Expr) { return -sin(x); },
    .ends = 5000,
};
HEARTH_UNARY_OP(tan){
    .summary = "Tangent of x in radians.",
    .native = {.wgsl = "hearth_tan", .wgsl_source = detail::wgsl_tan, .f32 = std::tan, .f64 = std::tan},
    .grad = [](Expr, Expr y) { return 1 + y * y; },
    .domain = {-1.2, 1.2},
    .ends = 5000,
};
HEARTH_UNARY_OP(asin){
    .summary = "Arc sine; NaN outside [-1, 1].",
    .native = {.wgsl = "hearth_asin", .wgsl_source = detail::wgsl_asin, .f32 = std::asin, .f64 = std::asin},
    .grad = [](Expr x, Expr) { return rsqrt((1 - x) * (1 + x)); },
    .domain = {-0.9, 0.9},
};
HEARTH_UNARY_OP(acos){
    .summary = "Arc cosine; NaN outside [-1, 1].",
    .native = {.wgsl = "hearth_acos", .wgsl_source = detail::wgsl_acos, .f32 = std::acos, .f64 = std::acos},
    .grad = [](Expr x, Expr) { return -rsqrt((1 - x) * (1 + x)); },
    .domain = {-0.9, 0.9},
};
HEARTH_UNARY_OP(atan){
    .summary = "Arc tangent.",
    .native = {.wgsl = "hearth_atan", .wgsl_source = detail::wgsl_atan, .f32 = std::atan, .f64 = std::atan},
    .grad = [](Expr x, Expr) { return 1 / (1 + x * x); },
};
HEARTH_UNARY_OP(sinh){
    .summary = "Hyperbolic sine.",
    .native = {.wgsl = "hearth_sinh", .wgsl_source = detail::wgsl_sinh, .f32 = std::sinh, .f64 = std::sinh},
    .grad = [](Expr x, Expr) { return cosh(x); },
};
HEARTH_UNARY_OP(cosh){
    .summary = "Hyperbolic cosine.",
    .native = {.wgsl = "hearth_cosh", .wgsl_source = detail::wgsl_cosh, .f32 = std::cosh, .f64 = std::cosh},
    .grad = [](Expr x, Expr) { return sinh(x); },
};
HEARTH_UNARY_OP(tanh){
    .summary = "Hyperbolic tangent.",
    .native = {.wgsl = "hearth_tanh",
               .wgsl_source = detail::wgsl_tanh,
               .f32 = std::tanh,
               .f64 = std::tanh,
               .block = detail::tanh_block},
    .grad = [](Expr, Expr y) { return 1 - y * y; },
};
HEARTH_UNARY_OP(asinh){
    .summary = "Inverse hyperbolic sine.",
    // x^2 would overflow beyond 1e18, where log(2 |x|) is exact enough.
    .forward =
        [](Expr x) {
          Expr a = abs(x);
          Expr b = hearth::min(a, 1e9);
          Expr near = log1p(b + b * b / (1 + sqrt(1 + b * b)));
          Expr y = select(a > 1e9, log(a) + 0.69314718055994531, near);
          return select(x < 0, -y, y);
        },
    .grad = [](Expr x, Expr) { return rsqrt(1 + x * x); },
    .reference = std::asinh,
};
HEARTH_UNARY_OP(acosh){
    .summary = "Inverse hyperbolic cosine; NaN below 1.",
    .forward =
        [](Expr x) {
          Expr t = hearth::min(x, 1e9) - 1;
          return select(x > 1e9, log(x) + 0.69314718055994531, log1p(t + sqrt(t) * sqrt(t + 2)));
        },
    .grad = [](Expr x, Expr) { return rsqrt((x - 1) * (x + 1)); },
    .reference = std::acosh,
    .domain = {1.2, 5},
};
HEARTH_UNARY_OP(atanh){
    .summary = "Inverse hyperbolic tangent; NaN outside [-1, 1].",
    .forward =
        [](Expr x) {
          Expr a = abs(x);
          Expr y = 0.5 * log1p(2 * a / (1 - a));
          return select(x < 0, -y, y);
        },
    .grad = [](Expr x, Expr) { return 1 / ((1 - x) * (1 + x)); },
    .reference = std::atanh,
    .domain = {-0.9, 0.9},
};
HEARTH_UNARY_OP(erf){
    .summary = "Error function.",
    .native =
        {.wgsl = "hearth_erf", .wgsl_source = detail::wgsl_erf, .f32 = std::erf, .f64 = std::erf, .block = detail::erf_block},
    .grad = [](Expr x, Expr) { return 1.1283791670955126 * exp(-x * x); },
};
HEARTH_UNARY_OP(erfc){
    .summary = "1 - erf(x), accurate for large x.",
    .native = {.wgsl = "hearth_erfc",
               .wgsl_source = detail::wgsl_erfc,
               .f32 = std::erfc,
               .f64 = std::erfc,
               .block = detail::erfc_block},
    .grad = [](Expr x, Expr) { return -1.1283791670955126 * exp(-x * x); },
};

// ---- activations ----

HEARTH_UNARY_OP(sigmoid){
    .summary = "Logistic function, 1 / (1 + exp(-x)).",
    .native = {.wgsl = "hearth_sigmoid",
               .wgsl_source = detail::wgsl_sigmoid,
               .f32 = [](float x) { return 1 / (1 + std::exp(-x)); },
               .f64 = [](double x) { return 1 / (1 + std::exp(-x)); },
               .block = detail::sigmoid_block},
    .grad = [](Expr, Expr y) { return y * (1 - y); },
};
HEARTH_UNARY_OP(softplus){
    .summary = "Smooth maximum of x and 0, log(1 + exp(x)), without overflow.",
    .forward = [](Expr x) { return select(x > 0, x, 0) + log1p(exp(-abs(x))); },
    .grad = [](Expr x, Expr) { return sigmoid(x); },
    .reference = [](double x) { return (x > 0 ? x : 0) + std::log1p(std::exp(-std::fabs(x))); },
    .domain = {-8, 8},
};
HEARTH_UNARY_OP(log_sigmoid){
    .summary = "log(sigmoid(x)) without overflow.",
    .forward = [](Expr x) { return -softplus(-x); },
    .domain = {-8, 8},
};
HEARTH_UNARY_OP(softsign){
    .summary = "x divided by one plus its magnitude.",
    .forward =
        [](Expr x) {
          Expr a = abs(x);
          return x / (1 + a);
        },
    .domain = {-4, 4.1},
};
HEARTH_UNARY_OP(silu){
    .summary = "x times sigmoid(x), also called swish.",
    .forward = [](Expr x) { return x * sigmoid(x); },
};
HEARTH_UNARY_OP(gelu){
    .summary = "Gaussian error linear unit: x times the normal distribution's cumulative function.",
    // erfc keeps the digits of the left tail, which 1 + erf loses.
    .forward = [](Expr x) { return 0.5 * x * erfc(-0.70710678118654752 * x); },
};
HEARTH_UNARY_OP(gelu_tanh){
    .summary = "Gaussian error linear unit, tanh approximation.",
    // (1 + tanh(u)) / 2 = sigmoid(2 u), without the cancellation.
    .forward = [](Expr x) { return x * sigmoid(1.5957691216057308 * (x + 0.044715 * x * x * x)); },
    .reference = [](double x) { return x / (1 + std::exp(-1.5957691216057308 * (x + 0.044715 * x * x * x))); },
};
HEARTH_UNARY_OP(mish){
    .summary = "x times tanh(softplus(x)).",
    .forward = [](Expr x) { return x * tanh(softplus(x)); },
};
HEARTH_UNARY_OP(relu){
    .summary = "x where it is positive, else 0; NaN stays NaN, the derivative at 0 is 0.",
    .forward = [](Expr x) { return select(x <= 0, 0, x); },
    .dtypes = OpDTypes::numbers,
};
HEARTH_UNARY_OP(relu6){
    .summary = "x limited to [0, 6].",
    .forward = [](Expr x) { return select(x <= 0, 0, select(x >= 6, 6, x)); },
    .dtypes = OpDTypes::numbers,
};
HEARTH_UNARY_OP(elu){
    .summary = "x where it is positive, else exp(x) - 1.",
    .forward = [](Expr x) { return select(x > 0, x, expm1(x)); },
};
HEARTH_UNARY_OP(selu){
    .summary = "Scaled exponential linear unit (Klambauer and others, 2017).",
    .forward = [](Expr x) { return 1.0507009873554805 * select(x > 0, x, 1.6732632423543772 * expm1(x)); },
};
HEARTH_UNARY_OP(hard_sigmoid){
    .summary = "x / 6 + 1/2 limited to [0, 1].",
    .forward = [](Expr x) { return relu6(x + 3) * 0.16666666666666667; },
    .domain = {-4, 4.1},
};
HEARTH_UNARY_OP(hard_swish){
    .summary = "x times hard_sigmoid(x).",
    .forward = [](Expr x) { return x * (relu6(x + 3) * 0.16666666666666667); },
    .domain = {-4, 4.1},
};
HEARTH_UNARY_OP(hard_tanh){
    .summary = "x limited to [-1, 1].",
    .forward = [](Expr x) { return select(x <= -1, -1, select(x >= 1, 1, x)); },
};

// ---- predicates and bits ----

HEARTH_UNARY_OP(is_nan){
    .summary = "Whether x is NaN; by its bits, so that no compiler's fast mathematics gets in the way.",
    .forward = [](Expr x) { return x.dtype() == DType::f64 ? x != x : detail::magnitude_bits(x) > Expr(0x7f800000u); },
    .reference = [](double x) { return x != x ? 1.0 : 0.0; },
    .dtypes = OpDTypes::float_predicate,
};
HEARTH_UNARY_OP(is_inf){
    .summary = "Whether x is plus or minus infinity.",
    .forward =
        [](Expr x) {
          if (x.dtype() == DType::f64) return abs(x) > 1.7976931348623157e308;
          return detail::magnitude_bits(x) == Expr(0x7f800000u);
        },
    .reference = [](double x) { return std::isinf(x) ? 1.0 : 0.0; },
    .dtypes = OpDTypes::float_predicate,
};
HEARTH_UNARY_OP(is_finite){
    .summary = "Whether x is neither NaN nor infinite.",
    .forward =
        [](Expr x) {
          if (x.dtype() == DType::f64) return abs(x) <= 1.7976931348623157e308;
          return detail::magnitude_bits(x) < Expr(0x7f800000u);
        },
    .reference = [](double x) { return std::isfinite(x) ? 1.0 : 0.0; },
    .dtypes = OpDTypes::float_predicate,
};
HEARTH_UNARY_OP(logical_not){
    .summary = "Whether x is 0 or false.",
    .forward = [](Expr x) { return ~cast(x, DType::boolean); },
    .reference = [](double x) { return x == 0 ? 1.0 : 0.0; },
    .dtypes = OpDTypes::predicate,
};
HEARTH_UNARY_OP(bitwise_not){
    .summary = "Every bit of x inverted; of a boolean, not.",
    .forward = [](Expr x) { return ~x; },
    .dtypes = OpDTypes::integers,
};

}  // namespace hearth
