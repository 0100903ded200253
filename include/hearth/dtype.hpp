#pragma once
#include <cstddef>
#include <cstdint>

#include "hearth/fwd.hpp"

namespace hearth {

/// Element type of a tensor.
/// f16, i8 and u8 are storage types: a kernel computes them as f32, i32 and u32. f64 exists on the CPU device only.
/// A boolean takes one 32-bit word on a device (WGSL has no smaller storable type) and one byte on the host.
enum class DType : unsigned char { boolean, u8, i8, u32, i32, f16, f32, f64 };

inline constexpr int dtype_count = 8;

/// Name as NumPy spells it short: "f32", "i32", "bool".
[[nodiscard]] const char* to_string(DType dtype) noexcept;

/// Bytes of one element on a device.
[[nodiscard]] constexpr std::size_t size_bytes(DType dtype) noexcept {
  switch (dtype) {
    case DType::u8:
    case DType::i8: return 1;
    case DType::f16: return 2;
    case DType::f64: return 8;
    default: return 4;
  }
}
[[nodiscard]] constexpr bool is_float(DType dtype) noexcept { return dtype >= DType::f16; }
[[nodiscard]] constexpr bool is_integer(DType dtype) noexcept { return dtype != DType::boolean && dtype < DType::f16; }
[[nodiscard]] constexpr bool is_signed(DType dtype) noexcept {
  return is_float(dtype) || dtype == DType::i8 || dtype == DType::i32;
}

/// What a kernel computes with for elements stored as `dtype`: f16 -> f32, i8 -> i32, u8 -> u32, else itself.
[[nodiscard]] constexpr DType compute_dtype(DType dtype) noexcept {
  switch (dtype) {
    case DType::f16: return DType::f32;
    case DType::i8: return DType::i32;
    case DType::u8: return DType::u32;
    default: return dtype;
  }
}

/// Result dtype of a binary operation (Array API rules; u32 with i32 or i8 gives i32, an integer with a float gives the float).
[[nodiscard]] DType promote(DType a, DType b) noexcept;

/// Storage type of an IEEE 754 binary16 number on the host.
struct Half {
  std::uint16_t bits = 0;
  Half() = default;
  explicit Half(float value) noexcept;
  explicit operator float() const noexcept;
  friend bool operator==(Half a, Half b) noexcept { return a.bits == b.bits; }
};

/// The DType of a host type: float, double, int32_t, uint32_t, int8_t, uint8_t, bool, Half.
template <typename T>
inline constexpr DType dtype_of = [] {
  static_assert(sizeof(T) == 0, "no DType for this host type");
  return DType::f32;
}();
template <>
inline constexpr DType dtype_of<float> = DType::f32;
template <>
inline constexpr DType dtype_of<double> = DType::f64;
template <>
inline constexpr DType dtype_of<std::int32_t> = DType::i32;
template <>
inline constexpr DType dtype_of<std::uint32_t> = DType::u32;
template <>
inline constexpr DType dtype_of<std::int8_t> = DType::i8;
template <>
inline constexpr DType dtype_of<std::uint8_t> = DType::u8;
template <>
inline constexpr DType dtype_of<bool> = DType::boolean;
template <>
inline constexpr DType dtype_of<Half> = DType::f16;

}  // namespace hearth
