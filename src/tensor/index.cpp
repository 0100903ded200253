#include "hearth/ops/index.hpp"

#include <algorithm>

#include "hearth/ops/create.hpp"
#include "hearth/ops/view.hpp"
#include "tensor/structured.hpp"

namespace hearth {
namespace {

using namespace structured;
using Gradients = std::vector<Tensor>;

/// A loaded index as i32, counted from the end when negative.
Expr wrapped(const Expr& index, std::int64_t size) {
  // What is beyond i32 is out of range of any axis, not negative.
  if (index.dtype() == DType::u32) return cast(min(index, Expr(0x7fffffffu)), DType::i32);
  return select(index < integer(0), index + integer(size), index);
}

Expr read_at(const Operation& operation, Coordinates at, int axis, const Expr& index) {
  const std::int64_t size = input_shape(operation, 0)[axis];
  if (size == 0) return zero_of(operation.dtype);
  const Expr place = wrapped(index, size);
  at[static_cast<std::size_t>(axis)] = clamped(place, size);
  return select((place >= integer(0)) & (place < integer(size)), load(operation, 0, at), zero_of(operation.dtype));
}

/// Input 1 has the output's shape. Attributes: the axis.
Body lower_gather(const Operation& operation) {
  const int axis = static_cast<int>(attribute(operation, 0));
  const Coordinates at = output_coordinates(operation.shape.rank());
  return {.value = read_at(operation, at, axis, load(operation, 1, at)), .reads_once = false};
}
Gradients grad_gather(const Operation& operation, const Tensor&, const Tensor& gradient, std::span<const bool> needed) {
  const int axis = static_cast<int>(attribute(operation, 0));
  if (!needed[0]) return {{}, {}};
  return {scatter_add(gradient, axis, input(operation, 1), input_shape(operation, 0)[axis]), {}};
}
constexpr Definition gather_definition{.name = "gather", .lower = lower_gather, .gradient = grad_gather};

/// Input 1 has one axis.
Body lower_index_select(const Operation& operation) {
  const int axis = static_cast<int>(attribute(operation, 0));
  const Coordinates at = output_coordinates(operation.shape.rank());
  return {.value = read_at(operation, at, axis, load(operation, 1, {Expr::coordinate(axis)})), .reads_once = false};
}
Gradients grad_index_select(const Operation& operation, const Tensor&, const Tensor& gradient, std::span<const bool> needed) {
  const int axis = static_cast<int>(attribute(operation, 0));
  if (!needed[0]) return {{}, {}};
  return {index_add(gradient, axis, input(operation, 1), input_shape(operation, 0)[axis]), {}};
}
constexpr Definition index_select_definition{.name = "index_select", .lower = lower_index_select, .gradient = grad_index_select};

/// out[..., i, ...] = sum over j where index[j] is i of x[..., j, ...]. Every element asks all indices: no atomics, and the same
/// sum in the same order on every device. Attributes: the axis, 1 when the index has one axis.
Body lower_scatter(const Operation& operation) {
  const int axis = static_cast<int>(attribute(operation, 0));
  const int rank = operation.shape.rank();
  Coordinates at = output_coordinates(rank);
  const Expr j = Expr::coordinate(rank);
  at[static_cast<std::size_t>(axis)] = j;
  const Expr index = attribute(operation, 1) != 0 ? load(operation, 1, {j}) : load(operation, 1, at);
  const Expr here = wrapped(index, operation.shape[axis]) == Expr::coordinate(axis);
  Body body;
  body.form = ir::Form::reduce;
  body.value = select(here, load(operation, 0, at), zero_of(operation.dtype));
  body.reduced = {input_shape(operation, 0)[axis]};
  body.combine = Combine::sum;
  body.reads_once = false;
  return body;
}
Gradients grad_scatter(const Operation& operation, const Tensor&, const Tensor& gradient, std::span<const bool> needed) {
  const int axis = static_cast<int>(attribute(operation, 0));
  if (!needed[0]) return {{}, {}};
  const Tensor index = input(operation, 1);
  return {attribute(operation, 1) != 0 ? index_select(gradient, axis, index) : gather(gradient, axis, index), {}};
}
constexpr Definition scatter_add_definition{.name = "scatter_add", .lower = lower_scatter, .gradient = grad_scatter};
constexpr Definition index_add_definition{.name = "index_add", .lower = lower_scatter, .gradient = grad_scatter};

Body lower_one_hot(const Operation& operation) {
  const int rank = operation.shape.rank();
  const Expr index = wrapped(load(operation, 0, output_coordinates(rank - 1)), operation.shape.back());
  return {.value = cast(index == Expr::coordinate(rank - 1), compute_dtype(operation.dtype)), .reads_once = false};
}
constexpr Definition one_hot_definition{.name = "one_hot", .lower = lower_one_hot};

void require_index(const Tensor& index, const char* operation) {
  require(index, operation);
  if (!is_integer(index.dtype()))
    fail(ErrorCode::dtype_mismatch, "{}: the index is {}; it must be an integer.", operation, text(index.dtype()));
}

int check_one_axis(const Tensor& x, int axis, const Tensor& index, const char* operation) {
  require(x, operation);
  require_index(index, operation);
  if (index.rank() != 1)
    fail(ErrorCode::shape_mismatch, "{}: the index has shape {}; it must have one axis.", operation, text(index.shape()));
  return normalize_axis(axis, x.rank(), operation);
}

/// Shapes of x and index with all axes but one broadcast.
std::pair<Shape, Shape> fit(const Tensor& x, int axis, const Tensor& index, const char* operation) {
  if (x.rank() != index.rank())
    fail(ErrorCode::shape_mismatch, "{}: {} and the index {} differ in rank.", operation, text(x.shape()), text(index.shape()));
  Shape a = x.shape(), b = index.shape();
  for (int i = 0; i < a.rank(); ++i) {
    if (i == axis || a[i] == b[i]) continue;
    if (a[i] != 1 && b[i] != 1)
      fail(ErrorCode::shape_mismatch, "{}: {} and the index {} differ outside axis {}.", operation, text(x.shape()),
           text(index.shape()), axis);
    (a[i] == 1 ? a : b)[i] = a[i] == 1 ? b[i] : a[i];
  }
  return {a, b};
}

}  // namespace

Tensor gather(const Tensor& x, int axis, const Tensor& index) {
  require(x, "gather");
  require_index(index, "gather");
  const int a = normalize_axis(axis, x.rank(), "gather");
  const auto [from, to] = fit(x, a, index, "gather");
  return run(gather_definition, {broadcast_to(x, from), broadcast_to(index, to)}, to, x.dtype(), {a});
}

Tensor index_select(const Tensor& x, int axis, const Tensor& index) {
  const int a = check_one_axis(x, axis, index, "index_select");
  Shape shape = x.shape();
  shape[a] = index.shape()[0];
  return run(index_select_definition, {x, index}, shape, x.dtype(), {a});
}

Tensor scatter_add(const Tensor& x, int axis, const Tensor& index, std::int64_t size) {
  require(x, "scatter_add");
  require_index(index, "scatter_add");
  const int a = normalize_axis(axis, x.rank(), "scatter_add");
  if (x.shape()[a] != (index.rank() == x.rank() ? index.shape()[a] : -1))
    fail(ErrorCode::shape_mismatch, "scatter_add: {} and the index {} differ in size.", text(x.shape()), text(index.shape()));
  const auto [from, to] = fit(x, a, index, "scatter_add");
  Shape shape = from;
  shape[a] = size;
  return run(scatter_add_definition, {broadcast_to(x, from), broadcast_to(index, to)}, shape, x.dtype(), {a, 0});
}

Tensor index_add(const Tensor& x, int axis, const Tensor& index, std::int64_t size) {
  const int a = check_one_axis(x, axis, index, "index_add");
  if (x.shape()[a] != index.shape()[0])
    fail(ErrorCode::shape_mismatch, "index_add: axis {} of {} and the index {} differ in size.", a, text(x.shape()),
         text(index.shape()));
  Shape shape = x.shape();
  shape[a] = size;
  return run(index_add_definition, {x, index}, shape, x.dtype(), {a, 1});
}

Tensor one_hot(const Tensor& index, std::int64_t depth, DType dtype) {
  require_index(index, "one_hot");
  if (index.rank() == max_rank) fail(ErrorCode::invalid_argument, "one_hot: the index has {} axes already.", max_rank);
  Shape shape = index.shape();
  shape.push_back(depth);
  return run(one_hot_definition, {index}, shape, dtype);
}

}  // namespace hearth
