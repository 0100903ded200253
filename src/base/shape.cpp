#include "hearth/shape.hpp"

#include <algorithm>

namespace hearth {

std::string to_string(const Shape& shape) {
  std::string text = "[";
  for (int i = 0; i < shape.rank(); ++i) {
    if (i > 0) text += ", ";
    text += std::to_string(shape[i]);
  }
  return text + "]";
}

Shape row_major_strides(const Shape& shape) {
  Shape strides = Shape::filled(shape.rank(), 1);
  for (int i = shape.rank() - 2; i >= 0; --i) strides[i] = strides[i + 1] * shape[i + 1];
  return strides;
}

Shape broadcast(const Shape& a, const Shape& b, const char* operation) {
  const int rank = std::max(a.rank(), b.rank());
  Shape result = Shape::filled(rank, 1);
  for (int i = 1; i <= rank; ++i) {
    const std::int64_t x = i <= a.rank() ? a[a.rank() - i] : 1;
    const std::int64_t y = i <= b.rank() ? b[b.rank() - i] : 1;
    if (x != y && x != 1 && y != 1) {
      throw Error(ErrorCode::shape_mismatch, std::string(operation) + ": shapes " + to_string(a) + " and " + to_string(b) +
                                                 " do not broadcast: axis -" + std::to_string(i) + " has sizes " +
                                                 std::to_string(x) + " and " + std::to_string(y) + ".");
    }
    result[rank - i] = x == 1 ? y : x;  // a size of 0 wins over 1
  }
  return result;
}

int normalize_axis(std::int64_t axis, int rank, const char* operation) {
  if (axis < -rank || axis >= rank) {
    throw Error(ErrorCode::invalid_argument, std::string(operation) + ": axis " + std::to_string(axis) +
                                                 " is outside a tensor of rank " + std::to_string(rank) + ".");
  }
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}

}  // namespace hearth
