#include "tensor/check_values.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

namespace hearth::testing {

namespace {

constexpr double inf = std::numeric_limits<double>::infinity();

/// f32 results overflow and underflow to what a device stores.
bool close(double got, double expected, DType dtype, const Tolerance& tolerance) {
  if (std::isnan(expected)) return std::isnan(got);
  const double stored = quantised(expected, dtype);
  if (std::isinf(stored)) return got == stored;
  return std::fabs(got - expected) <= tolerance.absolute + tolerance.relative * std::fabs(expected);
}

}  // namespace

std::string Report::text() const {
  std::string lines;
  for (std::size_t i = 0; i < failures.size() && i < 8; ++i) lines += failures[i] + "\n";
  if (failures.size() > 8) lines += fmt::format("and {} more\n", failures.size() - 8);
  return lines;
}

Tolerance tolerance(DType dtype) noexcept {
  switch (dtype) {
    // WGSL lets division be off by 2.5 ulps and exp by 3 + 2 |x|; a chain of them stays below this.
    case DType::f32: return {5e-6, 1e-6};
    case DType::f16: return {2e-3, 1e-4};
    case DType::f64: return {1e-12, 1e-13};
    default: return {0, 0};
  }
}
Tolerance gradient_tolerance(DType dtype) noexcept {
  switch (dtype) {
    case DType::f32: return {5e-5, 2e-5};
    case DType::f16: return {1e-2, 1e-2};
    case DType::f64: return {1e-7, 1e-7};
    default: return {0, 0};
  }
}

double quantised(double value, DType dtype) {
  const auto whole = [&](double low, double high) { return std::isnan(value) ? 0 : std::trunc(std::clamp(value, low, high)); };
  switch (dtype) {
    case DType::boolean: return value != 0 ? 1 : 0;
    case DType::u8: return whole(0, 255);
    case DType::i8: return whole(-128, 127);
    case DType::u32: return whole(0, 4294967295.0);
    case DType::i32: return whole(-2147483648.0, 2147483647.0);
    case DType::f16: return static_cast<double>(static_cast<float>(Half(static_cast<float>(value))));
    case DType::f32: return static_cast<double>(static_cast<float>(value));
    case DType::f64: return value;
  }
  return value;
}
Values quantised(Values values, DType dtype) {
  for (double& value : values) value = quantised(value, dtype);
  return values;
}

Values spread(const Interval& interval, int count, double phase) {
  Values values;
  for (int i = 0; i < count; ++i) values.push_back(interval.low + (interval.high - interval.low) * (i + phase) / count);
  return values;
}

Values ends(DType dtype, double limit) {
  Values all;
  switch (dtype) {
    case DType::boolean: return {0, 1};
    case DType::u8: return {0, 1, 2, 127, 128, 255};
    case DType::i8: return {0, 1, -1, 2, -7, 127, -128};
    case DType::u32: return {0, 1, 2, 3, 2147483647.0, 2147483648.0, 4294967295.0};
    case DType::i32: return {0, 1, -1, 2, -2, 3, -7, 2147483647.0, -2147483648.0};
    case DType::f16: all = {0, -0.0, 1, -1, 0.5, -0.5, 1.5, 2.5, 12, -12, 1000, -1000, 65504, -65504, 1e-4, inf, -inf}; break;
    default:
      all = {0,   -0.0, 1,     -1,  0.5,  -0.5,     1.5,  2.5,   -1.5,  -2.5,   10,     -10,     87,  -87, 89,
             -89, 1000, -1000, 1e6, -1e6, 16777217, 1e20, -1e20, 1e-20, -1e-20, 3.4e38, -3.4e38, inf, -inf};
      break;
  }
  Values values;
  for (double value : all)
    if (std::fabs(value) <= limit || (std::isinf(value) && limit >= 1e300)) values.push_back(value);
  values.push_back(std::numeric_limits<double>::quiet_NaN());
  return values;
}

bool takes(OpDTypes kind, DType dtype) noexcept {
  switch (kind) {
    case OpDTypes::floats:
    case OpDTypes::float_predicate: return is_float(dtype);
    case OpDTypes::numbers: return dtype != DType::boolean;
    case OpDTypes::integers: return !is_float(dtype);
    default: return true;
  }
}

std::vector<DType> dtypes_of(OpDTypes kind, const Device& device, const CheckOptions& options) {
  std::vector<DType> result;
  for (int i = 0; i < dtype_count; ++i) {
    const auto dtype = static_cast<DType>(i);
    const bool wanted =
        options.dtypes.empty() || std::find(options.dtypes.begin(), options.dtypes.end(), dtype) != options.dtypes.end();
    const bool there = (dtype != DType::f16 || device.info().f16) && (dtype != DType::f64 || device.info().f64);
    if (wanted && there && takes(kind, dtype)) result.push_back(dtype);
  }
  return result;
}

Tensor upload(const Values& values, const Shape& shape, DType dtype, const Device& device) {
  const auto as = [&]<typename T>(T) {
    std::vector<T> host;
    for (double value : values) {
      if constexpr (std::is_same_v<T, Half>)
        host.push_back(Half(static_cast<float>(value)));
      else
        host.push_back(static_cast<T>(quantised(value, dtype)));
    }
    return tensor(host, shape, device);
  };
  switch (dtype) {
    case DType::boolean: return as(bool{});
    case DType::u8: return as(std::uint8_t{});
    case DType::i8: return as(std::int8_t{});
    case DType::u32: return as(std::uint32_t{});
    case DType::i32: return as(std::int32_t{});
    case DType::f16: return as(Half{});
    case DType::f32: return as(float{});
    case DType::f64: return as(double{});
  }
  return {};
}

double slope(const std::function<double(double)>& f, double x) {
  const double h = 1e-3 * std::max(1.0, std::fabs(x)) * 0.5;
  return (f(x - 2 * h) - 8 * f(x - h) + 8 * f(x + h) - f(x + 2 * h)) / (12 * h);
}

bool Comparisons::has_values() const { return device_.info().backend != "null"; }

void Comparisons::fail(const std::string& what, const std::string& sentence) {
  report_.failures.push_back(fmt::format("{}, {}, on {} ({}): {}", op_, what, device_.info().name,
                                         device_.options().fusion ? "fused" : "eager", sentence));
}

void Comparisons::attempt(const std::string& what, const std::function<void()>& work) {
  try {
    work();
  } catch (const Error& error) {
    fail(what, error.what());
  }
}

void Comparisons::expect(const std::string& what, const Tensor& result, const Shape& shape, DType dtype, Values expected,
                         Tolerance tolerance, std::vector<Values> inputs) {
  ++report_.comparisons;
  if (!result) return fail(what, "there is no result.");
  if (result.shape() != shape)
    return fail(what, fmt::format("the shape is {}, expected {}.", to_string(result.shape()), to_string(shape)));
  if (result.dtype() != dtype)
    return fail(what, fmt::format("the dtype is {}, expected {}.", to_string(result.dtype()), to_string(dtype)));
  pending_.push_back({what, dtype, result.read<double>(), std::move(expected), tolerance, std::move(inputs)});
}

void Comparisons::compare(Pending& pending) {
  Expected<std::vector<double>> result = pending.result.result();
  if (!result) return fail(pending.what, result.error().message);
  if (result->size() != pending.expected.size())
    return fail(pending.what, fmt::format("{} elements were read, expected {}.", result->size(), pending.expected.size()));
  if (!has_values()) return;
  int wrong = 0;
  for (std::size_t i = 0; i < result->size(); ++i) {
    if (close((*result)[i], pending.expected[i], pending.dtype, pending.tolerance) || ++wrong > 4) continue;
    std::string at;
    for (const Values& input : pending.inputs) at += fmt::format("{}{}", at.empty() ? " of " : ", ", input[i]);
    fail(pending.what, fmt::format("element {}{} is {}, expected {}.", i, at, (*result)[i], pending.expected[i]));
  }
}

Report Comparisons::finish() {
  for (Pending& pending : pending_) compare(pending);
  pending_.clear();
  return std::move(report_);
}

}  // namespace hearth::testing
