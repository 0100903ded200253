#pragma once
#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "graph/execute.hpp"
#include "graph/operation.hpp"
#include "hearth/tensor.hpp"

/// What the structured ops (creation, views, indexing, linear algebra, convolution) share.
namespace hearth::structured {

using graph::Body;
using graph::Definition;
using graph::Operand;
using graph::Operation;
using Coordinates = std::vector<Expr>;

template <typename... Args>
[[noreturn]] void fail(ErrorCode code, fmt::format_string<Args...> text, Args&&... args) {
  throw Error(code, fmt::format(text, std::forward<Args>(args)...));
}
/// For messages: Shape and DType have no formatter of their own.
[[nodiscard]] inline std::string text(const Shape& shape) { return to_string(shape); }
[[nodiscard]] inline std::string text(DType dtype) { return to_string(dtype); }

/// Throws Error(invalid_argument) when `x` is null.
void require(const Tensor& x, const char* operation);
/// Throws Error(invalid_argument) for negative sizes and for more elements than a 32-bit index reaches.
void check_shape(const Shape& shape, const char* operation);
/// Throws Error(invalid_argument) unless `before.rank()` is `rank`.
void check_count(const Shape& values, int rank, const char* operation, const char* what);
/// `x` as `dtype`: what mixed operands become.
[[nodiscard]] Tensor converted(const Tensor& x, DType dtype);

/// Builds and executes an operation; the shape is checked.
[[nodiscard]] Tensor run(const Definition& definition, std::vector<Operand> inputs, const Shape& shape, DType dtype,
                         std::vector<std::int64_t> attributes = {}, const Device& device = {});

/// An input as a tensor with its history, for gradients.
[[nodiscard]] Tensor input(const Operation& operation, int index);
[[nodiscard]] Shape input_shape(const Operation& operation, int index);
/// `count` attributes from `first` on.
[[nodiscard]] Shape attributes(const Operation& operation, int first, int count);
[[nodiscard]] std::int64_t attribute(const Operation& operation, int index);

/// The first `rank` coordinates of the output.
[[nodiscard]] Coordinates output_coordinates(int rank);
/// Input `index` at `coordinates`.
[[nodiscard]] Expr load(const Operation& operation, int index, const Coordinates& coordinates);
/// `x` held inside [0, size).
[[nodiscard]] Expr clamped(const Expr& x, std::int64_t size);
[[nodiscard]] Expr zero_of(DType dtype);
[[nodiscard]] Expr integer(std::int64_t value);

/// Several lists of numbers as one list of attributes.
template <typename... Lists>
[[nodiscard]] std::vector<std::int64_t> join(const Lists&... lists) {
  std::vector<std::int64_t> all;
  (all.insert(all.end(), lists.begin(), lists.end()), ...);
  return all;
}

/// Zeros of `shape` with the history of two operands that have no elements: sums over nothing.
[[nodiscard]] Tensor empty_sum(const Shape& shape, const Tensor& a, const Tensor& b);

/// out[i] = x[starts + i * steps], without checks: a view.
[[nodiscard]] Tensor strided(const Tensor& x, const Shape& starts, const Shape& steps, const Shape& shape);
/// A tensor of `shape` filled with `value`, with out[offsets + i * steps] = x[i]; all of x must lie inside. The transpose of
/// `strided`.
[[nodiscard]] Tensor place(const Tensor& x, const Shape& shape, const Shape& offsets, const Shape& steps, double value = 0);

}  // namespace hearth::structured
