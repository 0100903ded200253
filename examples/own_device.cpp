// Hearth on its own: a device is made when none is given.
#include <hearth/hearth.hpp>
#include <iostream>

int main() {
  hearth::Device device;
  try {
    device = hearth::Device::gpu();
  } catch (const hearth::Error& error) {  // no GPU: the same program on the CPU
    std::cout << error.what() << '\n';
    device = hearth::Device::cpu();
  }
  hearth::Tensor x = hearth::tensor<float>({1, 2, 3, 4, 5, 6}, {2, 3}, device);
  hearth::Tensor y = hearth::softmax(hearth::matmul(x, hearth::transpose(x)) / 10.0f, -1);
  std::cout << device.info().name << '\n' << y << '\n';

  hearth::Future<std::vector<float>> values = y.read<float>();  // goes on while the GPU works
  return std::abs(values.get()[3] - 0.9890f) < 1e-3f ? 0 : 1;
}
