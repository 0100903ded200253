#pragma once
// WGSL for functions that WGSL lacks or defines too loosely: its tanh may overflow, asin and atan may be off by thousands of
// ulps, log near 1 by 2^-21, pow knows no negative base. Coefficients are minimax (Chebyshev) fits made for this file with 40
// digits; the relative error of each approximation alone is below 8e-8. What else was used is named at its place.
namespace hearth::detail {

// tanh(x) = x + x^3 P(x^2) below 0.625, else 1 - 2 / (exp(2 |x|) + 1), where the overflow of exp does no harm.
inline constexpr const char* wgsl_tanh = R"(fn hearth_tanh(x: f32) -> f32 {
  let a = abs(x);
  let z = x * x;
  let p = (((-0.006096714 * z + 0.02099718) * z - 0.053850908) * z + 0.13332769) * z - 0.33333328;
  let far = 1.0 - 2.0 / (exp(2.0 * min(a, 20.0)) + 1.0);
  let y = select(select(far, -far, x < 0.0), x + x * z * p, a < 0.625);
  return select(y, x, (bitcast<u32>(x) & 0x7fffffffu) > 0x7f800000u);
}
)";

// exp(-|x|) cannot overflow.
inline constexpr const char* wgsl_sigmoid = R"(fn hearth_sigmoid(x: f32) -> f32 {
  let e = exp(-abs(x));
  let d = 1.0 / (1.0 + e);
  return select(d, e * d, x < 0.0);
}
)";

// Taylor series near 0 (the next term is 1.6e-8 of the value), where exp(x) - 1 cancels.
inline constexpr const char* wgsl_expm1 = R"(fn hearth_expm1(x: f32) -> f32 {
  let t = 1.0 + x * (1.0 / 6.0 + x * (1.0 / 42.0));
  let p = x * (1.0 + x * 0.5 * (1.0 + x * (1.0 / 3.0) * (1.0 + x * 0.25 * (1.0 + x * 0.2 * t))));
  return select(exp(x) - 1.0, p, abs(x) < 0.35);
}
)";

// log(1 + x) = 2 atanh(s), s = x / (2 + x), by its Taylor series near 0 (the next term is 5e-9 of the value).
inline constexpr const char* wgsl_log1p = R"(fn hearth_log1p(x: f32) -> f32 {
  let s = x / (2.0 + x);
  let z = s * s;
  let p = 2.0 * s * (1.0 + z * (1.0 / 3.0 + z * (0.2 + z * (1.0 / 7.0 + z * (1.0 / 9.0 + z * (1.0 / 11.0))))));
  return select(log(1.0 + x), p, abs(x) < 0.4);
}
)";

// The same series for log near 1, where WGSL allows an absolute error of 2^-21.
inline constexpr const char* wgsl_log = R"(fn hearth_log(x: f32) -> f32 {
  let s = (x - 1.0) / (x + 1.0);
  let z = s * s;
  let p = 2.0 * s * (1.0 + z * (1.0 / 3.0 + z * (0.2 + z * (1.0 / 7.0 + z * (1.0 / 9.0 + z * (1.0 / 11.0))))));
  return select(log(x), p, abs(x - 1.0) < 0.4);
}
)";
inline constexpr const char* wgsl_log2 = R"(fn hearth_log2(x: f32) -> f32 {
  let s = (x - 1.0) / (x + 1.0);
  let z = s * s;
  let p = s * (1.0 + z * (1.0 / 3.0 + z * (0.2 + z * (1.0 / 7.0 + z * (1.0 / 9.0 + z * (1.0 / 11.0))))));
  return select(log2(x), 2.8853901 * p, abs(x - 1.0) < 0.4);
}
)";
inline constexpr const char* wgsl_log10 = R"(fn hearth_log10(x: f32) -> f32 {
  let s = (x - 1.0) / (x + 1.0);
  let z = s * s;
  let p = s * (1.0 + z * (1.0 / 3.0 + z * (0.2 + z * (1.0 / 7.0 + z * (1.0 / 9.0 + z * (1.0 / 11.0))))));
  return select(log2(x) * 0.30103, 0.8685890 * p, abs(x - 1.0) < 0.4);
}
)";

// Reduction by 2 pi (by pi for tan) in three parts after Cody and Waite, exact below 1,024 periods; WGSL promises nothing beyond
// pi.
inline constexpr const char* wgsl_sin = R"(fn hearth_sin(x: f32) -> f32 {
  let n = round(x * 0.15915494);
  return sin(((x - n * 6.28271484375) - n * 0.00047045946) - n * 3.9683745e-9);
}
)";
inline constexpr const char* wgsl_cos = R"(fn hearth_cos(x: f32) -> f32 {
  let n = round(x * 0.15915494);
  return cos(((x - n * 6.28271484375) - n * 0.00047045946) - n * 3.9683745e-9);
}
)";
inline constexpr const char* wgsl_tan = R"(fn hearth_tan(x: f32) -> f32 {
  let n = round(x * 0.31830989);
  let r = ((x - n * 3.141357421875) - n * 0.00023522973) - n * 1.9841873e-9;
  return sin(r) / cos(r);
}
)";

// asin(x) = x + x^3 P(x^2) below 1/2; asin(x) = pi/2 - 2 asin(sqrt((1 - x) / 2)) above.
inline constexpr const char* wgsl_asin = R"(fn hearth_asin(x: f32) -> f32 {
  let a = abs(x);
  let high = a > 0.5;
  let z = select(x * x, (1.0 - a) * 0.5, high);
  let s = select(a, sqrt(z), high);
  let q = s + s * z * ((((0.038085025 * z + 0.026554542) * z + 0.04500138) * z + 0.07498855) * z + 0.16666673);
  let y = select(q, 1.5707964 - 2.0 * q, high);
  return select(y, -y, x < 0.0);
}
)";
inline constexpr const char* wgsl_acos = R"(fn hearth_acos(x: f32) -> f32 {
  let a = abs(x);
  let high = a > 0.5;
  let z = select(x * x, (1.0 - a) * 0.5, high);
  let s = select(x, sqrt(z), high);
  let q = s + s * z * ((((0.038085025 * z + 0.026554542) * z + 0.04500138) * z + 0.07498855) * z + 0.16666673);
  return select(1.5707964 - q, select(2.0 * q, 3.1415927 - 2.0 * q, x < 0.0), high);
}
)";

// atan(x) = x + x^3 P(x^2) up to 1, pi/2 - atan(1 / x) above.
inline constexpr const char* wgsl_atan = R"(fn hearth_atan(x: f32) -> f32 {
  let a = abs(x);
  let s = select(a, 1.0 / a, a > 1.0);
  let z = s * s;
  let p = (((((((-0.0023869972 * z + 0.013507771) * z - 0.03587154) * z + 0.06250169) * z - 0.0865688) * z + 0.11033764) * z
      - 0.14278568) * z + 0.1999974) * z - 0.3333333;
  let q = s + s * z * p;
  let y = select(q, 1.5707964 - q, a > 1.0);
  return select(y, -y, x < 0.0);
}
)";
// The same with the quadrant; signs of zeros count, as in C.
inline constexpr const char* wgsl_atan2 = R"(fn hearth_atan2(y: f32, x: f32) -> f32 {
  let ax = abs(x);
  let ay = abs(y);
  let big = max(ax, ay);
  let both_infinite = ax == ay && big > 3.4028234e38;
  let s = select(select(min(ax, ay) / big, 0.0, big == 0.0), 1.0, both_infinite);
  let z = s * s;
  let p = (((((((-0.0023869972 * z + 0.013507771) * z - 0.03587154) * z + 0.06250169) * z - 0.0865688) * z + 0.11033764) * z
      - 0.14278568) * z + 0.1999974) * z - 0.3333333;
  let q = s + s * z * p;
  let first = select(q, 1.5707964 - q, ay > ax);
  let upper = select(first, 3.1415927 - first, (bitcast<u32>(x) & 0x80000000u) != 0u);
  let angle = select(upper, -upper, (bitcast<u32>(y) & 0x80000000u) != 0u);
  let nan = (bitcast<u32>(x) & 0x7fffffffu) > 0x7f800000u || (bitcast<u32>(y) & 0x7fffffffu) > 0x7f800000u;
  return select(angle, x + y, nan);
}
)";

// exp(|x| / 2) twice where exp(|x|) overflows; Taylor series of sinh near 0.
inline constexpr const char* wgsl_sinh = R"(fn hearth_sinh(x: f32) -> f32 {
  let a = abs(x);
  let z = x * x;
  let near = x * (1.0 + z * (1.0 / 6.0) * (1.0 + z * 0.05 * (1.0 + z * (1.0 / 42.0) * (1.0 + z * (1.0 / 72.0)))));
  let e = exp(a);
  let h = exp(0.5 * a);
  let far = select(0.5 * (e - 1.0 / e), 0.5 * h * h, a > 20.0);
  return select(select(far, -far, x < 0.0), near, a < 1.0);
}
)";
inline constexpr const char* wgsl_cosh = R"(fn hearth_cosh(x: f32) -> f32 {
  let a = abs(x);
  let e = exp(a);
  let h = exp(0.5 * a);
  return select(0.5 * (e + 1.0 / e), 0.5 * h * h, a > 20.0);
}
)";

// Cube root by exp2 and log2, then one step of Newton's method.
inline constexpr const char* wgsl_cbrt = R"(fn hearth_cbrt(x: f32) -> f32 {
  let a = abs(x);
  let y = exp2(log2(a) / 3.0);
  let r = y - (y - a / (y * y)) / 3.0;
  let s = select(r, -r, x < 0.0);
  return select(s, x, a == 0.0 || !(a <= 3.4028234e38));
}
)";

// erf(x) = x P(x^2) below 1. Above, erfc(x) = exp(-x^2) t Q(t) with t = 2 / (2 + x); x^2 is split into two products, so that its
// rounding does not enter the exponent (the way of Sun's fdlibm).
inline constexpr const char* wgsl_erf = R"(fn hearth_erf(x: f32) -> f32 {
  let a = min(abs(x), 4.0);
  let z = x * x;
  let p = (((((-0.000564806 * z + 0.0049217618) * z - 0.026715055) * z + 0.1128032) * z - 0.37612343) * z + 1.1283791) * x;
  let t = 2.0 / (2.0 + a);
  let q = ((((((0.0943031 * t - 0.22867747) * t + 0.08545496) * t + 0.0590015) * t + 0.17955723) * t + 0.24678935) * t + 0.28206053) * t
      + 0.28209737;
  let far = 1.0 - exp(-a * a) * t * q;
  let y = select(select(far, -far, x < 0.0), p, abs(x) < 1.0);
  return select(y, x, (bitcast<u32>(x) & 0x7fffffffu) > 0x7f800000u);
}
)";
inline constexpr const char* wgsl_erfc = R"(fn hearth_erfc(x: f32) -> f32 {
  let a = min(abs(x), 11.0);
  let z = x * x;
  let p = (((((-0.000564806 * z + 0.0049217618) * z - 0.026715055) * z + 0.1128032) * z - 0.37612343) * z + 1.1283791) * x;
  let t = 2.0 / (2.0 + a);
  let q = ((((((0.0943031 * t - 0.22867747) * t + 0.08545496) * t + 0.0590015) * t + 0.17955723) * t + 0.24678935) * t + 0.28206053) * t
      + 0.28209737;
  let h = bitcast<f32>(bitcast<u32>(a) & 0xfffff000u);
  let far = exp(-h * h) * exp((h - a) * (h + a)) * t * q;
  let y = select(select(far, 2.0 - far, x < 0.0), 1.0 - p, abs(x) < 1.0);
  return select(y, x, (bitcast<u32>(x) & 0x7fffffffu) > 0x7f800000u);
}
)";

// An integer power by repeated squaring up to 64, which keeps the sign and the digits; else exp2(b log2(a)), with the cases of C.
inline constexpr const char* wgsl_pow = R"(fn hearth_pow(a: f32, b: f32) -> f32 {
  let m = abs(b);
  let whole = m >= 16777216.0 || floor(b) == b;
  let odd = whole && m < 16777216.0 && (u32(min(m, 16777216.0)) & 1u) == 1u;
  var y = 1.0;
  if (whole && m <= 64.0) {
    var n = u32(m);
    var s = a;
    loop {
      if ((n & 1u) == 1u) { y = y * s; }
      n = n >> 1u;
      if (n == 0u) { break; }
      s = s * s;
    }
    if (b < 0.0) { y = 1.0 / y; }
  } else {
    let x = abs(a);
    let s = (x - 1.0) / (x + 1.0);
    let z = s * s;
    let near = 2.8853901 * s * (1.0 + z * (1.0 / 3.0 + z * (0.2 + z * (1.0 / 7.0 + z * (1.0 / 9.0 + z * (1.0 / 11.0))))));
    let l = select(log2(x), near, abs(x - 1.0) < 0.4);
    y = select(exp2(b * l), 1.0, x == 1.0);
    if (x == 0.0) { y = select(0.0, 1.0 / x, b < 0.0); }
    if ((bitcast<u32>(a) & 0x80000000u) != 0u) { y = select(y, -y, odd); }
    if (a < 0.0 && x <= 3.4028234e38 && !whole) { y = bitcast<f32>(bitcast<u32>(l) | 0x7fc00000u); }
  }
  let a_nan = (bitcast<u32>(a) & 0x7fffffffu) > 0x7f800000u;
  let b_nan = (bitcast<u32>(b) & 0x7fffffffu) > 0x7f800000u;
  return select(select(y, a + b, a_nan || b_nan), 1.0, b == 0.0 || a == 1.0);
}
)";

// sqrt(a^2 + b^2) without overflow.
inline constexpr const char* wgsl_hypot = R"(fn hearth_hypot(a: f32, b: f32) -> f32 {
  let big = max(abs(a), abs(b));
  let r = min(abs(a), abs(b)) / big;
  let y = select(select(big * sqrt(1.0 + r * r), 0.0, big == 0.0), big, big > 3.4028234e38);
  let nan = (bitcast<u32>(a) & 0x7fffffffu) > 0x7f800000u || (bitcast<u32>(b) & 0x7fffffffu) > 0x7f800000u;
  return select(y, a + b, nan && big <= 3.4028234e38);
}
)";

// The same functions on blocks of elements for the CPU device, by Eigen's vectorised ones.
void exp_block(const float* x, float* y, int count);
void log_block(const float* x, float* y, int count);
void sin_block(const float* x, float* y, int count);
void cos_block(const float* x, float* y, int count);
void sqrt_block(const float* x, float* y, int count);
void tanh_block(const float* x, float* y, int count);
void sigmoid_block(const float* x, float* y, int count);
void erf_block(const float* x, float* y, int count);
void erfc_block(const float* x, float* y, int count);

}  // namespace hearth::detail
