#pragma once
#include <cstdint>

#include "hearth/device.hpp"
#include "hearth/dtype.hpp"
#include "hearth/shape.hpp"
#include "hearth/tensor.hpp"

/// New tensors. All values are computed on the device; numbers are launch parameters, so a new value needs no new kernel.
/// All throw Error(invalid_argument) for a negative size, Error(unsupported) beyond 2^31 - 1 elements.
namespace hearth {

/// A tensor of `shape` with every element `value`; f32 unless a dtype is given.
[[nodiscard]] Tensor full(const Shape& shape, double value, const Device& device);
[[nodiscard]] Tensor full(const Shape& shape, double value, DType dtype, const Device& device);
[[nodiscard]] Tensor zeros(const Shape& shape, const Device& device);
[[nodiscard]] Tensor zeros(const Shape& shape, DType dtype, const Device& device);
[[nodiscard]] Tensor ones(const Shape& shape, const Device& device);
[[nodiscard]] Tensor ones(const Shape& shape, DType dtype, const Device& device);

/// The same with shape, dtype and device of `x`.
[[nodiscard]] Tensor full_like(const Tensor& x, double value);
[[nodiscard]] Tensor zeros_like(const Tensor& x);
[[nodiscard]] Tensor ones_like(const Tensor& x);

/// start, start + step, ... before `stop`: ceil((stop - start) / step) numbers, f32 unless a dtype is given.
/// Throws Error(invalid_argument) for a step of 0, or a fraction with an integer dtype.
[[nodiscard]] Tensor arange(double stop, const Device& device);
[[nodiscard]] Tensor arange(double stop, DType dtype, const Device& device);
[[nodiscard]] Tensor arange(double start, double stop, double step, const Device& device);
[[nodiscard]] Tensor arange(double start, double stop, double step, DType dtype, const Device& device);

/// `count` evenly spaced numbers from start to stop, both included; dtype f32 or another float.
[[nodiscard]] Tensor linspace(double start, double stop, std::int64_t count, const Device& device);
[[nodiscard]] Tensor linspace(double start, double stop, std::int64_t count, DType dtype, const Device& device);

/// Ones on the diagonal, else zeros.
[[nodiscard]] Tensor eye(std::int64_t size, const Device& device);
[[nodiscard]] Tensor eye(std::int64_t rows, std::int64_t columns, DType dtype, const Device& device);

struct UniformOptions {
  std::uint64_t seed = 0;
  std::uint64_t offset = 0;  ///< selects one of 2^64 streams of a seed
  double low = 0;            ///< included
  double high = 1;           ///< excluded, but for rounding where low + (high - low) * u rounds to it
  DType dtype = DType::f32;  ///< an integer dtype gives whole numbers of [low, high)
};
/// Evenly distributed random numbers: a function of (seed, offset, index of the element) by Philox 4x32-10, so the same call
/// gives the same bits on every device and in any order. Use a new `seed` or `offset` for new numbers; both are launch
/// parameters.
[[nodiscard]] Tensor uniform(const Shape& shape, const UniformOptions& options, const Device& device);

struct NormalOptions {
  std::uint64_t seed = 0;
  std::uint64_t offset = 0;
  double mean = 0;
  double deviation = 1;
  DType dtype = DType::f32;
};
/// Normally distributed, by Box and Muller from the same bits.
[[nodiscard]] Tensor normal(const Shape& shape, const NormalOptions& options, const Device& device);

struct RandomBitsOptions {
  std::uint64_t seed = 0;
  std::uint64_t offset = 0;
};
/// 32 random bits an element (u32): the first word of Philox 4x32-10 with key `seed` and counter (index, 0, offset).
[[nodiscard]] Tensor random_bits(const Shape& shape, const RandomBitsOptions& options, const Device& device);

}  // namespace hearth
