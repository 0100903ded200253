#include <array>
#include <cmath>

#include "hearth/ops/create.hpp"
#include "hearth/ops/unary.hpp"
#include "tensor/structured.hpp"

namespace hearth {
namespace {

using namespace structured;
using Words = std::array<Expr, 4>;

/// Philox 4x32-10: Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2, 3" (2011). Constants from the paper.
Words philox(Words counter, std::array<Expr, 2> key) {
  for (int round = 0; round < 10; ++round) {
    if (round > 0) key = {key[0] + Expr(0x9E3779B9u), key[1] + Expr(0xBB67AE85u)};
    const Expr a = Expr(0xD2511F53u), b = Expr(0xCD9E8D57u);
    counter = {mul_high(b, counter[2]) ^ counter[1] ^ key[0], b * counter[2],  //
               mul_high(a, counter[0]) ^ counter[3] ^ key[1], a * counter[0]};
  }
  return counter;
}

/// Arguments 0 to 3 are the low and high words of seed and offset.
Words random_words(const Operation& operation) {
  // The element's row-major index; the simplifier turns it into the flat coordinate.
  Expr index = integer(0);
  const Shape strides = row_major_strides(operation.shape);
  for (int axis = 0; axis < operation.shape.rank(); ++axis) index = index + Expr::coordinate(axis) * integer(strides[axis]);
  const auto word = [](int i) { return Expr::argument(i, DType::u32); };
  return philox({cast(index, DType::u32), Expr(0u), word(2), word(3)}, {word(0), word(1)});
}

/// In [0, 1), exact in `dtype`: as many bits as its significand holds.
Expr fraction(const Expr& high, const Expr& low, DType dtype) {
  if (dtype == DType::f64) {
    const Expr upper = cast(high >> Expr(5u), DType::f64), lower = cast(low >> Expr(6u), DType::f64);
    return (upper * Expr::constant(67108864.0, DType::f64) + lower) * Expr::constant(std::ldexp(1.0, -53), DType::f64);
  }
  const int bits = dtype == DType::f16 ? 11 : 24;
  return cast(high >> Expr(static_cast<std::uint32_t>(32 - bits)), DType::f32) *
         Expr::constant(std::ldexp(1.0, -bits), DType::f32);
}

Body lower_random_bits(const Operation& operation) { return {.value = random_words(operation)[0]}; }
constexpr Definition bits_definition{.name = "random_bits", .lower = lower_random_bits};

Body lower_uniform(const Operation& operation) {
  const Words words = random_words(operation);
  const DType dtype = compute_dtype(operation.dtype);
  if (is_float(dtype))
    return {.value = Expr::argument(4, dtype) + fraction(words[0], words[1], operation.dtype) * Expr::argument(5, dtype)};
  // Modulo 2^32, so that the same bits serve signed and unsigned results.
  const Expr whole = Expr::argument(4, DType::u32) + mul_high(words[0], Expr::argument(5, DType::u32));
  return {.value = dtype == DType::u32 ? whole : bitcast(whole, DType::i32)};
}
constexpr Definition uniform_definition{.name = "uniform", .lower = lower_uniform};

Body lower_normal(const Operation& operation) {
  const Words words = random_words(operation);
  const DType dtype = compute_dtype(operation.dtype);
  // f16 results are computed from 24 bits too: the tails need small fractions.
  const Expr first = fraction(words[0], words[1], dtype), second = fraction(words[2], words[3], dtype);
  const Expr radius = sqrt(Expr(-2.0) * log(Expr(1.0) - first));  // 1 - u lies in (0, 1]
  const Expr value = radius * cos(Expr(6.283185307179586) * second);
  return {.value = Expr::argument(4, dtype) + value * Expr::argument(5, dtype)};
}
constexpr Definition normal_definition{.name = "normal", .lower = lower_normal};

std::vector<Operand> stream(std::uint64_t seed, std::uint64_t offset) {
  const auto low = [](std::uint64_t x) { return Operand(static_cast<double>(x & 0xffffffffu), DType::u32); };
  const auto high = [](std::uint64_t x) { return Operand(static_cast<double>(x >> 32), DType::u32); };
  return {low(seed), high(seed), low(offset), high(offset)};
}

struct Range {
  double least, most;
};
Range integer_range(DType dtype) {
  switch (dtype) {
    case DType::i8: return {-128, 127};
    case DType::u8: return {0, 255};
    case DType::u32: return {0, 4294967295.0};
    default: return {-2147483648.0, 2147483647.0};
  }
}

}  // namespace

Tensor random_bits(const Shape& shape, const RandomBitsOptions& options, const Device& device) {
  if (!device) fail(ErrorCode::invalid_argument, "random_bits: the device is null.");
  return run(bits_definition, stream(options.seed, options.offset), shape, DType::u32, {}, device);
}

Tensor uniform(const Shape& shape, const UniformOptions& options, const Device& device) {
  if (!device) fail(ErrorCode::invalid_argument, "uniform: the device is null.");
  const auto [seed, offset, low, high, dtype] = options;
  if (dtype == DType::boolean) fail(ErrorCode::dtype_mismatch, "uniform: the dtype is bool; it must be a number.");
  if (!(std::isfinite(low) && std::isfinite(high) && low <= high))
    fail(ErrorCode::invalid_argument, "uniform: low {} and high {} must be finite, and low not above high.", low, high);
  std::vector<Operand> inputs = stream(seed, offset);
  if (is_float(dtype)) {
    inputs.emplace_back(low, dtype);
    inputs.emplace_back(high - low, dtype);
  } else {
    const bool whole = low == std::floor(low) && high == std::floor(high) && high - low <= 4294967295.0;
    if (!whole || high == low)
      fail(ErrorCode::invalid_argument, "uniform: low {} and high {} must be whole numbers of {} that differ by 1 to 4294967295.",
           low, high, text(dtype));
    const auto [least, most] = integer_range(dtype);
    if (low < least || high > most + 1)
      fail(ErrorCode::invalid_argument, "uniform: low {} and high {} leave {}, which reaches from {} to {}.", low, high,
           text(dtype), least, most);
    const double wrapped = low < 0 ? low + 4294967296.0 : low;
    inputs.emplace_back(wrapped, DType::u32);
    inputs.emplace_back(high - low, DType::u32);
  }
  return run(uniform_definition, std::move(inputs), shape, dtype, {}, device);
}

Tensor normal(const Shape& shape, const NormalOptions& options, const Device& device) {
  if (!device) fail(ErrorCode::invalid_argument, "normal: the device is null.");
  const auto [seed, offset, mean, deviation, dtype] = options;
  if (!is_float(dtype)) fail(ErrorCode::dtype_mismatch, "normal: the dtype is {}; it must be a float.", text(dtype));
  if (!(std::isfinite(mean) && std::isfinite(deviation) && deviation >= 0))
    fail(ErrorCode::invalid_argument, "normal: mean {} and deviation {} must be finite, and the deviation not negative.", mean,
         deviation);
  std::vector<Operand> inputs = stream(seed, offset);
  inputs.emplace_back(mean, dtype);
  inputs.emplace_back(deviation, dtype);
  return run(normal_definition, std::move(inputs), shape, dtype, {}, device);
}

}  // namespace hearth
