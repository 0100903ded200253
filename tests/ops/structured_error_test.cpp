#include <doctest/doctest.h>

#include "structured_test.hpp"

using namespace hearth;
using structured_test::check_error;

namespace {
constexpr ErrorCode shape_mismatch = ErrorCode::shape_mismatch;
constexpr ErrorCode dtype_mismatch = ErrorCode::dtype_mismatch;
constexpr ErrorCode invalid = ErrorCode::invalid_argument;

Tensor x(const Shape& shape, DType dtype = DType::f32) { return zeros(shape, dtype, Device::cpu()); }
}  // namespace

// Each mistake has its sentence, and the call throws before any work.
#define HEARTH_CHECK_ERROR(code, text, ...) check_error([&] { (void)(__VA_ARGS__); }, code, text)

TEST_CASE("mistakes in creation") {
  const Device cpu = Device::cpu();
  HEARTH_CHECK_ERROR(invalid, "full: axis 1 has the negative size -3.", zeros({2, -3}, cpu));
  HEARTH_CHECK_ERROR(ErrorCode::unsupported, "full: shape [65536, 65536] has more than 2147483647 elements.",
                     zeros({65536, 65536}, cpu));
  HEARTH_CHECK_ERROR(invalid, "full: the device is null.", zeros({2}, Device()));
  HEARTH_CHECK_ERROR(invalid, "full_like: the tensor is null.", ones_like(Tensor()));
  HEARTH_CHECK_ERROR(invalid, "arange: start 0, stop 3 and step 0 must be finite, and the step not 0.", arange(0, 3, 0, cpu));
  HEARTH_CHECK_ERROR(invalid, "arange: start 0 and step 0.5 must be whole numbers for i32.", arange(0, 3, 0.5, DType::i32, cpu));
  HEARTH_CHECK_ERROR(dtype_mismatch, "arange: the dtype is bool; it must be a number.", arange(3, DType::boolean, cpu));
  HEARTH_CHECK_ERROR(ErrorCode::unsupported, "arange: 3000000000 numbers from 0 to 3000000000 are more than 2147483647.",
                     arange(3e9, cpu));
  HEARTH_CHECK_ERROR(invalid, "linspace: the count -1 is negative.", linspace(0, 1, -1, cpu));
  HEARTH_CHECK_ERROR(dtype_mismatch, "linspace: the dtype is i32; it must be a float.", linspace(0, 1, 3, DType::i32, cpu));
  HEARTH_CHECK_ERROR(invalid, "eye: axis 0 has the negative size -1.", eye(-1, cpu));
  HEARTH_CHECK_ERROR(invalid, "uniform: low 2 and high 1 must be finite, and low not above high.",
                     uniform({2}, {.low = 2, .high = 1}, cpu));
  HEARTH_CHECK_ERROR(dtype_mismatch, "uniform: the dtype is bool; it must be a number.",
                     uniform({2}, {.dtype = DType::boolean}, cpu));
  HEARTH_CHECK_ERROR(invalid, "uniform: low 0 and high 257 leave u8, which reaches from 0 to 255.",
                     uniform({2}, {.high = 257, .dtype = DType::u8}, cpu));
  HEARTH_CHECK_ERROR(invalid, "uniform: low -129 and high 0 leave i8, which reaches from -128 to 127.",
                     uniform({2}, {.low = -129, .high = 0, .dtype = DType::i8}, cpu));
  HEARTH_CHECK_ERROR(invalid, "uniform: low -1 and high 1 leave u32, which reaches from 0 to 4294967295.",
                     uniform({2}, {.low = -1, .dtype = DType::u32}, cpu));
  HEARTH_CHECK_ERROR(invalid, "uniform: low 0 and high 2147483649 leave i32, which reaches from -2147483648 to 2147483647.",
                     uniform({2}, {.high = 2147483649.0, .dtype = DType::i32}, cpu));
  HEARTH_CHECK_ERROR(invalid, "uniform: low 0.5 and high 1 must be whole numbers of i32 that differ by 1 to 4294967295.",
                     uniform({2}, {.low = 0.5, .dtype = DType::i32}, cpu));
  HEARTH_CHECK_ERROR(dtype_mismatch, "normal: the dtype is u8; it must be a float.", normal({2}, {.dtype = DType::u8}, cpu));
  HEARTH_CHECK_ERROR(invalid, "normal: mean 0 and deviation -1 must be finite, and the deviation not negative.",
                     normal({2}, {.deviation = -1}, cpu));
}

TEST_CASE("mistakes in views") {
  const std::string no_axis = ": axis 2 is outside a tensor of rank 2.";
  HEARTH_CHECK_ERROR(shape_mismatch, "reshape: [2, 3] has 6 elements, and [4, 2] has 8.", reshape(x({2, 3}), {4, 2}));
  HEARTH_CHECK_ERROR(shape_mismatch, "reshape: [2, 3] has 6 elements, which no size in place of -1 in [-1, 4] gives.",
                     reshape(x({2, 3}), {-1, 4}));
  HEARTH_CHECK_ERROR(invalid, "reshape: more than one size of [-1, -1] is -1.", reshape(x({2, 3}), {-1, -1}));
  HEARTH_CHECK_ERROR(invalid, "reshape: axis 0 has the negative size -2.", reshape(x({2, 3}), {-2, -3}));
  HEARTH_CHECK_ERROR(invalid, "permute: the list of axes [0] has 1 values for a tensor of rank 2.", permute(x({2, 3}), {0}));
  HEARTH_CHECK_ERROR(invalid, "permute: axis 1 appears twice in [1, -1].", permute(x({2, 3}), {1, -1}));
  HEARTH_CHECK_ERROR(invalid, "permute" + no_axis, permute(x({2, 3}), {0, 2}));
  HEARTH_CHECK_ERROR(shape_mismatch, "transpose: the shape [3] has fewer than two axes.", transpose(x({3})));
  HEARTH_CHECK_ERROR(invalid, "transpose" + no_axis, transpose(x({2, 3}), 0, 2));
  HEARTH_CHECK_ERROR(invalid, "slice: starts [0, 0], ends [1] and steps [] differ in length.", slice(x({2, 3}), {0, 0}, {1}));
  HEARTH_CHECK_ERROR(invalid, "slice: starts [0, 0, 0] names 3 axes, and the shape [2, 3] has 2.",
                     slice(x({2, 3}), {0, 0, 0}, {1, 1, 1}));
  HEARTH_CHECK_ERROR(invalid, "slice: the step of axis 0 is 0.", slice(x({2, 3}), {0}, {1}, {0}));
  HEARTH_CHECK_ERROR(invalid, "narrow: 2 elements from 2 on are outside axis 1 of [2, 3].", narrow(x({2, 3}), 1, 2, 2));
  HEARTH_CHECK_ERROR(invalid, "flip" + no_axis, flip(x({2, 3}), {2}));
  HEARTH_CHECK_ERROR(shape_mismatch, "broadcast_to: [2, 3] does not broadcast to [4, 3].", broadcast_to(x({2, 3}), {4, 3}));
  HEARTH_CHECK_ERROR(shape_mismatch, "broadcast_to: [2, 3] does not broadcast to [3].", broadcast_to(x({2, 3}), {3}));
  HEARTH_CHECK_ERROR(invalid, "expand_dims: axis 4 is outside a tensor of rank 3.", expand_dims(x({2, 3}), 4));
  HEARTH_CHECK_ERROR(shape_mismatch, "squeeze: axis 1 of [2, 3] has size 3, not 1.", squeeze(x({2, 3}), {-1}));
  HEARTH_CHECK_ERROR(shape_mismatch, "diagonal: the shape [3] has fewer than two axes.", diagonal(x({3})));
  HEARTH_CHECK_ERROR(shape_mismatch, "tril: the shape [3] has fewer than two axes.", tril(x({3})));
  HEARTH_CHECK_ERROR(invalid, "reshape: the tensor is null.", reshape(Tensor(), {1}));
}

TEST_CASE("mistakes in joins") {
  HEARTH_CHECK_ERROR(invalid, "concatenate: there are no tensors to join.", concatenate(std::vector<Tensor>()));
  HEARTH_CHECK_ERROR(shape_mismatch, "concatenate: [2, 3] and [2, 4] differ outside axis 0.",
                     concatenate({x({2, 3}), x({2, 4})}));
  HEARTH_CHECK_ERROR(invalid, "concatenate: axis 2 is outside a tensor of rank 2.", concatenate({x({2, 3})}, 2));
  HEARTH_CHECK_ERROR(invalid, "stack: there are no tensors to join.", stack(std::vector<Tensor>()));
  HEARTH_CHECK_ERROR(shape_mismatch, "stack: shapes [2] and [3] differ.", stack({x({2}), x({3})}));
  HEARTH_CHECK_ERROR(shape_mismatch, "split: the sizes add up to 3, not to 4, the size of axis 0, or one is negative.",
                     split(x({4}), {1, 2}));
  HEARTH_CHECK_ERROR(invalid, "pad: before [1] has 1 values for a tensor of rank 2.", pad(x({2, 3}), {1}, {1, 1}));
  HEARTH_CHECK_ERROR(invalid, "pad: -1 before and 1 after axis 0 must not be negative.", pad(x({2}), {-1}, {1}));
  HEARTH_CHECK_ERROR(invalid, "pad: axis 0 of [0] has no edge to repeat.", pad(x({0}), {1}, {0}, {.mode = PadMode::edge}));
  HEARTH_CHECK_ERROR(invalid, "pad: a reflection of 2 elements needs more than the 2 of axis 0.",
                     pad(x({2}), {1}, {2}, {.mode = PadMode::reflect}));
}

TEST_CASE("mistakes in indexing") {
  HEARTH_CHECK_ERROR(dtype_mismatch, "gather: the index is f32; it must be an integer.", gather(x({3}), 0, x({2})));
  HEARTH_CHECK_ERROR(shape_mismatch, "gather: [3] and the index [1, 2] differ in rank.",
                     gather(x({3}), 0, x({1, 2}, DType::i32)));
  HEARTH_CHECK_ERROR(shape_mismatch, "gather: [2, 3] and the index [3, 1] differ outside axis 1.",
                     gather(x({2, 3}), 1, x({3, 1}, DType::i32)));
  HEARTH_CHECK_ERROR(shape_mismatch, "index_select: the index has shape [1, 2]; it must have one axis.",
                     index_select(x({3}), 0, x({1, 2}, DType::i32)));
  HEARTH_CHECK_ERROR(dtype_mismatch, "index_select: the index is bool; it must be an integer.",
                     index_select(x({3}), 0, x({2}, DType::boolean)));
  HEARTH_CHECK_ERROR(shape_mismatch, "scatter_add: [3] and the index [2] differ in size.",
                     scatter_add(x({3}), 0, x({2}, DType::i32), 4));
  HEARTH_CHECK_ERROR(shape_mismatch, "index_add: axis 0 of [3] and the index [2] differ in size.",
                     index_add(x({3}), 0, x({2}, DType::i32), 4));
  HEARTH_CHECK_ERROR(dtype_mismatch, "one_hot: the index is f32; it must be an integer.", one_hot(x({2}), 3));
  HEARTH_CHECK_ERROR(invalid, "one_hot: axis 1 has the negative size -1.", one_hot(x({2}, DType::i32), -1));
}

TEST_CASE("mistakes in products") {
  HEARTH_CHECK_ERROR(shape_mismatch, "matmul: inner dimensions differ: lhs is [2, 3], rhs is [2, 3].",
                     matmul(x({2, 3}), x({2, 3})));
  HEARTH_CHECK_ERROR(shape_mismatch, "matmul: a scalar is no matrix: lhs is [], rhs is [2].", matmul(x({}), x({2})));
  HEARTH_CHECK_ERROR(dtype_mismatch, "matmul: lhs is bool, rhs is f32; booleans have no product.",
                     matmul(x({2, 2}, DType::boolean), x({2, 2})));
  HEARTH_CHECK_ERROR(shape_mismatch, "matmul: shapes [2] and [3] do not broadcast: axis -1 has sizes 2 and 3.",
                     matmul(x({2, 1, 1}), x({3, 1, 1})));
  HEARTH_CHECK_ERROR(shape_mismatch, "dot: operands must have one axis of the same size: lhs is [2], rhs is [3].",
                     dot(x({2}), x({3})));
  HEARTH_CHECK_ERROR(shape_mismatch, "outer: operands must have one axis: lhs is [2], rhs is [1, 3].", outer(x({2}), x({1, 3})));
  HEARTH_CHECK_ERROR(invalid, "matmul: the tensor is null.", matmul(x({2, 2}), Tensor()));
}

TEST_CASE("mistakes with images") {
  const Tensor image = x({1, 2, 4, 4}), weight = x({3, 2, 3, 3});
  HEARTH_CHECK_ERROR(shape_mismatch, "conv2d: the input has shape [2, 4, 4]; an image tensor has four axes.",
                     conv2d(x({2, 4, 4}), weight));
  HEARTH_CHECK_ERROR(shape_mismatch, "conv2d: the weight has shape [3, 3]; it must have four axes.", conv2d(image, x({3, 3})));
  HEARTH_CHECK_ERROR(dtype_mismatch, "conv2d: the input is i32; it must be a float.",
                     conv2d(x({1, 2, 4, 4}, DType::i32), weight));
  HEARTH_CHECK_ERROR(
      shape_mismatch,
      "conv2d: channels differ: the input is [1, 2, 4, 4], the weight is [3, 3, 3, 3], groups is 1, the layout nchw.",
      conv2d(image, x({3, 3, 3, 3})));
  HEARTH_CHECK_ERROR(
      shape_mismatch,
      "conv2d: channels differ: the input is [1, 2, 4, 4], the weight is [3, 1, 3, 3], groups is 2, the layout nchw.",
      conv2d(image, x({3, 1, 3, 3}), {.groups = 2}));
  HEARTH_CHECK_ERROR(shape_mismatch,
                     "conv2d: the kernel [3, 3] with dilation [2, 1] does not fit the image [4, 4] with padding [0, 0].",
                     conv2d(image, weight, {.dilation = {2, 1}}));
  HEARTH_CHECK_ERROR(invalid, "conv2d: the stride is [0, 1]; it must be at least 1.", conv2d(image, weight, {.stride = {0, 1}}));
  HEARTH_CHECK_ERROR(invalid, "conv2d: the padding is [-1, 0]; it must be at least 0.",
                     conv2d(image, weight, {.padding = {-1, 0}}));
  HEARTH_CHECK_ERROR(invalid, "conv2d: groups is 0; it must be at least 1.", conv2d(image, weight, {.groups = 0}));
  HEARTH_CHECK_ERROR(
      shape_mismatch,
      "conv_transpose2d: channels differ: the input is [1, 2, 4, 4], the weight is [3, 2, 3, 3], groups is 1, the layout nchw.",
      conv_transpose2d(image, weight));
  HEARTH_CHECK_ERROR(invalid,
                     "conv_transpose2d: the output padding [1, 1] must be smaller than the stride [1, 1] or the dilation [1, 1].",
                     conv_transpose2d(image, x({2, 3, 3, 3}), {.output_padding = {1, 1}}));
  HEARTH_CHECK_ERROR(invalid, "max_pool2d: the padding [2, 0] is more than half the kernel [2, 2].",
                     max_pool2d(image, {.padding = {2, 0}}));
  HEARTH_CHECK_ERROR(shape_mismatch, "avg_pool2d: the kernel [5, 2] does not fit the image [4, 4] with padding [0, 0].",
                     avg_pool2d(image, {.kernel = {5, 2}}));
  HEARTH_CHECK_ERROR(dtype_mismatch, "avg_pool2d: the input is i32; it must be a float.",
                     avg_pool2d(x({1, 2, 4, 4}, DType::i32)));
  HEARTH_CHECK_ERROR(dtype_mismatch, "max_pool2d: the input is bool; it must be a number.",
                     max_pool2d(x({1, 2, 4, 4}, DType::boolean)));
  HEARTH_CHECK_ERROR(invalid, "upsample_nearest: the scale is [0, 2]; it must be at least 1.",
                     upsample_nearest(image, {.scale = {0, 2}}));
  HEARTH_CHECK_ERROR(invalid, "upsample_nearest: the image is [0, 4]; it must be at least 1.", upsample_nearest(x({1, 2, 0, 4})));
  HEARTH_CHECK_ERROR(dtype_mismatch, "upsample_bilinear: the input is i32; it must be a float.",
                     upsample_bilinear(x({1, 2, 4, 4}, DType::i32)));
  HEARTH_CHECK_ERROR(ErrorCode::unsupported,
                     "upsample_nearest: an axis from 60000 to 120000 pixels is longer than places in 32 bits reach.",
                     upsample_nearest(x({1, 1, 1, 60000})));
  HEARTH_CHECK_ERROR(shape_mismatch, "depth_to_space: 2 channels cannot be divided into blocks of 2 x 2.",
                     depth_to_space(image, 2));
  HEARTH_CHECK_ERROR(invalid, "depth_to_space: the block is 0; it must be at least 1.", depth_to_space(image, 0));
  HEARTH_CHECK_ERROR(shape_mismatch, "space_to_depth: the image [4, 4] cannot be divided into blocks of 3 x 3.",
                     space_to_depth(image, 3));
}

TEST_CASE("tensors of two devices do not meet") {
  const Tensor there = zeros({2, 2}, Device::null());
  CHECK_THROWS_AS((void)matmul(x({2, 2}), there), Error);
  CHECK_THROWS_AS((void)concatenate({x({2, 2}), there}), Error);
  CHECK_EQ(matmul(x({2, 2}), x({2, 2})).read<float>().get(), std::vector<float>(4, 0));
}
