#pragma once
#include <cmath>
#include <limits>

#include "hearth/op.hpp"
#include "hearth/ops/native.hpp"
#include "hearth/ops/unary.hpp"
#include "hearth/tensor.hpp"

/// Every binary elementwise op, one block each, and the operators. Operands broadcast by NumPy's rules; a number is an operand
/// too.
namespace hearth {

namespace detail {
inline Expr flat2(Expr a, Expr, Expr) { return Expr::constant(0, a.dtype()); }
/// The share of an operand in an extreme: all where it is chosen, half where both are equal, and all where one is NaN.
inline Expr share(Expr equal, Expr other, DType dtype) {
  const auto number = [dtype](double value) { return Expr::constant(value, dtype); };
  return select(equal, number(0.5), select(other, number(0), number(1)));
}
/// Whether the signs of two numbers differ.
inline Expr differ(Expr a, Expr b) { return (a < 0) != (b < 0); }
/// Integer power by repeated squaring, wrapping; a negative exponent gives 0 unless the base is 1 or -1.
inline Expr integer_power(Expr base, Expr exponent) {
  Expr n = is_signed(exponent.dtype()) ? cast(select(exponent < 0, 0 - exponent, exponent), DType::u32) : exponent;
  Expr y = Expr::constant(1, base.dtype());
  Expr s = base;
  for (std::uint32_t bit = 0; bit < 32; ++bit) {
    y = select((n & Expr(1u << bit)) != Expr(0u), y * s, y);
    if (bit < 31) s = s * s;
  }
  if (!is_signed(exponent.dtype())) return y;
  return select((exponent >= 0) | (base == 1) | (base == -1), y, 0);
}
inline constexpr BinaryOp float_pow{
    .name = "pow",
    .spec = {
        .summary = "",
        .native = {.wgsl = "hearth_pow", .wgsl_source = wgsl_pow, .f32 = std::pow, .f64 = std::pow},
        .grad_a = [](Expr a, Expr b, Expr) { return select(b == 0, 0, b * Expr::native(float_pow, a, b - 1)); },
        // a^b log(a) has the limit 0 at a = 0.
        .grad_b = [](Expr a, Expr, Expr y) { return select(a == 0, 0, y * log(a)); },
    }};
}  // namespace detail

// ---- arithmetic ----

HEARTH_BINARY_OP(add){
    .summary = "a + b; integers wrap.",
    .forward = [](Expr a, Expr b) { return a + b; },
};
HEARTH_BINARY_OP(subtract){
    .summary = "a - b; integers wrap.",
    .forward = [](Expr a, Expr b) { return a - b; },
};
HEARTH_BINARY_OP(multiply){
    .summary = "a times b; integers wrap.",
    .forward = [](Expr a, Expr b) { return a * b; },
};
HEARTH_BINARY_OP(divide){
    .summary = "a divided by b, in floating point.",
    .forward = [](Expr a, Expr b) { return a / b; },
    .domain_b = {0.3, 3},
    .dtypes = OpDTypes::floats,
};
HEARTH_BINARY_OP(remainder){
    .summary = "What floor_divide leaves, with the sign of b; exact. Integers: x mod 0 = 0.",
    .forward =
        [](Expr a, Expr b) {
          Expr r = a % b;
          if (!is_signed(a.dtype())) return r;
          return select((r != 0) & detail::differ(r, b), r + b, r);
        },
    .reference =
        [](double a, double b) {
          const double r = std::fmod(a, b);
          return r != 0 && (r < 0) != (b < 0) ? r + b : r;
        },
    .domain_b = {0.3, 3},
};
HEARTH_BINARY_OP(floor_divide){
    .summary = "a / b rounded down to a whole number. Integers: x / 0 = 0, and the lowest integer by -1 is itself.",
    .forward =
        [](Expr a, Expr b) {
          Expr below = detail::differ(a, b);
          if (is_float(a.dtype())) {
            // Through the exact remainder: the floor of a rounded quotient may be one too high.
            Expr near = round((a - ops::remainder(a, b)) / b);
            const Expr nan = std::numeric_limits<double>::quiet_NaN();
            Expr far = select(is_finite(a), select(below & (a != 0), -1, 0), nan);  // of an infinite b
            return select(b == 0, a / b, select(is_inf(b), far, near));
          }
          if (!is_signed(a.dtype())) return a / b;
          return select((a % b != 0) & below, a / b - 1, a / b);
        },
    .grad_a = detail::flat2,
    .grad_b = detail::flat2,
    .reference =
        [](double a, double b) {
          if (b == 0) return a / b;
          if (std::isinf(b)) return (a != 0 && (a < 0) != (b < 0) ? -1.0 : 0.0) + a * 0;
          const double r = std::fmod(a, b);
          return std::nearbyint((a - (r != 0 && (r < 0) != (b < 0) ? r + b : r)) / b);
        },
    .domain_b = {0.3, 3},
};
HEARTH_BINARY_OP(pow){
    .summary = "a to the power b; a negative base with a whole exponent has its sign. Integers wrap.",
    .forward = [](Expr a, Expr b) { return is_float(a.dtype()) ? detail::float_pow(a, b) : detail::integer_power(a, b); },
    .domain = {0.2, 3},
};
HEARTH_BINARY_OP(atan2){
    .summary = "Angle of the point (b, a), in (-pi, pi].",
    .native = {.wgsl = "hearth_atan2", .wgsl_source = detail::wgsl_atan2, .f32 = std::atan2, .f64 = std::atan2},
    .grad_a = [](Expr a, Expr b, Expr) { return b / (a * a + b * b); },
    .grad_b = [](Expr a, Expr b, Expr) { return -a / (a * a + b * b); },
    .domain = {0.2, 3},
    .dtypes = OpDTypes::floats,
};
HEARTH_BINARY_OP(hypot){
    .summary = "Square root of a^2 + b^2 without overflow.",
    .native = {.wgsl = "hearth_hypot", .wgsl_source = detail::wgsl_hypot, .f32 = std::hypot, .f64 = std::hypot},
    .grad_a = [](Expr a, Expr, Expr y) { return a / y; },
    .grad_b = [](Expr, Expr b, Expr y) { return b / y; },
    .domain = {0.2, 3},
    .dtypes = OpDTypes::floats,
};
HEARTH_BINARY_OP(maximum){
    .summary = "The larger one; NaN where either is NaN. Equal operands get half the gradient each.",
    .forward = [](Expr a, Expr b) { return hearth::max(a, b); },
    .grad_a = [](Expr a, Expr b, Expr) { return detail::share(a == b, a < b, a.dtype()); },
    .grad_b = [](Expr a, Expr b, Expr) { return detail::share(a == b, b < a, a.dtype()); },
    .reference = [](double a, double b) { return a != a || b != b ? a + b : std::fmax(a, b); },
};
HEARTH_BINARY_OP(minimum){
    .summary = "The smaller one; NaN where either is NaN. Equal operands get half the gradient each.",
    .forward = [](Expr a, Expr b) { return hearth::min(a, b); },
    .grad_a = [](Expr a, Expr b, Expr) { return detail::share(a == b, b < a, a.dtype()); },
    .grad_b = [](Expr a, Expr b, Expr) { return detail::share(a == b, a < b, a.dtype()); },
    .reference = [](double a, double b) { return a != a || b != b ? a + b : std::fmin(a, b); },
};
HEARTH_BINARY_OP(squared_difference){
    .summary = "(a - b) squared.",
    .forward =
        [](Expr a, Expr b) {
          Expr d = a - b;
          return d * d;
        },
};
HEARTH_BINARY_OP(logaddexp){
    .summary = "log(exp(a) + exp(b)) without overflow.",
    .forward =
        [](Expr a, Expr b) {
          // Equal infinities have no difference.
          Expr d = select(a == b, 0, a - b);
          return hearth::max(a, b) + log1p(exp(-abs(d)));
        },
    .grad_a = [](Expr a, Expr b, Expr) { return sigmoid(a - b); },
    .grad_b = [](Expr a, Expr b, Expr) { return sigmoid(b - a); },
    .dtypes = OpDTypes::floats,
};
HEARTH_BINARY_OP(copysign){
    .summary = "The magnitude of a with the sign of b; the sign of a zero counts.",
    .forward =
        [](Expr a, Expr b) {
          Expr negative = b.dtype() == DType::f64 ? (b < 0) | (1 / b < 0) : bitcast(b, DType::i32) < 0;
          return select(negative, -abs(a), abs(a));
        },
    .reference = [](double a, double b) { return std::copysign(a, b); },
    .domain = {0.2, 3},
    .dtypes = OpDTypes::floats,
};
HEARTH_BINARY_OP(leaky_relu){
    .summary = "a where it is positive, else b times a: the slope b may be a number or a tensor (prelu).",
    .forward = [](Expr a, Expr b) { return select(a > 0, a, a * b); },
    .domain_b = {0.01, 0.5},
    .dtypes = OpDTypes::floats,
};

// ---- comparisons: the result is boolean; NaN compares as unequal ----

HEARTH_BINARY_OP(equal){
    .summary = "Whether a and b are equal.",
    .forward = [](Expr a, Expr b) { return a == b; },
    .dtypes = OpDTypes::predicate,
};
HEARTH_BINARY_OP(not_equal){
    .summary = "Whether a and b differ.",
    .forward = [](Expr a, Expr b) { return a != b; },
    .dtypes = OpDTypes::predicate,
};
HEARTH_BINARY_OP(less){
    .summary = "Whether a is below b.",
    .forward = [](Expr a, Expr b) { return a.dtype() == DType::boolean ? (~a) & b : a < b; },
    .dtypes = OpDTypes::predicate,
};
HEARTH_BINARY_OP(less_equal){
    .summary = "Whether a is at most b.",
    .forward = [](Expr a, Expr b) { return a.dtype() == DType::boolean ? (~a) | b : a <= b; },
    .dtypes = OpDTypes::predicate,
};
HEARTH_BINARY_OP(greater){
    .summary = "Whether a is above b.",
    .forward = [](Expr a, Expr b) { return a.dtype() == DType::boolean ? a & (~b) : b < a; },
    .dtypes = OpDTypes::predicate,
};
HEARTH_BINARY_OP(greater_equal){
    .summary = "Whether a is at least b.",
    .forward = [](Expr a, Expr b) { return a.dtype() == DType::boolean ? a | (~b) : b <= a; },
    .dtypes = OpDTypes::predicate,
};
HEARTH_BINARY_OP(logical_and){
    .summary = "Whether both are true or not 0.",
    .forward = [](Expr a, Expr b) { return cast(a, DType::boolean) & cast(b, DType::boolean); },
    .reference = [](double a, double b) { return a != 0 && b != 0 ? 1.0 : 0.0; },
    .dtypes = OpDTypes::predicate,
};
HEARTH_BINARY_OP(logical_or){
    .summary = "Whether one is true or not 0.",
    .forward = [](Expr a, Expr b) { return cast(a, DType::boolean) | cast(b, DType::boolean); },
    .reference = [](double a, double b) { return a != 0 || b != 0 ? 1.0 : 0.0; },
    .dtypes = OpDTypes::predicate,
};
HEARTH_BINARY_OP(logical_xor){
    .summary = "Whether exactly one is true or not 0.",
    .forward = [](Expr a, Expr b) { return cast(a, DType::boolean) ^ cast(b, DType::boolean); },
    .reference = [](double a, double b) { return (a != 0) != (b != 0) ? 1.0 : 0.0; },
    .dtypes = OpDTypes::predicate,
};

// ---- bits of integers and booleans ----

HEARTH_BINARY_OP(bitwise_and){
    .summary = "Bits that both have.",
    .forward = [](Expr a, Expr b) { return a & b; },
    .dtypes = OpDTypes::integers,
};
HEARTH_BINARY_OP(bitwise_or){
    .summary = "Bits that one has.",
    .forward = [](Expr a, Expr b) { return a | b; },
    .dtypes = OpDTypes::integers,
};
HEARTH_BINARY_OP(bitwise_xor){
    .summary = "Bits that exactly one has.",
    .forward = [](Expr a, Expr b) { return a ^ b; },
    .dtypes = OpDTypes::integers,
};
HEARTH_BINARY_OP(left_shift){
    .summary = "a times 2 to the power b; 0 when b is negative or above 31.",
    .forward = [](Expr a, Expr b) { return a << b; },
    .domain_b = {0, 8},
    .dtypes = OpDTypes::integers,
};
HEARTH_BINARY_OP(right_shift){
    .summary = "a divided by 2 to the power b, rounded down; only the sign is left when b is negative or above 31.",
    .forward = [](Expr a, Expr b) { return a >> b; },
    .domain_b = {0, 8},
    .dtypes = OpDTypes::integers,
};

/// leaky_relu with a slope for each channel.
[[nodiscard]] inline Tensor prelu(const Tensor& x, const Tensor& slope) { return leaky_relu(x, slope); }

/// `if_true` where `condition` holds (is not 0), else `if_false`; all three broadcast, dtypes are promoted.
[[nodiscard]] Tensor where(const Tensor& condition, const Tensor& if_true, const Tensor& if_false);
[[nodiscard]] Tensor where(const Tensor& condition, const Tensor& if_true, double if_false);
[[nodiscard]] Tensor where(const Tensor& condition, double if_true, const Tensor& if_false);

/// x limited to [low, high]; NaN stays NaN, the derivative at a bound is 1.
[[nodiscard]] Tensor clamp(const Tensor& x, double low, double high);
[[nodiscard]] Tensor clamp(const Tensor& x, const Tensor& low, const Tensor& high);
[[nodiscard]] inline Expr clamp(Expr x, Expr low, Expr high) { return select(x < low, low, select(high < x, high, x)); }

[[nodiscard]] inline Tensor operator+(const Tensor& a, const Tensor& b) { return apply(ops::add, a, b); }
[[nodiscard]] inline Tensor operator+(const Tensor& a, double b) { return apply(ops::add, a, b); }
[[nodiscard]] inline Tensor operator+(double a, const Tensor& b) { return apply(ops::add, a, b); }
[[nodiscard]] inline Tensor operator-(const Tensor& a, const Tensor& b) { return apply(ops::subtract, a, b); }
[[nodiscard]] inline Tensor operator-(const Tensor& a, double b) { return apply(ops::subtract, a, b); }
[[nodiscard]] inline Tensor operator-(double a, const Tensor& b) { return apply(ops::subtract, a, b); }
[[nodiscard]] inline Tensor operator*(const Tensor& a, const Tensor& b) { return apply(ops::multiply, a, b); }
[[nodiscard]] inline Tensor operator*(const Tensor& a, double b) { return apply(ops::multiply, a, b); }
[[nodiscard]] inline Tensor operator*(double a, const Tensor& b) { return apply(ops::multiply, a, b); }
[[nodiscard]] inline Tensor operator/(const Tensor& a, const Tensor& b) { return apply(ops::divide, a, b); }
[[nodiscard]] inline Tensor operator/(const Tensor& a, double b) { return apply(ops::divide, a, b); }
[[nodiscard]] inline Tensor operator/(double a, const Tensor& b) { return apply(ops::divide, a, b); }
/// The remainder with the sign of b, as `remainder`.
[[nodiscard]] inline Tensor operator%(const Tensor& a, const Tensor& b) { return apply(ops::remainder, a, b); }
[[nodiscard]] inline Tensor operator%(const Tensor& a, double b) { return apply(ops::remainder, a, b); }
[[nodiscard]] inline Tensor operator%(double a, const Tensor& b) { return apply(ops::remainder, a, b); }
[[nodiscard]] inline Tensor operator-(const Tensor& x) { return apply(ops::neg, x); }

}  // namespace hearth
