#pragma once
#include <cstddef>
#include <cstring>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "hearth/dtype.hpp"
#include "hearth/error.hpp"
#include "hearth/shape.hpp"

namespace hearth {
class Device;
class Tensor;
}  // namespace hearth

namespace hearth::io {

/// Bytes of one element in a file or an Array; a boolean takes one byte here.
[[nodiscard]] constexpr std::size_t host_size_bytes(DType dtype) noexcept {
  return dtype == DType::boolean ? 1 : size_bytes(dtype);
}

/// An array on the host as files hold it: row-major, little-endian.
struct Array {
  Shape shape;
  DType dtype = DType::f32;
  std::vector<std::byte> bytes;  ///< shape.elements() * host_size_bytes(dtype)

  /// The elements as `T`, copied. Throws Error(dtype_mismatch) when `T` is not the array's dtype.
  template <typename T>
  [[nodiscard]] std::vector<T> values() const {
    if (dtype_of<T> != dtype)
      throw Error(ErrorCode::dtype_mismatch, std::string("io::Array: its dtype is ") + to_string(dtype) + ", values of " +
                                                 to_string(dtype_of<T>) + " were asked for.");
    std::vector<T> result(bytes.size() / host_size_bytes(dtype));
    if constexpr (std::is_same_v<T, bool>) {
      for (std::size_t i = 0; i < result.size(); ++i) result[i] = bytes[i] != std::byte{0};
    } else if (!result.empty()) {
      std::memcpy(result.data(), bytes.data(), bytes.size());
    }
    return result;
  }
};

/// Arrays by name, as model files hold them.
using NamedArrays = std::map<std::string, Array>;

/// An Array with a copy of `values`. Throws Error(shape_mismatch) when the count does not fit the shape.
template <typename T>
[[nodiscard]] Array make_array(std::span<const T> values, const Shape& shape) {
  if (static_cast<std::int64_t>(values.size()) != shape.elements())
    throw Error(ErrorCode::shape_mismatch,
                "io::make_array: " + std::to_string(values.size()) + " values do not fill the shape " + to_string(shape) + ".");
  const std::span<const std::byte> bytes = std::as_bytes(values);
  return {shape, dtype_of<T>, std::vector<std::byte>(bytes.begin(), bytes.end())};
}

/// A tensor with the array's values and dtype on `device`.
[[nodiscard]] Tensor to_tensor(const Array& array, const Device& device);
/// The tensor's values; reads and waits.
[[nodiscard]] Array to_array(const Tensor& tensor);

}  // namespace hearth::io
