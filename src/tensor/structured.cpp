#include "tensor/structured.hpp"

#include <limits>

#include "hearth/ops/binary.hpp"
#include "hearth/ops/create.hpp"
#include "hearth/ops/reduce.hpp"

namespace hearth::structured {

// Element indices are i32 in kernels.
static constexpr std::int64_t max_elements = std::numeric_limits<std::int32_t>::max();

void require(const Tensor& x, const char* operation) {
  if (!x) fail(ErrorCode::invalid_argument, "{}: the tensor is null.", operation);
}

void check_shape(const Shape& shape, const char* operation) {
  std::int64_t elements = 1;
  bool large = false;
  for (int axis = 0; axis < shape.rank(); ++axis) {
    if (shape[axis] < 0) fail(ErrorCode::invalid_argument, "{}: axis {} has the negative size {}.", operation, axis, shape[axis]);
    large |= shape[axis] != 0 && elements > max_elements / shape[axis];
    elements = large && shape[axis] != 0 ? elements : elements * shape[axis];
  }
  if (large && elements != 0)
    fail(ErrorCode::unsupported, "{}: shape {} has more than {} elements.", operation, text(shape), max_elements);
}

void check_count(const Shape& values, int rank, const char* operation, const char* what) {
  if (values.rank() != rank)
    fail(ErrorCode::invalid_argument, "{}: {} {} has {} values for a tensor of rank {}.", operation, what, text(values),
         values.rank(), rank);
}

Tensor converted(const Tensor& x, DType dtype) { return x.dtype() == dtype ? x : x.astype(dtype); }

Tensor run(const Definition& definition, std::vector<Operand> inputs, const Shape& shape, DType dtype,
           std::vector<std::int64_t> attributes, const Device& device) {
  check_shape(shape, definition.name);
  Operation operation;
  operation.definition = &definition;
  operation.inputs = std::move(inputs);
  operation.shape = shape;
  operation.dtype = dtype;
  operation.attributes = std::move(attributes);
  return graph::execute(std::move(operation), device);
}

Tensor input(const Operation& operation, int index) {
  const Operand& operand = operation.inputs[static_cast<std::size_t>(index)];
  return {operand.node, operand.tape};
}
Shape input_shape(const Operation& operation, int index) { return input(operation, index).shape(); }

std::int64_t attribute(const Operation& operation, int index) { return operation.attributes[static_cast<std::size_t>(index)]; }
Shape attributes(const Operation& operation, int first, int count) {
  return Shape(std::span(operation.attributes).subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(count)));
}

Coordinates output_coordinates(int rank) {
  Coordinates all;
  for (int axis = 0; axis < rank; ++axis) all.push_back(Expr::coordinate(axis));
  return all;
}

Expr load(const Operation& operation, int index, const Coordinates& coordinates) {
  return Expr::load(index, compute_dtype(input(operation, index).dtype()), coordinates);
}

Expr integer(std::int64_t value) { return Expr::constant(static_cast<double>(value), DType::i32); }
Expr zero_of(DType dtype) { return Expr::constant(0, compute_dtype(dtype)); }
Expr clamped(const Expr& x, std::int64_t size) { return max(min(x, integer(size - 1)), integer(0)); }

Tensor empty_sum(const Shape& shape, const Tensor& a, const Tensor& b) {
  return zeros(shape, a.dtype(), a.device()) + (sum(a) + sum(b));
}

}  // namespace hearth::structured
