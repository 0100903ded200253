#include <doctest/doctest.h>

#include "hearth/io/array.hpp"
#include "hearth/io/image.hpp"
#include "hearth/tensor.hpp"

using namespace hearth;

TEST_CASE("an image becomes f32 [height, width, channels] in 0..1") {
  const io::Image image{2, 1, 3, {0, 51, 255, 102, 153, 204}};
  const Tensor tensor = io::to_tensor(image, Device::cpu());
  CHECK(tensor.shape() == Shape{1, 2, 3});
  const std::vector<float> values = tensor.read<float>().get();
  CHECK(values[0] == 0);
  CHECK(values[1] == doctest::Approx(0.2));
  CHECK(values[2] == 1);
}

TEST_CASE("arrays and tensors turn into each other") {
  const float floats[] = {1, 2, 3, 4};
  const io::Array array = io::make_array<float>(floats, {2, 2});
  const io::Array back = io::to_array(io::to_tensor(array, Device::cpu()));
  CHECK(back.shape == array.shape);
  CHECK(back.dtype == array.dtype);
  CHECK(back.bytes == array.bytes);

  const io::Array flags{{3}, DType::boolean, {std::byte{1}, std::byte{0}, std::byte{1}}};
  const io::Array flags_back = io::to_array(io::to_tensor(flags, Device::cpu()));
  CHECK(flags_back.dtype == DType::boolean);
  CHECK(flags_back.bytes == flags.bytes);
}

TEST_CASE("an array refuses values of another dtype and a shape that does not fit") {
  const float floats[] = {1, 2};
  CHECK_THROWS_WITH_AS((void)io::make_array<float>(floats, {3}), "io::make_array: 2 values do not fill the shape [3].", Error);
  CHECK_THROWS_WITH_AS((void)io::make_array<float>(floats, {2}).values<double>(),
                       "io::Array: its dtype is f32, values of f64 were asked for.", Error);
}
