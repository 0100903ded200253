#include <doctest/doctest.h>

#include "hearth/shape.hpp"

using namespace hearth;

namespace {
template <typename F>
Failure failure_of(F function) {
  try {
    function();
  } catch (const Error& error) {
    return error.failure();
  }
  return {ErrorCode::io, "nothing was thrown"};
}
}  // namespace

TEST_CASE("broadcast joins shapes as NumPy does, sizes of zero included") {
  CHECK(broadcast({2, 3}, {3}, "add") == Shape{2, 3});
  CHECK(broadcast({4, 1, 3}, {5, 1}, "add") == Shape{4, 5, 3});
  CHECK(broadcast({}, {2}, "add") == Shape{2});
  CHECK(broadcast({2, 0}, {2, 1}, "add") == Shape{2, 0});
  CHECK(broadcast({0}, {1}, "add") == Shape{0});
}

TEST_CASE("broadcast names the operation, both shapes and the axis that does not fit") {
  const Failure failure = failure_of([] { (void)broadcast({4, 3}, {2, 3}, "add"); });
  CHECK(failure.code == ErrorCode::shape_mismatch);
  CHECK(failure.message == "add: shapes [4, 3] and [2, 3] do not broadcast: axis -2 has sizes 4 and 2.");
  CHECK(failure_of([] { (void)broadcast({0}, {2}, "add"); }).code == ErrorCode::shape_mismatch);
}

TEST_CASE("axes count from the end when negative, and outside the rank they are an error") {
  CHECK(normalize_axis(-1, 3, "sum") == 2);
  CHECK(normalize_axis(0, 3, "sum") == 0);
  CHECK(failure_of([] { (void)normalize_axis(3, 3, "sum"); }).message == "sum: axis 3 is outside a tensor of rank 3.");
  CHECK(failure_of([] { (void)normalize_axis(-4, 3, "sum"); }).code == ErrorCode::invalid_argument);
}

TEST_CASE("row-major strides, elements and text of a shape") {
  CHECK(row_major_strides({2, 3, 4}) == Shape{12, 4, 1});
  CHECK(row_major_strides({}) == Shape{});
  CHECK(Shape{2, 0, 4}.elements() == 0);
  CHECK(to_string(Shape{2, 3}) == "[2, 3]");
  CHECK(failure_of([] { (void)Shape::filled(9, 1); }).code == ErrorCode::invalid_argument);
}
