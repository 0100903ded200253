#include <algorithm>

#include "hearth/ops/create.hpp"
#include "hearth/ops/view.hpp"
#include "tensor/structured.hpp"

namespace hearth {
namespace {

using namespace structured;

// WebGPU promises eight storage buffers a shader; one is the output, one is left for what is fused in.
constexpr std::size_t most_joined = 6;

/// Attributes: the axis. Each input is loaded at a place inside itself and used where it lies.
Body lower_concatenate(const Operation& operation) {
  const int axis = static_cast<int>(attribute(operation, 0));
  const Expr c = Expr::coordinate(axis);
  Coordinates at = output_coordinates(operation.shape.rank());
  const int count = static_cast<int>(operation.inputs.size());
  std::vector<std::int64_t> ends;
  std::int64_t end = 0;
  for (int i = 0; i < count; ++i) ends.push_back(end += input_shape(operation, i)[axis]);
  Expr value;
  for (int i = count - 1; i >= 0; --i) {
    const std::int64_t start = i == 0 ? 0 : ends[static_cast<std::size_t>(i - 1)];
    Expr place = c - integer(start);
    if (i > 0) place = max(place, integer(0));
    if (i < count - 1) place = min(place, integer(ends[static_cast<std::size_t>(i)] - start - 1));
    at[static_cast<std::size_t>(axis)] = place;
    const Expr piece = load(operation, i, at);
    value = value ? select(c < integer(ends[static_cast<std::size_t>(i)]), piece, value) : piece;
  }
  return {.value = value};
}
std::vector<Tensor> grad_concatenate(const Operation& operation, const Tensor&, const Tensor& gradient,
                                     std::span<const bool> needed) {
  const int axis = static_cast<int>(attribute(operation, 0));
  std::vector<Tensor> gradients;
  std::int64_t start = 0;
  for (std::size_t i = 0; i < operation.inputs.size(); ++i) {
    const std::int64_t size = input_shape(operation, static_cast<int>(i))[axis];
    gradients.push_back(needed[i] ? narrow(gradient, axis, start, size) : Tensor());
    start += size;
  }
  return gradients;
}
constexpr Definition concatenate_definition{.name = "concatenate", .lower = lower_concatenate, .gradient = grad_concatenate};

DType common_dtype(std::span<const Tensor> tensors) {
  DType dtype = tensors.front().dtype();
  for (const Tensor& t : tensors) dtype = promote(dtype, t.dtype());
  return dtype;
}

/// All but empty pieces, in groups where there are many.
Tensor join_pieces(std::vector<Tensor> pieces, int axis) {
  while (pieces.size() > 1) {
    std::vector<Tensor> joined;
    for (std::size_t first = 0; first < pieces.size(); first += most_joined) {
      const std::size_t count = std::min(most_joined, pieces.size() - first);
      if (count == 1) {
        joined.push_back(pieces[first]);
        continue;
      }
      std::vector<Operand> inputs;
      Shape shape = pieces[first].shape();
      shape[axis] = 0;
      for (std::size_t i = first; i < first + count; ++i) {
        inputs.emplace_back(pieces[i]);
        shape[axis] += pieces[i].shape()[axis];
      }
      joined.push_back(run(concatenate_definition, std::move(inputs), shape, pieces[first].dtype(), {axis}));
    }
    pieces = std::move(joined);
  }
  return pieces.front();
}

/// One axis extended at both ends by copies of its own elements.
Tensor extend(const Tensor& x, int axis, std::int64_t before, std::int64_t after, PadMode mode) {
  const std::int64_t size = x.shape()[axis];
  const auto piece = [&](bool at_start, std::int64_t count) {
    if (mode == PadMode::edge) {
      Shape shape = x.shape();
      shape[axis] = count;
      return broadcast_to(narrow(x, axis, at_start ? 0 : size - 1, 1), shape);
    }
    return flip(narrow(x, axis, at_start ? 1 : size - 1 - count, count), {axis});
  };
  std::vector<Tensor> pieces;
  if (before > 0) pieces.push_back(piece(true, before));
  pieces.push_back(x);
  if (after > 0) pieces.push_back(piece(false, after));
  return concatenate(pieces, axis);
}

}  // namespace

Tensor concatenate(std::span<const Tensor> tensors, int axis) {
  if (tensors.empty()) fail(ErrorCode::invalid_argument, "concatenate: there are no tensors to join.");
  for (const Tensor& t : tensors) require(t, "concatenate");
  const Shape& first = tensors[0].shape();
  const int a = normalize_axis(axis, first.rank(), "concatenate");
  const DType dtype = common_dtype(tensors);
  Shape shape = first;
  shape[a] = 0;
  std::vector<Tensor> pieces;
  for (const Tensor& t : tensors) {
    bool fits = t.rank() == first.rank();
    for (int i = 0; fits && i < first.rank(); ++i) fits = i == a || t.shape()[i] == first[i];
    if (!fits) fail(ErrorCode::shape_mismatch, "concatenate: {} and {} differ outside axis {}.", text(first), text(t.shape()), a);
    shape[a] += t.shape()[a];
    if (t.shape()[a] > 0) pieces.push_back(converted(t, dtype));
  }
  check_shape(shape, "concatenate");
  if (pieces.empty()) return converted(tensors[0], dtype);
  return join_pieces(std::move(pieces), a);
}

Tensor stack(std::span<const Tensor> tensors, int axis) {
  if (tensors.empty()) fail(ErrorCode::invalid_argument, "stack: there are no tensors to join.");
  std::vector<Tensor> expanded;
  for (const Tensor& t : tensors) {
    require(t, "stack");
    if (t.shape() != tensors[0].shape())
      fail(ErrorCode::shape_mismatch, "stack: shapes {} and {} differ.", text(tensors[0].shape()), text(t.shape()));
    expanded.push_back(expand_dims(t, normalize_axis(axis, t.rank() + 1, "stack")));
  }
  return concatenate(expanded, normalize_axis(axis, tensors[0].rank() + 1, "stack"));
}

std::vector<Tensor> split(const Tensor& x, std::span<const std::int64_t> sizes, int axis) {
  require(x, "split");
  const int a = normalize_axis(axis, x.rank(), "split");
  std::int64_t total = 0;
  bool negative = false;
  for (std::int64_t size : sizes) {
    negative |= size < 0;
    total += size;
  }
  if (negative || total != x.shape()[a])
    fail(ErrorCode::shape_mismatch, "split: the sizes add up to {}, not to {}, the size of axis {}, or one is negative.", total,
         x.shape()[a], a);
  std::vector<Tensor> pieces;
  std::int64_t start = 0;
  for (std::int64_t size : sizes) {
    pieces.push_back(narrow(x, a, start, size));
    start += size;
  }
  return pieces;
}

Tensor pad(const Tensor& x, const Shape& before, const Shape& after, const PadOptions& options) {
  require(x, "pad");
  check_count(before, x.rank(), "pad", "before");
  check_count(after, x.rank(), "pad", "after");
  Shape shape = x.shape();
  for (int axis = 0; axis < x.rank(); ++axis) {
    const std::int64_t size = x.shape()[axis], most = std::max(before[axis], after[axis]);
    if (before[axis] < 0 || after[axis] < 0)
      fail(ErrorCode::invalid_argument, "pad: {} before and {} after axis {} must not be negative.", before[axis], after[axis],
           axis);
    if (options.mode == PadMode::edge && most > 0 && size == 0)
      fail(ErrorCode::invalid_argument, "pad: axis {} of {} has no edge to repeat.", axis, text(x.shape()));
    if (options.mode == PadMode::reflect && most > 0 && most > size - 1)
      fail(ErrorCode::invalid_argument, "pad: a reflection of {} elements needs more than the {} of axis {}.", most, size, axis);
    shape[axis] += before[axis] + after[axis];
  }
  check_shape(shape, "pad");
  if (options.mode == PadMode::constant) return place(x, shape, before, Shape::filled(x.rank(), 1), options.value);
  Tensor padded = x;
  for (int axis = 0; axis < x.rank(); ++axis)
    if (before[axis] > 0 || after[axis] > 0) padded = extend(padded, axis, before[axis], after[axis], options.mode);
  return padded;
}

}  // namespace hearth
