#pragma once
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <random>
#include <vector>

#include "ir/expr.hpp"
#include "ir/interpret.hpp"
#include "ir/kernel.hpp"

/// Kernels by the book: element for element through `evaluate`, in double precision.
namespace hearth::test {

/// Host memory of a binding, from values and back.
struct Memory {
  DType dtype = DType::f32;
  std::vector<std::byte> bytes;

  Memory(DType d, const std::vector<double>& values) : dtype(d), bytes(values.size() * size_bytes(d)) {
    for (std::size_t i = 0; i < values.size(); ++i) set(i, values[i]);
  }
  [[nodiscard]] std::size_t size() const { return bytes.size() / size_bytes(dtype); }
  template <typename T>
  void put(std::size_t i, T value) {
    std::memcpy(bytes.data() + i * sizeof(T), &value, sizeof(T));
  }
  template <typename T>
  [[nodiscard]] T take(std::size_t i) const {
    T value{};
    std::memcpy(&value, bytes.data() + i * sizeof(T), sizeof(T));
    return value;
  }
  void set(std::size_t i, double v) {
    switch (dtype) {
      case DType::boolean: return put(i, std::uint32_t(v != 0));
      case DType::u8: return put(i, static_cast<std::uint8_t>(static_cast<std::int64_t>(v)));
      case DType::i8: return put(i, static_cast<std::int8_t>(static_cast<std::int64_t>(v)));
      case DType::u32: return put(i, static_cast<std::uint32_t>(v));
      case DType::i32: return put(i, static_cast<std::int32_t>(v));
      case DType::f16: return put(i, Half(static_cast<float>(v)).bits);
      case DType::f32: return put(i, static_cast<float>(v));
      case DType::f64: return put(i, v);
    }
  }
  [[nodiscard]] double get(std::size_t i) const {
    switch (dtype) {
      case DType::boolean: return take<std::uint32_t>(i) != 0;
      case DType::u8: return take<std::uint8_t>(i);
      case DType::i8: return take<std::int8_t>(i);
      case DType::u32: return take<std::uint32_t>(i);
      case DType::i32: return take<std::int32_t>(i);
      case DType::f16: {
        Half h;
        h.bits = take<std::uint16_t>(i);
        return static_cast<float>(h);
      }
      case DType::f32: return take<float>(i);
      case DType::f64: return take<double>(i);
    }
    return 0;
  }
};

inline std::vector<double> numbers(std::size_t count, double low, double high, bool whole, unsigned seed = 1) {
  std::mt19937 random(seed);
  std::vector<double> values;
  for (std::size_t i = 0; i < count; ++i) {
    const double v = low + (high - low) * (double(random()) / 4294967296.0);
    values.push_back(whole ? std::floor(v) : double(float(v)));
  }
  return values;
}

inline Memory random_memory(DType dtype, std::size_t count, unsigned seed = 1) {
  switch (dtype) {
    case DType::boolean: return {dtype, numbers(count, 0, 2, true, seed)};
    case DType::u8: return {dtype, numbers(count, 0, 256, true, seed)};
    case DType::u32: return {dtype, numbers(count, 0, 1000, true, seed)};
    case DType::i8: return {dtype, numbers(count, -128, 128, true, seed)};
    case DType::i32: return {dtype, numbers(count, -1000, 1000, true, seed)};
    default: return {dtype, numbers(count, -3, 3, false, seed)};
  }
}

inline double combine(Combine how, DType type, double a, double b) {
  switch (how) {
    case Combine::sum:
      if (type == DType::i32) return static_cast<std::int32_t>(static_cast<std::uint32_t>(static_cast<std::int64_t>(a + b)));
      if (type == DType::u32) return static_cast<std::uint32_t>(static_cast<std::int64_t>(a + b));
      return a + b;
    case Combine::prod:
      if (type == DType::i32)
        return static_cast<std::int32_t>(static_cast<std::uint32_t>(static_cast<std::int64_t>(a) * static_cast<std::int64_t>(b)));
      if (type == DType::u32) return static_cast<std::uint32_t>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
      return a * b;
    case Combine::max: return a != a || b != b ? a + b : a > b ? a : b;
    case Combine::min: return a != a || b != b ? a + b : a < b ? a : b;
  }
  return 0;
}

inline double identity(Combine how, DType type) {
  switch (how) {
    case Combine::sum: return 0;
    case Combine::prod: return 1;
    case Combine::max: return is_float(type) ? -HUGE_VAL : type == DType::i32 ? -2147483648.0 : 0;
    default: return is_float(type) ? HUGE_VAL : type == DType::i32 ? 2147483647.0 : type == DType::boolean ? 1 : 4294967295.0;
  }
}

/// Calls f(coordinates) for every point of `sizes` in row-major order.
template <typename F>
void each_point(const Shape& sizes, F f) {
  std::vector<double> at(static_cast<std::size_t>(sizes.rank()), 0);
  for (std::int64_t i = 0; i < sizes.elements(); ++i) {
    f(at);
    for (int a = sizes.rank() - 1; a >= 0; --a) {
      double& c = at[static_cast<std::size_t>(a)];
      if (++c < double(sizes[a])) break;
      c = 0;
    }
  }
}

inline std::vector<double> reference(const ir::Kernel& kernel, const std::vector<Memory>& inputs,
                                     const std::vector<double>& parameters = {}) {
  std::vector<double> result;
  ir::Values values;
  ir::Evaluator value(kernel.value);
  ir::Evaluator epilogue(kernel.epilogue ? kernel.epilogue : kernel.value);
  values.parameters = parameters;
  values.load = [&](int input, std::span<const double> at) {
    return inputs[static_cast<std::size_t>(input)].get(static_cast<std::size_t>(at[0]));
  };
  double flat = 0;
  each_point(kernel.extent, [&](const std::vector<double>& output) {
    values.flat = flat++;
    values.coordinates = output;
    if (kernel.form == ir::Form::map) return result.push_back(value(values));
    double total = identity(kernel.combine, kernel.value.dtype());
    each_point(kernel.reduced, [&](const std::vector<double>& reduced) {
      std::vector<double> all = output;
      all.insert(all.end(), reduced.begin(), reduced.end());
      values.coordinates = all;
      total = combine(kernel.combine, kernel.value.dtype(), total, value(values));
    });
    values.coordinates = output;
    values.arguments = std::span(&total, 1);
    result.push_back(kernel.epilogue ? epilogue(values) : total);
  });
  // What a binding of this dtype holds of it.
  Memory stored(kernel.bindings.back(), result);
  for (std::size_t i = 0; i < result.size(); ++i) result[i] = stored.get(i);
  return result;
}

/// Runs through the interpreter, on one thread in pieces of `grain` elements and a few more, so that pieces end anywhere.
inline std::vector<double> interpreted(const ir::Kernel& kernel, std::vector<Memory> inputs,
                                       const std::vector<std::uint32_t>& parameters = {}, std::int64_t piece = 1000) {
  Memory out(kernel.bindings.back(), std::vector<double>(static_cast<std::size_t>(kernel.extent.elements()), 0));
  std::vector<std::byte*> bindings;
  for (Memory& input : inputs) bindings.push_back(input.bytes.data());
  bindings.push_back(out.bytes.data());
  ir::interpret(kernel, bindings, parameters,
                [&](std::int64_t count, std::int64_t, const std::function<void(std::int64_t, std::int64_t)>& body) {
                  for (std::int64_t at = 0; at < count; at += piece) body(at, std::min(count, at + piece));
                });
  std::vector<double> result;
  for (std::size_t i = 0; i < out.size(); ++i) result.push_back(out.get(i));
  return result;
}

}  // namespace hearth::test
