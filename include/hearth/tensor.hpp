#pragma once
#include <cstring>
#include <initializer_list>
#include <iosfwd>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "hearth/device.hpp"
#include "hearth/dtype.hpp"
#include "hearth/future.hpp"
#include "hearth/op.hpp"
#include "hearth/shape.hpp"

namespace hearth {

class Gradients;

namespace detail {
/// Elements as stored on a device, converted on the host by the rules of `cast`.
[[nodiscard]] std::vector<std::byte> convert(std::vector<std::byte> elements, DType from, DType to);
}  // namespace detail

/// A list of axes; negative ones count from the end.
using Axes = Shape;

struct ReduceOptions {
  bool keep_dims = false;
};
struct BackwardOptions {
  /// Record the backward pass too, for gradients of gradients.
  bool create_graph = false;
};

/// An n-dimensional array on a device: a cheap, shared handle to an immutable value. Work on it is lazy (fused) until something
/// needs it: `read`, `sync`, a raw resource. A default-made Tensor is null.
class Tensor {
 public:
  Tensor() = default;
  Tensor(Ref<graph::Node> node, Ref<graph::Tape> tape) noexcept : node_(std::move(node)), tape_(std::move(tape)) {}

  [[nodiscard]] const Shape& shape() const;
  [[nodiscard]] DType dtype() const;
  [[nodiscard]] int rank() const { return shape().rank(); }
  [[nodiscard]] std::int64_t elements() const { return shape().elements(); }
  [[nodiscard]] Device device() const;
  explicit operator bool() const noexcept { return static_cast<bool>(node_); }

  /// All elements in row-major order, converted to T on the host. Flushes; the future completes when the device has finished.
  template <typename T>
  [[nodiscard]] Future<std::vector<T>> read() const {
    return read_bytes().then([from = dtype()](std::vector<std::byte> stored) {
      const std::vector<std::byte> bytes = detail::convert(std::move(stored), from, dtype_of<T>);
      if constexpr (std::is_same_v<T, bool>) {
        std::vector<bool> values(bytes.size() / 4);
        for (std::size_t i = 0; i < values.size(); ++i) values[i] = bytes[i * 4] != std::byte{0};
        return values;
      } else {
        std::vector<T> values(bytes.size() / sizeof(T));
        if (!values.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
        return values;
      }
    });
  }
  /// The only element, read and waited for. Throws Error(invalid_argument) when there is more than one.
  template <typename T>
  [[nodiscard]] T item() const {
    require_one_element();
    return read<T>().get().front();
  }
  /// The elements as stored, row-major.
  [[nodiscard]] Future<std::vector<std::byte>> read_bytes() const;

  /// Converted to `dtype` (see `cast`); this tensor itself when it has it already.
  [[nodiscard]] Tensor astype(DType dtype) const;
  /// The same values on another device, through the host; this tensor itself when it is there already.
  [[nodiscard]] Tensor to(const Device& device) const;

  /// A leaf of differentiation with this value.
  [[nodiscard]] Tensor require_grad() const;
  /// The same value without its history.
  [[nodiscard]] Tensor detach() const { return {node_, {}}; }
  [[nodiscard]] bool requires_grad() const noexcept { return static_cast<bool>(tape_); }
  /// Gradients of this scalar with respect to every leaf below it. Throws Error(shape_mismatch) unless it has one element.
  [[nodiscard]] Gradients backward(BackwardOptions options = {}) const;
  /// The same with a given gradient of this tensor.
  [[nodiscard]] Gradients backward(const Tensor& seed, BackwardOptions options = {}) const;

  /// The compute client of the device, and the memory that holds this tensor, dense and row-major (materialises it).
  [[nodiscard]] Client client() const;
  [[nodiscard]] Handle handle() const;

  Tensor& operator+=(const Tensor& other);
  Tensor& operator-=(const Tensor& other);
  Tensor& operator*=(const Tensor& other);
  Tensor& operator/=(const Tensor& other);

  [[nodiscard]] const Ref<graph::Node>& node() const noexcept { return node_; }
  [[nodiscard]] const Ref<graph::Tape>& tape() const noexcept { return tape_; }

 private:
  void require_one_element() const;

  Ref<graph::Node> node_;
  Ref<graph::Tape> tape_;
};

/// Gradients by leaf.
class Gradients {
 public:
  /// Of a leaf made by require_grad. Zeros when it did not take part. Throws Error(invalid_argument) on a tensor that is no leaf.
  [[nodiscard]] Tensor of(const Tensor& leaf) const;

 private:
  friend class Tensor;
  std::vector<std::pair<Ref<graph::Tape>, Tensor>> entries_;
};

/// Tensor from host bytes as stored (booleans as 32-bit words). Throws Error(shape_mismatch) when the size does not fit.
[[nodiscard]] Tensor tensor_from_bytes(std::span<const std::byte> bytes, const Shape& shape, DType dtype, const Device& device);

/// Tensor from host values, row-major. Throws Error(shape_mismatch) when the count does not fit the shape.
template <typename T>
[[nodiscard]] Tensor tensor(std::span<const T> values, const Shape& shape, const Device& device) {
  return tensor_from_bytes(std::as_bytes(values), shape, dtype_of<std::remove_const_t<T>>, device);
}
template <typename T>
[[nodiscard]] Tensor tensor(const std::vector<T>& values, const Shape& shape, const Device& device) {
  if constexpr (std::is_same_v<T, bool>) {
    std::vector<std::uint32_t> words(values.begin(), values.end());
    return tensor_from_bytes(std::as_bytes(std::span<const std::uint32_t>(words)), shape, DType::boolean, device);
  } else {
    return tensor(std::span<const T>(values), shape, device);
  }
}

[[nodiscard]] Tensor apply(const ReduceOp& op, const Tensor& x, const Axes& axes, ReduceOptions options);

/// NumPy-like text: nested brackets, at most 1,000 elements, the ends beyond that. Reads and waits.
[[nodiscard]] std::string to_string(const Tensor& tensor);
std::ostream& operator<<(std::ostream& out, const Tensor& tensor);

/// Converted to `dtype`: float to integer truncates toward zero and clamps, NaN gives 0; to boolean: != 0.
[[nodiscard]] inline Tensor cast(const Tensor& x, DType dtype) { return x.astype(dtype); }

}  // namespace hearth
