#include "hearth/dtype.hpp"

#include <bit>

namespace hearth {

const char* to_string(DType dtype) noexcept {
  switch (dtype) {
    case DType::boolean: return "bool";
    case DType::u8: return "u8";
    case DType::i8: return "i8";
    case DType::u32: return "u32";
    case DType::i32: return "i32";
    case DType::f16: return "f16";
    case DType::f32: return "f32";
    case DType::f64: return "f64";
  }
  return "unknown";
}

DType promote(DType a, DType b) noexcept {
  if (a == b) return a;
  if (is_float(a) || is_float(b)) return a > b ? a : b;  // the enumerators are ordered: floats last, wider later
  if (a == DType::boolean) return b;
  if (b == DType::boolean) return a;
  // Two different integer types: unsigned only when both are; there is no 16- or 64-bit type to hold mixed signs.
  return is_signed(a) || is_signed(b) ? DType::i32 : DType::u32;
}

Half::Half(float value) noexcept {
  const auto word = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = (word >> 16) & 0x8000u;
  const std::uint32_t magnitude = word & 0x7fffffffu;
  std::uint32_t result = 0;
  if (magnitude > 0x7f800000u) {
    result = 0x7e00u | ((magnitude >> 13) & 0x1ffu);  // NaN stays a quiet NaN
  } else if (magnitude >= 0x477ff000u) {
    result = 0x7c00u;  // from 65520 on the nearest is infinity
  } else if (magnitude < 0x38800000u) {
    // Below 2^-14: one unit of a subnormal is 2^-24, the spacing of floats in [0.5, 1): the addition rounds to even.
    const float shifted = std::bit_cast<float>(magnitude) + 0.5f;
    result = std::bit_cast<std::uint32_t>(shifted) - std::bit_cast<std::uint32_t>(0.5f);
  } else {
    const std::uint32_t rounded = magnitude + 0xfffu + ((magnitude >> 13) & 1u);
    result = (rounded >> 13) - (112u << 10);  // 112 = 127 - 15, the exponents' biases
  }
  bits = static_cast<std::uint16_t>(sign | result);
}

Half::operator float() const noexcept {
  const std::uint32_t sign = (bits & 0x8000u) << 16;
  const std::uint32_t exponent = (bits >> 10) & 0x1fu;
  const std::uint32_t mantissa = bits & 0x3ffu;
  if (exponent == 0) {
    const float magnitude = static_cast<float>(mantissa) * 0x1p-24f;
    return std::bit_cast<float>(std::bit_cast<std::uint32_t>(magnitude) | sign);
  }
  const std::uint32_t wide = exponent == 31 ? 255u : exponent + 112u;
  return std::bit_cast<float>(sign | (wide << 23) | (mantissa << 13));
}

}  // namespace hearth
