#pragma once
#include <array>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>

#include "hearth/error.hpp"

namespace hearth {

inline constexpr int max_rank = 8;

/// Up to eight sizes, strides, coordinates or axes, stored inline.
class Shape {
 public:
  constexpr Shape() = default;
  constexpr Shape(std::initializer_list<std::int64_t> dims) : Shape(std::span(dims.begin(), dims.size())) {}
  constexpr explicit Shape(std::span<const std::int64_t> dims) {
    for (std::int64_t dim : dims) push_back(dim);
  }
  /// `rank` copies of `value`.
  [[nodiscard]] static constexpr Shape filled(int rank, std::int64_t value) {
    Shape shape;
    for (int i = 0; i < rank; ++i) shape.push_back(value);
    return shape;
  }

  [[nodiscard]] constexpr int rank() const noexcept { return rank_; }
  [[nodiscard]] constexpr bool empty() const noexcept { return rank_ == 0; }
  /// Product of the sizes; 1 for rank 0.
  [[nodiscard]] constexpr std::int64_t elements() const noexcept {
    std::int64_t product = 1;
    for (std::int64_t dim : *this) product *= dim;
    return product;
  }
  constexpr std::int64_t operator[](int i) const { return dims_[static_cast<std::size_t>(i)]; }
  constexpr std::int64_t& operator[](int i) { return dims_[static_cast<std::size_t>(i)]; }
  [[nodiscard]] constexpr const std::int64_t* begin() const noexcept { return dims_.data(); }
  [[nodiscard]] constexpr const std::int64_t* end() const noexcept { return dims_.data() + rank_; }
  [[nodiscard]] constexpr std::int64_t back() const { return dims_[static_cast<std::size_t>(rank_ - 1)]; }
  constexpr void push_back(std::int64_t dim) {
    if (rank_ == max_rank) throw Error(ErrorCode::invalid_argument, "shape: more than 8 dimensions.");
    dims_[static_cast<std::size_t>(rank_++)] = dim;
  }
  friend constexpr bool operator==(const Shape& a, const Shape& b) noexcept {
    if (a.rank_ != b.rank_) return false;
    for (int i = 0; i < a.rank_; ++i)
      if (a[i] != b[i]) return false;
    return true;
  }

 private:
  std::array<std::int64_t, max_rank> dims_{};
  std::uint8_t rank_ = 0;
};

/// "[2, 3]"
[[nodiscard]] std::string to_string(const Shape& shape);

/// Row-major strides in elements; a size-1 axis gets the stride that density gives it.
[[nodiscard]] Shape row_major_strides(const Shape& shape);

/// The common shape of two broadcast operands (NumPy rules). Throws Error(shape_mismatch) naming `operation`.
[[nodiscard]] Shape broadcast(const Shape& a, const Shape& b, const char* operation);

/// `axis` counted from the end when negative. Throws Error(invalid_argument) outside [-rank, rank).
[[nodiscard]] int normalize_axis(std::int64_t axis, int rank, const char* operation);

}  // namespace hearth
