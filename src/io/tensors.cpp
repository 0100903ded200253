// The bridge from files to tensors; apart, so that file readers can be used without a device.
#include <cstdint>
#include <span>

#include "hearth/io/array.hpp"
#include "hearth/io/image.hpp"
#include "hearth/tensor.hpp"

namespace hearth::io {

Tensor to_tensor(const Array& array, const Device& device) {
  if (array.dtype != DType::boolean) return tensor_from_bytes(array.bytes, array.shape, array.dtype, device);
  return tensor(array.values<bool>(), array.shape, device);
}

Array to_array(const Tensor& tensor) {
  Array array{tensor.shape(), tensor.dtype(), {}};
  if (array.dtype != DType::boolean) {
    array.bytes = tensor.read_bytes().get();
    return array;
  }
  for (const bool value : tensor.read<bool>().get()) array.bytes.push_back(std::byte{value});
  return array;
}

Tensor to_tensor(const Image& image, const Device& device) {
  std::vector<float> values(image.pixels.size());
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(image.pixels[i]) / 255.0f;
  return tensor(values, {image.height, image.width, image.channels}, device);
}

}  // namespace hearth::io
