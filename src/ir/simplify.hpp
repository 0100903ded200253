#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "hearth/shape.hpp"
#include "ir/expr.hpp"

namespace hearth::ir {

/// Folds constants, drops neutral elements (x + 0, x * 1, select of a
/// constant), and simplifies integer index arithmetic with the bounds of
/// coordinates: axis a lies in [0, extents[a]), the flat coordinate in [0,
/// product). E.g. (i * n + j) / n -> i when j < n, (i * n + j) % n -> j, n * (x
/// / n) + x % n -> x, and the row-major combination of all output coordinates
/// -> the flat coordinate. Float arithmetic keeps its meaning: no
/// reassociation, NaN, infinities and signed zeros survive (x * 0 stays).
/// `output_rank`: how many of the extents are the output's (the flat coordinate
/// is over those only).
[[nodiscard]] Expr simplify(const Expr& e, const Shape& extents, int output_rank);

/// e = offset + sum of strides[a] * coordinate(a) over the axes of `extents`;
/// nothing when e is not of this form.
struct Affine {
  std::int64_t offset = 0;
  Shape strides;
};
[[nodiscard]] std::optional<Affine> affine(const Expr& e, const Shape& extents, int output_rank);

}  // namespace hearth::ir
