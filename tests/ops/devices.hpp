#pragma once
#include <string>
#include <vector>

#include "hearth/device.hpp"

/// The devices that the op tests run on. Each is made once, at the first use.
namespace devices {

struct Lane {
  std::string name;  ///< "CPU fused"
  hearth::Device device;
};

[[nodiscard]] hearth::RuntimeOptions options(bool fusion);
[[nodiscard]] const std::vector<Lane>& null();
[[nodiscard]] const std::vector<Lane>& cpu();
/// On an app's device with the default limits and no features, so that nothing may ask for more. Empty without an adapter, which
/// fails the tests when HEARTH_REQUIRE_GPU is set.
[[nodiscard]] const std::vector<Lane>& webgpu();
/// All that compute.
[[nodiscard]] const std::vector<Lane>& all();

/// Devices of the WebGPU implementation that the build links: with default limits, and the best that there is.
[[nodiscard]] std::vector<Lane> open_webgpu();

}  // namespace devices
