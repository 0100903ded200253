// Gradient descent: fits y = 2 a - b to four points.
#include <hearth/hearth.hpp>
#include <iostream>

int main() {
  hearth::Device device = hearth::Device::cpu();  // or gpu(), or the app's
  hearth::Tensor x = hearth::tensor<float>({1, 0, 0, 1, 1, 1, 2, 1}, {4, 2}, device);
  hearth::Tensor y = hearth::tensor<float>({2, -1, 1, 3}, {4, 1}, device);
  hearth::Tensor weights = hearth::zeros({2, 1}, hearth::DType::f32, device).require_grad();

  for (int step = 0; step < 200; ++step) {
    hearth::Tensor error = hearth::matmul(x, weights) - y;
    hearth::Tensor loss = hearth::mean(error * error);
    hearth::Gradients gradients = loss.backward();
    weights = (weights - 0.2f * gradients.of(weights)).detach().require_grad();
    device.sync(hearth::SyncType::flush);
  }
  std::cout << weights << '\n';  // [[2], [-1]]
  return std::abs(weights.read<float>().get()[0] - 2) < 1e-3f ? 0 : 1;
}
