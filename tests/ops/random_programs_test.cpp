// Fusion must not change meaning: random programs of every kind of operation give the same values with it and without it.
#include <doctest/doctest.h>

#include <cmath>
#include <random>
#include <vector>

#include "hearth/hearth.hpp"
#include "ops/devices.hpp"

using namespace hearth;

namespace {

/// One program, run the same way on any device: the generator is seeded alike.
std::vector<float> run(const Device& device, unsigned seed, int steps) {
  std::mt19937 random(seed);
  const auto pick = [&](int count) { return static_cast<int>(random() % static_cast<unsigned>(count)); };
  const auto fresh = [&](const Shape& shape) {
    std::vector<float> values(static_cast<std::size_t>(shape.elements()));
    for (float& value : values) value = static_cast<float>(random() % 2000u) / 1000.0f - 1.0f;
    return tensor(values, shape, device);
  };
  std::vector<Tensor> pool{fresh({4, 6}), fresh({4, 6}), fresh({6}), fresh({4, 1})};
  const auto wide = [&] {  // one of the [4, 6] ones
    while (true) {
      const Tensor& t = pool[static_cast<std::size_t>(pick(static_cast<int>(pool.size())))];
      if (t.shape() == Shape{4, 6}) return t;
    }
  };
  for (int step = 0; step < steps; ++step) {
    const Tensor a = wide();
    const Tensor b = pool[static_cast<std::size_t>(pick(static_cast<int>(pool.size())))];
    Tensor made;
    switch (pick(19)) {
      case 0: made = a + b; break;
      case 1: made = a * b; break;
      case 2: made = tanh(a - b); break;
      case 3: made = where(less(a, b), a, b * 0.5); break;
      case 4: made = transpose(reshape(a, {6, 4})); break;
      case 5: made = flip(a, {1}); break;
      case 6: {
        const int start = pick(5);
        made = slice(concatenate({a, wide()}, 0), {start}, {start + 4});
        break;
      }
      case 7: {
        const int start = pick(6);
        made = slice(pad(a, {0, 2}, {0, 3}), {0, start}, {4, start + 6});
        break;
      }
      case 8: made = broadcast_to(sum(a, {1}, {.keep_dims = true}) * 0.2, {4, 6}); break;
      case 9: made = softmax(a, 1); break;
      case 10: made = maximum(mean(a, {0}), b) + a * 0.0; break;
      case 11: {
        const Tensor c = wide();
        made = matmul(a, matmul(transpose(c), b + a * 0.0)) * 0.1;
        break;
      }
      case 12: {
        const Tensor weight = fresh({6, 6});
        made = relu(matmul(transpose(reshape(a, {6, 4})), weight) + fresh({6})) * 0.3;
        break;
      }
      case 13: made = index_select(a, 0, tensor<std::int32_t>({3, 1, 1, 0}, {4}, device)); break;
      case 14: {
        const Tensor weight = fresh({1, 1, 3, 3});
        made = reshape(sigmoid(conv2d(reshape(a, {1, 1, 4, 6}), weight, {.padding = {1, 1}}) + fresh({1})), {4, 6});
        break;
      }
      case 15: made = broadcast_to(max(a, {0}, {.keep_dims = true}), {4, 6}); break;
      case 16: made = a * static_cast<double>(pick(5)) + 0.25; break;
      case 17: made = reshape(slice(upsample_nearest(reshape(a, {1, 1, 4, 6})), {0, 0, 1, 2}, {1, 1, 5, 8}), {4, 6}); break;
      default: made = reshape(permute(reshape(a, {2, 2, 6}), {1, 0, 2}), {4, 6}); break;
    }
    made = clamp(made, -4.0, 4.0);
    // The first one stays [4, 6]; others may be replaced, so that values die unused too.
    if (pick(3) == 0)
      pool.push_back(made);
    else
      pool[static_cast<std::size_t>(pick(static_cast<int>(pool.size())))] = made;
    if (pick(12) == 0) device.sync(SyncType::flush);
  }
  std::vector<float> all;
  for (const Tensor& t : pool) {
    const std::vector<float> values = t.read<float>().get();
    all.insert(all.end(), values.begin(), values.end());
  }
  return all;
}

void compare(const std::vector<float>& got, const std::vector<float>& want) {
  REQUIRE(got.size() == want.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    CAPTURE(i);
    REQUIRE(std::fabs(got[i] - want[i]) <= 5e-4f * (1 + std::fabs(want[i])));
  }
}

}  // namespace

TEST_CASE("a random program means the same with fusion and without, on the CPU") {
  for (unsigned seed = 1; seed <= 200; ++seed) {
    CAPTURE(seed);
    const std::vector<float> want = run(Device::cpu({.fusion = false}), seed, 40);
    compare(run(Device::cpu({.fusion = true}), seed, 40), want);
  }
}

TEST_CASE("a random program means the same on every device") {
  // Few and short: every new kernel is a new pipeline.
  for (unsigned seed = 1; seed <= 4; ++seed) {
    const std::vector<float> want = run(Device::cpu({.fusion = false}), seed, 25);
    for (const auto& each : devices::webgpu()) {
      CAPTURE(seed);
      CAPTURE(each.name);
      compare(run(each.device, seed, 25), want);
    }
  }
}
