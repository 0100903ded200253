#pragma once
#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include "hearth/hearth.hpp"
#include "ops/devices.hpp"

/// Short forms for tests that run on every device.
namespace lane_checks {

using Floats = std::vector<float>;
using Ints = std::vector<std::int32_t>;

template <typename F>
void on_every_device(F test) {
  for (const devices::Lane& lane : devices::all()) {
    INFO(lane.name);
    test(lane.device);
  }
}

/// Within `tolerance` of 1 + |expected|.
inline void check_close(const Floats& got, const Floats& expected, double tolerance) {
  REQUIRE(got.size() == expected.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    INFO("element ", i);
    CHECK(std::abs(double(got[i]) - double(expected[i])) <= tolerance * (1 + std::abs(double(expected[i]))));
  }
}

inline Floats read(const hearth::Tensor& x) { return x.read<float>().get(); }
inline hearth::Tensor floats(const Floats& values, const hearth::Device& device) {
  return hearth::tensor(values, {static_cast<std::int64_t>(values.size())}, device);
}
inline hearth::Tensor ints(const Ints& values, const hearth::Device& device) {
  return hearth::tensor(values, {static_cast<std::int64_t>(values.size())}, device);
}
/// 0, 1, 2, ...
inline Floats counting(int n) {
  Floats values;
  for (int i = 0; i < n; ++i) values.push_back(static_cast<float>(i));
  return values;
}

}  // namespace lane_checks
