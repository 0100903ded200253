#include <doctest/doctest.h>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "hearth/dtype.hpp"
#include "hearth/tensor.hpp"

using namespace hearth;

namespace {

/// The binary16 number nearest to `value`, found by trying all of them; ties to the even one.
std::uint16_t nearest_half(float value) {
  std::uint16_t best = 0;
  double best_distance = std::numeric_limits<double>::infinity();
  for (std::uint32_t bits = 0; bits <= 0x7c00; ++bits) {
    Half half;
    half.bits = static_cast<std::uint16_t>(bits);
    // Infinity stands where the next number would be: 65536.
    const double candidate = bits == 0x7c00 ? 65536.0 : static_cast<double>(static_cast<float>(half));
    const double distance = std::abs(candidate - std::abs(static_cast<double>(value)));
    if (distance < best_distance || (distance == best_distance && bits % 2 == 0)) {
      best = static_cast<std::uint16_t>(bits);
      best_distance = distance;
    }
  }
  return static_cast<std::uint16_t>(best | (std::signbit(value) ? 0x8000 : 0));
}

template <typename To, typename From>
std::vector<To> converted(const std::vector<From>& values, DType from, DType to) {
  std::vector<std::byte> bytes(values.size() * sizeof(From));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  bytes = detail::convert(bytes, from, to);
  std::vector<To> result(bytes.size() / sizeof(To));
  std::memcpy(result.data(), bytes.data(), bytes.size());
  return result;
}

}  // namespace

TEST_CASE("promote follows the Array API, mixed signs give i32") {
  CHECK(promote(DType::boolean, DType::u8) == DType::u8);
  CHECK(promote(DType::f16, DType::boolean) == DType::f16);
  CHECK(promote(DType::u8, DType::i8) == DType::i32);
  CHECK(promote(DType::u8, DType::u32) == DType::u32);
  CHECK(promote(DType::u32, DType::i32) == DType::i32);
  CHECK(promote(DType::i8, DType::u32) == DType::i32);
  CHECK(promote(DType::i32, DType::f16) == DType::f16);
  CHECK(promote(DType::f16, DType::f32) == DType::f32);
  CHECK(promote(DType::f32, DType::f64) == DType::f64);
  for (int a = 0; a < dtype_count; ++a)
    for (int b = 0; b < dtype_count; ++b) CHECK(promote(DType(a), DType(b)) == promote(DType(b), DType(a)));
}

TEST_CASE("half to float and back keeps every number") {
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    Half half;
    half.bits = static_cast<std::uint16_t>(bits);
    const float value = static_cast<float>(half);
    if (std::isnan(value)) {
      CHECK(std::isnan(static_cast<float>(Half(value))));
    } else if (Half(value).bits != bits) {
      FAIL("bits ", bits, " come back as ", Half(value).bits);
    }
  }
}

TEST_CASE("float to half rounds to nearest, ties to even") {
  const float values[] = {0.0f,      -0.0f,          1.0f,           65504.0f,     65519.96f,    65520.0f, 1e30f,   0x1p-24f,
                          0x1p-25f,  0x1.8p-25f,     0x1.8p-24f,     0x1p-14f,     6.1e-5f,      2049.0f,  2051.0f, 0.1f,
                          -3.14159f, 1.00048828125f, 1.00146484375f, 0x1.ffep-15f, 0x1.fffp-15f, -1e-8f};
  for (const float value : values) {
    CAPTURE(value);
    CHECK(Half(value).bits == nearest_half(value));
  }
  CHECK(Half(std::numeric_limits<float>::infinity()).bits == 0x7c00);
  CHECK(Half(-std::numeric_limits<float>::infinity()).bits == 0xfc00);
}

TEST_CASE("convert clamps floats to integers, NaN gives 0") {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  CHECK(converted<std::int32_t>(std::vector<float>{1.9f, -1.9f, 3e9f, -3e9f, nan}, DType::f32, DType::i32) ==
        std::vector<std::int32_t>{1, -1, 2147483647, -2147483647 - 1, 0});
  CHECK(converted<std::uint8_t>(std::vector<double>{-5, 255.9, 256, 0.5}, DType::f64, DType::u8) ==
        std::vector<std::uint8_t>{0, 255, 255, 0});
}

TEST_CASE("convert wraps integers and makes booleans of what is not zero") {
  CHECK(converted<std::uint8_t>(std::vector<std::int32_t>{-1, 257}, DType::i32, DType::u8) == std::vector<std::uint8_t>{255, 1});
  CHECK(converted<std::uint32_t>(std::vector<float>{0, -0.0f, 0.25f}, DType::f32, DType::boolean) ==
        std::vector<std::uint32_t>{0, 0, 1});
  CHECK(converted<float>(std::vector<std::uint32_t>{0, 7}, DType::boolean, DType::f32) == std::vector<float>{0, 1});
  CHECK(converted<double>(std::vector<std::uint32_t>{4294967295u}, DType::u32, DType::f64) == std::vector<double>{4294967295.0});
}
