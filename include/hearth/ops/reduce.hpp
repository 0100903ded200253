#pragma once
#include <cmath>
#include <limits>

#include "hearth/op.hpp"
#include "hearth/ops/unary.hpp"
#include "hearth/tensor.hpp"

/// Every reduction, one block each, and what is made of them. No axes given: all of them.
namespace hearth {

namespace detail {
/// 1 where x is not 0 or is true, else 0.
inline Expr truth(Expr x) { return select(cast(x, DType::boolean), Expr(1u), Expr(0u)); }
inline Expr is_true(Expr total, Expr) { return total != Expr(0u); }
}  // namespace detail

HEARTH_REDUCE_OP(sum){
    .summary = "Sum. f16 accumulates in f32; i8, u8 and booleans give 32-bit sums, which wrap. Nothing to sum gives 0.",
    .combine = Combine::sum,
    .grad = [](Expr x, Expr, Expr) { return Expr::constant(1, x.dtype()); },
};
HEARTH_REDUCE_OP(mean){
    .summary = "Arithmetic mean, accumulated in f32 or wider. The mean of nothing is NaN.",
    .combine = Combine::sum,
    .after = [](Expr total, Expr count) { return total / count; },
    .grad = [](Expr, Expr, Expr count) { return 1 / count; },
    .dtypes = OpDTypes::floats,
};
HEARTH_REDUCE_OP(prod){
    .summary = "Product. i8, u8 and booleans give 32-bit products, which wrap. The product of nothing is 1.",
    .combine = Combine::prod,
};
HEARTH_REDUCE_OP(max){
    .summary = "The largest element, NaN if there is one; equal ones share the gradient. Throws on empty axes.",
    .combine = Combine::max,
    .dtypes = OpDTypes::all,
};
HEARTH_REDUCE_OP(min){
    .summary = "The smallest element, NaN if there is one; equal ones share the gradient. Throws on empty axes.",
    .combine = Combine::min,
    .dtypes = OpDTypes::all,
};
HEARTH_REDUCE_OP(any){
    .summary = "Whether an element is true or not 0; false for no elements.",
    .combine = Combine::max,
    .before = detail::truth,
    .after = detail::is_true,
    .dtypes = OpDTypes::predicate,
};
HEARTH_REDUCE_OP(all){
    .summary = "Whether every element is true or not 0; true for no elements.",
    .combine = Combine::min,
    .before = detail::truth,
    .after = detail::is_true,
    .dtypes = OpDTypes::predicate,
};

/// Index (i32) of the first largest element along `axis`; NaN counts as the largest.
/// Throws Error(invalid_argument) when the axis is empty.
[[nodiscard]] Tensor argmax(const Tensor& x, std::int64_t axis, ReduceOptions options = {});
/// The same over all elements in row-major order.
[[nodiscard]] Tensor argmax(const Tensor& x);
/// Index (i32) of the first smallest element; NaN counts as the smallest.
[[nodiscard]] Tensor argmin(const Tensor& x, std::int64_t axis, ReduceOptions options = {});
[[nodiscard]] Tensor argmin(const Tensor& x);

struct VarianceOptions {
  bool keep_dims = false;
  /// Subtracted from the count of elements in the divisor: 0 for a population, 1 for a sample of one.
  double correction = 0;
};
/// Variance: mean squared distance from the mean, in two passes. NaN where the divisor is not positive.
[[nodiscard]] Tensor var(const Tensor& x, const Axes& axes = {}, VarianceOptions options = {});
/// Square root of the variance.
[[nodiscard]] Tensor stddev(const Tensor& x, const Axes& axes = {}, VarianceOptions options = {});

}  // namespace hearth
