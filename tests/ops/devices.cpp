#include "ops/devices.hpp"

#include <doctest/doctest.h>

#include <cstdlib>

namespace devices {

using hearth::Device;

hearth::RuntimeOptions options(bool fusion) {
  hearth::RuntimeOptions options;
  options.fusion = fusion;
  return options;
}

const std::vector<Lane>& null() {
  static const std::vector<Lane> lanes{{"null eager", Device::null(options(false))}, {"null fused", Device::null(options(true))}};
  return lanes;
}
const std::vector<Lane>& cpu() {
  static const std::vector<Lane> lanes{{"CPU eager", Device::cpu(options(false))}, {"CPU fused", Device::cpu(options(true))}};
  return lanes;
}
const std::vector<Lane>& webgpu() {
  // Never destroyed: drivers unload before the statics of a program do.
  static const auto* lanes = new std::vector<Lane>(open_webgpu());
  if (lanes->empty()) {
    const bool required = std::getenv("HEARTH_REQUIRE_GPU") != nullptr;
    CHECK_MESSAGE(!required, "HEARTH_REQUIRE_GPU is set and there is no WebGPU adapter");
  }
  return *lanes;
}
const std::vector<Lane>& all() {
  static const auto* lanes = [] {
    auto* list = new std::vector<Lane>(cpu());
    list->insert(list->end(), webgpu().begin(), webgpu().end());
    return list;
  }();
  return *lanes;
}

}  // namespace devices
