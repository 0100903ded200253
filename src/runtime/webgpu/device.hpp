#pragma once
#include <memory>

#include "runtime/webgpu/gpu.hpp"

namespace hearth::runtime::webgpu {

/// Limits, features and name of a device, as its own calls give them; `adapter` may be null, then there is no name.
[[nodiscard]] DeviceInfo device_info(WGPUAdapter adapter, WGPUDevice device);
/// An Error(unsupported) naming the first limit in which the device offers less than a default one.
[[nodiscard]] Expected<void> check_limits(WGPUDevice device);
/// Whether the device may be called from a thread other than the app's without a lock.
[[nodiscard]] bool synchronises_itself(WGPUDevice device);

/// "vulkan", "metal", "d3d12"...
[[nodiscard]] const char* backend_name(WGPUBackendType type);
/// The name that programs show, e.g. "NVIDIA H200".
[[nodiscard]] std::string adapter_name(WGPUAdapter adapter, std::string* backend = nullptr);

}  // namespace hearth::runtime::webgpu
