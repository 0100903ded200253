// From nothing to the first result on an own device: what a program waits for at its start.
#include <hearth/hearth.hpp>

#include <cstdio>

int main() {
  const hearth::Device device = hearth::webgpu::init_device();
  const hearth::Tensor x = hearth::tensor<float>({1, 2, 3, 4}, {4}, device);
  const std::vector<float> result = (x + x).read<float>().get();
  std::printf("%g\n", double(result[3]));
  return result[3] != 8;
}
