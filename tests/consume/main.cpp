// The installed package on its CPU device: compiles against the public headers alone, links and computes.
#include <cstdio>
#include <hearth/hearth.hpp>
#include <vector>

int main() {
  const hearth::Device cpu = hearth::Device::cpu();
  const hearth::Tensor x = hearth::tensor<float>({1, 2, 3, 4}, {2, 2}, cpu);
  const std::vector<float> got = (hearth::matmul(x, x) + 1.0f).read<float>().get();
  const bool right = got == std::vector<float>{8, 11, 16, 23};
  std::puts(right ? "ok" : "differs");
  return right ? 0 : 1;
}
