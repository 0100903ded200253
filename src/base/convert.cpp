#include <cmath>
#include <cstring>
#include <limits>

#include "hearth/tensor.hpp"

namespace hearth::detail {

namespace {

/// A boolean as it is stored: one word.
struct Word {
  std::uint32_t value;
};

template <typename T>
double widen(T value) {
  if constexpr (std::is_same_v<T, Half>) {
    return static_cast<float>(value);
  } else if constexpr (std::is_same_v<T, Word>) {
    return value.value != 0 ? 1.0 : 0.0;
  } else {
    return static_cast<double>(value);  // exact: every type has at most 53 bits of mantissa
  }
}

template <typename To, typename From>
To convert_one(From from) {
  const double value = widen(from);
  if constexpr (std::is_same_v<To, Word>) {
    return {value != 0 ? 1u : 0u};
  } else if constexpr (std::is_same_v<To, Half>) {
    return Half(static_cast<float>(value));
  } else if constexpr (std::is_integral_v<To>) {
    if constexpr (std::is_integral_v<From>) {
      return static_cast<To>(from);  // integers wrap, as on a device
    } else {
      if (std::isnan(value)) return 0;
      const double truncated = std::trunc(value);
      if (truncated <= static_cast<double>(std::numeric_limits<To>::min())) return std::numeric_limits<To>::min();
      if (truncated >= static_cast<double>(std::numeric_limits<To>::max())) return std::numeric_limits<To>::max();
      return static_cast<To>(truncated);
    }
  } else {
    return static_cast<To>(value);
  }
}

template <typename F>
void with_type(DType dtype, F function) {
  switch (dtype) {
    case DType::boolean: return function(Word{});
    case DType::u8: return function(std::uint8_t{});
    case DType::i8: return function(std::int8_t{});
    case DType::u32: return function(std::uint32_t{});
    case DType::i32: return function(std::int32_t{});
    case DType::f16: return function(Half{});
    case DType::f32: return function(float{});
    case DType::f64: return function(double{});
  }
}

}  // namespace

std::vector<std::byte> convert(std::vector<std::byte> elements, DType from, DType to) {
  if (from == to) return elements;
  const std::size_t count = elements.size() / size_bytes(from);
  std::vector<std::byte> result(count * size_bytes(to));
  with_type(from, [&]<typename From>(From) {
    with_type(to, [&]<typename To>(To) {
      for (std::size_t i = 0; i < count; ++i) {
        From value;
        std::memcpy(&value, elements.data() + i * sizeof value, sizeof value);
        const To converted = convert_one<To>(value);
        std::memcpy(result.data() + i * sizeof converted, &converted, sizeof converted);
      }
    });
  });
  return result;
}

}  // namespace hearth::detail
