#pragma once
#include <cstdint>

#include "hearth/tensor.hpp"

/// Reading by index. Indices are integers; negative ones count from the end, and one that is out of range reads 0 (its gradient
/// goes nowhere): nothing outside the tensor is ever touched. All throw Error(dtype_mismatch) when the index is no integer.
namespace hearth {

/// out[..., j, ...] = x[..., index[..., j, ...], ...] along `axis`: as NumPy's take_along_axis. The other axes broadcast.
/// Throws Error(shape_mismatch) when ranks differ or the other axes do not fit.
[[nodiscard]] Tensor gather(const Tensor& x, int axis, const Tensor& index);
/// out[..., j, ...] = x[..., index[j], ...] along `axis`; index has one axis.
[[nodiscard]] Tensor index_select(const Tensor& x, int axis, const Tensor& index);
/// The transpose of gather: zeros of `size` along `axis`, with `x` added where `index` says; equal indices add up.
/// Cost: size * index elements.
[[nodiscard]] Tensor scatter_add(const Tensor& x, int axis, const Tensor& index, std::int64_t size);
/// The transpose of index_select.
[[nodiscard]] Tensor index_add(const Tensor& x, int axis, const Tensor& index, std::int64_t size);
/// A new last axis of `depth` elements: 1 at the index, else 0; all 0 for an index out of range.
[[nodiscard]] Tensor one_hot(const Tensor& index, std::int64_t depth, DType dtype = DType::f32);

}  // namespace hearth
