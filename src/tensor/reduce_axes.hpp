#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "graph/operation.hpp"
#include "hearth/shape.hpp"

namespace hearth::detail {

/// What a reduction of no elements starts from, by dtype.
[[nodiscard]] double identity(Combine combine, DType dtype);

/// Which axes of a shape are reduced, and what that makes of it.
class ReduceAxes {
 public:
  /// No axes in `list`: all of them. Throws Error(invalid_argument) for an axis outside the rank or named twice.
  ReduceAxes(const Shape& shape, const Axes& list, bool keep_dims, const char* operation);
  /// From the attributes of an operation on its input 0.
  [[nodiscard]] static ReduceAxes of(const graph::Operation& operation);

  [[nodiscard]] std::vector<std::int64_t> attributes() const;
  [[nodiscard]] std::size_t rank() const noexcept { return static_cast<std::size_t>(shape_.rank()); }
  [[nodiscard]] bool reduces(int axis) const noexcept { return (mask_ >> axis & 1) != 0; }
  [[nodiscard]] bool empty() const noexcept { return mask_ == 0; }
  [[nodiscard]] Shape output_shape() const;
  /// With 1 for every reduced axis.
  [[nodiscard]] Shape kept_shape() const;
  [[nodiscard]] Shape reduced_sizes() const;
  [[nodiscard]] Axes list() const;
  /// Elements that make one of the output.
  [[nodiscard]] std::int64_t count() const { return reduced_sizes().elements(); }
  /// Coordinates of an input element; the reduced ones follow the output's, which are `output_rank`.
  [[nodiscard]] std::array<Expr, max_rank> coordinates(int output_rank) const;

 private:
  ReduceAxes() = default;

  Shape shape_;
  std::uint32_t mask_ = 0;
  bool keep_dims_ = false;
};

}  // namespace hearth::detail
