#include "hearth/ops/linalg.hpp"

#include <algorithm>
#include <utility>

#include "hearth/ops/binary.hpp"
#include "hearth/ops/reduce.hpp"
#include "hearth/ops/view.hpp"
#include "tensor/structured.hpp"

namespace hearth {
namespace {

using namespace structured;

/// The leading axes of a matrix.
Shape batch_of(const Shape& shape) {
  Shape batch;
  for (int i = 0; i < shape.rank() - 2; ++i) batch.push_back(shape[i]);
  return batch;
}
Shape matrix_shape(Shape batch, std::int64_t rows, std::int64_t columns) {
  batch.push_back(rows);
  batch.push_back(columns);
  return batch;
}

Body lower_matmul(const Operation& operation) {
  const Shape a = input_shape(operation, 0), b = input_shape(operation, 1);
  Body body;
  body.form = ir::Form::matmul;
  body.matmul.batch = batch_of(operation.shape);
  body.matmul.m = a[a.rank() - 2];
  body.matmul.k = a.back();
  body.matmul.n = b.back();
  body.reads_once = false;
  return body;
}

/// Of the operand with `shape`: a batch that was broadcast to is summed.
std::vector<Tensor> grad_matmul(const Operation& operation, const Tensor&, const Tensor& gradient, std::span<const bool> needed) {
  const Tensor a = input(operation, 0), b = input(operation, 1);
  std::vector<Tensor> gradients(2);
  if (needed[0]) gradients[0] = graph::sum_to(matmul(gradient, transpose(b)), a.shape());
  if (needed[1]) gradients[1] = graph::sum_to(matmul(transpose(a), gradient), b.shape());
  return gradients;
}
constexpr Definition matmul_definition{.name = "matmul", .lower = lower_matmul, .gradient = grad_matmul};

/// x[begin, end) along `axis`.
Tensor part_of(const Tensor& x, int axis, std::int64_t begin, std::int64_t end) {
  Shape first, last;
  for (int i = 0; i < x.rank(); ++i) {
    first.push_back(i == axis ? begin : 0);
    last.push_back(i == axis ? end : x.shape()[i]);
  }
  return slice(x, first, last);
}
/// x[.., size, ..] as [.., parts, size / parts, ..].
Tensor cut(const Tensor& x, int axis, std::int64_t parts) {
  Shape shape;
  for (int i = 0; i < x.rank(); ++i) {
    if (i == axis) shape.push_back(parts);
    shape.push_back(i == axis ? x.shape()[i] / parts : x.shape()[i]);
  }
  return reshape(x, shape);
}

Tensor product(const Tensor& a, const Tensor& b);

/// Long sums of products are cut: Mesa's CPU driver ends the loops of an invocation after 65,535 rounds in all, and parts run
/// side by side. Below `longest_sum` they are one kernel.
constexpr std::int64_t longest_sum = 49152, part_of_sum = 32768;

Tensor product_in_parts(const Tensor& a, const Tensor& b, std::int64_t outputs) {
  constexpr std::int64_t most_partial_sums = 1 << 24;
  const int k_of_a = a.rank() - 1, k_of_b = b.rank() - 2;
  const std::int64_t inner = a.shape().back(), parts = inner / part_of_sum, whole = parts * part_of_sum;
  const auto between = [&](std::int64_t begin, std::int64_t end) {
    return product(part_of(a, k_of_a, begin, end), part_of(b, k_of_b, begin, end));
  };
  Tensor total;
  if (parts * outputs <= most_partial_sums && std::max(a.rank(), b.rank()) < max_rank) {
    const Tensor left = cut(part_of(a, k_of_a, 0, whole), k_of_a, parts);
    Axes order;
    for (int i = 0; i < left.rank(); ++i) order.push_back(i);
    std::swap(order[k_of_a], order[k_of_a - 1]);
    total = sum(product(permute(left, order), cut(part_of(b, k_of_b, 0, whole), k_of_b, parts)), {-3});
  } else {
    total = between(0, part_of_sum);
    for (std::int64_t at = part_of_sum; at < whole; at += part_of_sum) total = total + between(at, at + part_of_sum);
  }
  return whole < inner ? total + between(whole, inner) : total;
}

/// On operands with two axes or more and the same dtype.
Tensor product(const Tensor& a, const Tensor& b) {
  const std::int64_t rows = a.shape()[a.rank() - 2], inner = a.shape().back(), columns = b.shape().back();
  const Shape shape = matrix_shape(broadcast(batch_of(a.shape()), batch_of(b.shape()), "matmul"), rows, columns);
  if (inner == 0) return empty_sum(shape, a, b);
  if (inner > longest_sum) return product_in_parts(a, b, shape.elements());
  if (b.rank() == 2 && a.rank() > 2) {
    // One product with many rows instead of many small ones; its gradient with respect to b is one product as well.
    const Tensor flat = reshape(a, {a.elements() / inner, inner});
    return reshape(run(matmul_definition, {flat, b}, {flat.shape()[0], columns}, a.dtype()), shape);
  }
  return run(matmul_definition, {a, b}, shape, a.dtype());
}

}  // namespace

Tensor matmul(const Tensor& lhs, const Tensor& rhs) {
  require(lhs, "matmul");
  require(rhs, "matmul");
  if (lhs.rank() == 0 || rhs.rank() == 0)
    fail(ErrorCode::shape_mismatch, "matmul: a scalar is no matrix: lhs is {}, rhs is {}.", text(lhs.shape()), text(rhs.shape()));
  if (lhs.dtype() == DType::boolean || rhs.dtype() == DType::boolean)
    fail(ErrorCode::dtype_mismatch, "matmul: lhs is {}, rhs is {}; booleans have no product.", text(lhs.dtype()),
         text(rhs.dtype()));
  if (lhs.shape().back() != rhs.shape()[rhs.rank() == 1 ? 0 : rhs.rank() - 2])
    fail(ErrorCode::shape_mismatch, "matmul: inner dimensions differ: lhs is {}, rhs is {}.", text(lhs.shape()),
         text(rhs.shape()));
  DType dtype = promote(lhs.dtype(), rhs.dtype());
  if (size_bytes(dtype) == 1) dtype = DType::i32;  // sums of bytes do not fit bytes
  Tensor a = converted(lhs, dtype), b = converted(rhs, dtype);
  if (lhs.rank() == 1) a = expand_dims(a, 0);
  if (rhs.rank() == 1) b = expand_dims(b, 1);
  Tensor result = product(a, b);
  if (lhs.rank() == 1) result = squeeze(result, {-2});
  if (rhs.rank() == 1) result = squeeze(result, {-1});
  return result;
}

Tensor dot(const Tensor& lhs, const Tensor& rhs) {
  require(lhs, "dot");
  require(rhs, "dot");
  if (lhs.rank() != 1 || rhs.rank() != 1 || lhs.shape() != rhs.shape())
    fail(ErrorCode::shape_mismatch, "dot: operands must have one axis of the same size: lhs is {}, rhs is {}.", text(lhs.shape()),
         text(rhs.shape()));
  return matmul(lhs, rhs);
}

Tensor outer(const Tensor& lhs, const Tensor& rhs) {
  require(lhs, "outer");
  require(rhs, "outer");
  if (lhs.rank() != 1 || rhs.rank() != 1)
    fail(ErrorCode::shape_mismatch, "outer: operands must have one axis: lhs is {}, rhs is {}.", text(lhs.shape()),
         text(rhs.shape()));
  return matmul(expand_dims(lhs, 1), expand_dims(rhs, 0));
}

}  // namespace hearth
