#include "ir/scalar.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

namespace hearth::ir {
namespace {

double wrap(std::uint64_t bits, DType type) {
  const auto word = static_cast<std::uint32_t>(bits);
  return type == DType::i32 ? double(static_cast<std::int32_t>(word)) : double(word);
}

std::uint32_t bits_of(double value, DType type) {
  switch (type) {
    case DType::f32: {
      const auto f = static_cast<float>(value);
      std::uint32_t bits = 0;
      std::memcpy(&bits, &f, sizeof bits);
      return bits;
    }
    case DType::i32: return static_cast<std::uint32_t>(static_cast<std::int32_t>(value));
    default: return static_cast<std::uint32_t>(value);
  }
}

double from_bits(std::uint32_t bits, DType type) {
  if (type != DType::f32) return wrap(bits, type);
  float f = 0;
  std::memcpy(&f, &bits, sizeof f);
  return f;
}

double apply_integer(Op op, DType type, double a, double b) {
  const auto x = static_cast<std::int64_t>(a);
  const auto y = static_cast<std::int64_t>(b);
  const auto ux = static_cast<std::uint64_t>(x);
  const auto uy = static_cast<std::uint64_t>(y);
  const bool too_far = y < 0 || y > 31;
  switch (op) {
    case Op::add: return wrap(ux + uy, type);
    case Op::sub: return wrap(ux - uy, type);
    case Op::mul: return wrap(ux * uy, type);
    case Op::div: return y == 0 ? 0 : wrap(static_cast<std::uint64_t>(x / y), type);
    case Op::rem: return y == 0 ? 0 : double(x % y);
    case Op::max: return double(std::max(x, y));
    case Op::min: return double(std::min(x, y));
    case Op::bit_and: return wrap(ux & uy, type);
    case Op::bit_or: return wrap(ux | uy, type);
    case Op::bit_xor: return wrap(ux ^ uy, type);
    case Op::shift_left: return too_far ? 0 : wrap(ux << y, type);
    case Op::shift_right: return double(x >> (too_far ? 63 : y));
    case Op::mul_high: return double(ux * uy >> 32);
    default: return 0;
  }
}

double apply_float(Op op, double a, double b) {
  switch (op) {
    case Op::add: return a + b;
    case Op::sub: return a - b;
    case Op::mul: return a * b;
    case Op::div: return a / b;
    case Op::rem: return std::fmod(a, b);
    case Op::max: return std::isnan(a) || std::isnan(b) ? std::numeric_limits<double>::quiet_NaN() : std::max(a, b);
    case Op::min: return std::isnan(a) || std::isnan(b) ? std::numeric_limits<double>::quiet_NaN() : std::min(a, b);
    default: return 0;
  }
}

}  // namespace

double convert_scalar(double value, DType from, DType to) {
  switch (to) {
    case DType::boolean: return value != 0 ? 1 : 0;
    case DType::f32: return static_cast<float>(value);
    case DType::f64: return value;
    default: break;
  }
  if (!is_float(from)) return wrap(static_cast<std::uint64_t>(static_cast<std::int64_t>(value)), to);
  if (std::isnan(value)) return 0;
  const double low = to == DType::i32 ? double(std::numeric_limits<std::int32_t>::min()) : 0;
  const double high =
      to == DType::i32 ? double(std::numeric_limits<std::int32_t>::max()) : double(std::numeric_limits<std::uint32_t>::max());
  return std::trunc(std::clamp(value, low, high));
}

double apply_scalar(Op op, DType type, DType result, double a, double b, double c) {
  double y = 0;
  switch (op) {
    case Op::cast: return convert_scalar(a, type, result);
    case Op::bitcast: return from_bits(bits_of(a, type), result);
    case Op::select: return a != 0 ? b : c;
    case Op::less: return a < b ? 1 : 0;
    case Op::less_equal: return a <= b ? 1 : 0;
    case Op::equal: return a == b ? 1 : 0;
    case Op::not_equal: return a != b ? 1 : 0;
    case Op::neg: y = is_float(type) ? -a : apply_integer(Op::sub, type, 0, a); break;
    case Op::bit_not:
      return type == DType::boolean ? (a != 0 ? 0 : 1) : wrap(~static_cast<std::uint64_t>(static_cast<std::int64_t>(a)), type);
    default: y = is_float(type) ? apply_float(op, a, b) : apply_integer(op, type, a, b); break;
  }
  return result == DType::f32 ? double(static_cast<float>(y)) : y;
}

}  // namespace hearth::ir
