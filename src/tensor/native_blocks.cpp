#include <Eigen/Core>
#include <algorithm>
#include <cmath>

#include "hearth/ops/native.hpp"

/// Vectorised functions for the CPU device, on blocks of elements. The branches of each are both computed and selected, so that
/// compilers vectorise the loops. Approximations and coefficients as in hearth/ops/native.hpp.
namespace hearth::detail {

namespace {

using In = Eigen::Map<const Eigen::ArrayXf>;
using Out = Eigen::Map<Eigen::ArrayXf>;

/// Elements worked on at a time: scratch stays in the first-level cache.
constexpr int chunk = 512;

/// Calls `piece(x, y, n)` for pieces of at most `chunk` elements.
template <typename F>
void in_chunks(const float* x, float* y, int count, F piece) {
  for (int i = 0; i < count; i += chunk) piece(x + i, y + i, std::min(chunk, count - i));
}

float erf_near(float x) {
  const float z = x * x;
  return (((((-0.000564806f * z + 0.0049217618f) * z - 0.026715055f) * z + 0.1128032f) * z - 0.37612343f) * z + 1.1283791f) * x;
}
/// erfc(a) * exp(a^2) for a >= 1.
float erfc_tail(float a) {
  const float t = 2.0f / (2.0f + a);
  const float q =
      ((((((0.0943031f * t - 0.22867747f) * t + 0.08545496f) * t + 0.0590015f) * t + 0.17955723f) * t + 0.24678935f) * t +
       0.28206053f) *
          t +
      0.28209737f;
  return t * q;
}

}  // namespace

void exp_block(const float* x, float* y, int count) {
  Out(y, count) = In(x, count).exp();
  // Eigen stops at exp(-88.72) = 2.9e-39 for all that lies below, -infinity too; masks of attention need a 0 there.
  for (int i = 0; i < count; ++i) y[i] = y[i] < 4e-39f ? 0.0f : y[i];
}

void log_block(const float* x, float* y, int count) { Out(y, count) = In(x, count).log(); }
// Not Eigen's, which is off by an ulp or two.
void sqrt_block(const float* x, float* y, int count) {
  for (int i = 0; i < count; ++i) y[i] = std::sqrt(x[i]);
}
void sin_block(const float* x, float* y, int count) { Out(y, count) = In(x, count).sin(); }
void cos_block(const float* x, float* y, int count) { Out(y, count) = In(x, count).cos(); }

void sigmoid_block(const float* x, float* y, int count) {
  in_chunks(x, y, count, [](const float* in, float* out, int n) {
    float e[chunk] = {};
    for (int i = 0; i < n; ++i) e[i] = -std::fabs(in[i]);
    exp_block(e, e, n);
    for (int i = 0; i < n; ++i) out[i] = (in[i] < 0 ? e[i] : 1.0f) / (1.0f + e[i]);
  });
}

void tanh_block(const float* x, float* y, int count) {
  in_chunks(x, y, count, [](const float* in, float* out, int n) {
    float e[chunk] = {};
    for (int i = 0; i < n; ++i) e[i] = -2.0f * std::fabs(in[i]);
    exp_block(e, e, n);
    for (int i = 0; i < n; ++i) {
      const float v = in[i];
      const float z = v * v;
      const float p = (((-0.006096714f * z + 0.02099718f) * z - 0.053850908f) * z + 0.13332769f) * z - 0.33333328f;
      const float far = (1.0f - e[i]) / (1.0f + e[i]);
      out[i] = std::fabs(v) < 0.625f ? v * (1.0f + z * p) : std::copysign(far, v);
    }
  });
}

void erf_block(const float* x, float* y, int count) {
  in_chunks(x, y, count, [](const float* in, float* out, int n) {
    float e[chunk] = {};
    for (int i = 0; i < n; ++i) e[i] = -in[i] * in[i];
    exp_block(e, e, n);
    for (int i = 0; i < n; ++i) {
      const float a = std::fabs(in[i]);
      out[i] = a < 1.0f ? erf_near(in[i]) : std::copysign(1.0f - e[i] * erfc_tail(a), in[i]);
    }
  });
}

void erfc_block(const float* x, float* y, int count) {
  in_chunks(x, y, count, [](const float* in, float* out, int n) {
    float e[chunk] = {};
    float f[chunk] = {};
    for (int i = 0; i < n; ++i) {
      // x^2 as high^2 + (x - high) (x + high), where high has 11 bits: its square is exact.
      const float a = std::min(std::fabs(in[i]), 11.0f);  // in this order NaN stays
      const float scaled = a * 8193.0f;                   // Veltkamp's splitting, 2^13 + 1
      const float high = scaled - (scaled - a);
      e[i] = -high * high;
      f[i] = (high - a) * (high + a);
    }
    exp_block(e, e, n);
    exp_block(f, f, n);
    for (int i = 0; i < n; ++i) {
      const float v = in[i];
      const float tail = e[i] * f[i] * erfc_tail(std::fabs(v));
      out[i] = std::fabs(v) < 1.0f ? 1.0f - erf_near(v) : v < 0 ? 2.0f - tail : tail;
    }
  });
}

}  // namespace hearth::detail
