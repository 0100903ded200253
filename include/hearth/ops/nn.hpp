#pragma once
#include "hearth/ops/reduce.hpp"

/// Functions of neural networks that are made of elementwise ops and reductions.
namespace hearth {

struct SoftmaxOptions {
  /// A row whose elements are all -infinity (a fully masked one) gives 0s instead of NaN.
  bool masked_rows_are_zero = false;
};
/// exp(x) / sum(exp(x)) along `axis`, shifted by the maximum: finite for finite x of any size.
[[nodiscard]] Tensor softmax(const Tensor& x, std::int64_t axis = -1, SoftmaxOptions options = {});
/// log(softmax(x)), accurate where softmax underflows.
[[nodiscard]] Tensor log_softmax(const Tensor& x, std::int64_t axis = -1);
/// log(sum(exp(x))) over `axes` (none: all), shifted by the maximum; -infinity where all elements are.
[[nodiscard]] Tensor logsumexp(const Tensor& x, const Axes& axes = {}, ReduceOptions options = {});

}  // namespace hearth
