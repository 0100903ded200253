#include "runtime/webgpu/device.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "runtime/webgpu/server.hpp"

namespace hearth::runtime {

namespace webgpu {

namespace {

std::string text(WGPUStringView from) {
  if (!from.data) return {};
  return from.length == WGPU_STRLEN ? std::string(from.data) : std::string(from.data, from.length);
}

struct Limit {
  const char* name;
  std::uint64_t actual, least;
  bool at_most = false;  ///< alignments: smaller is better
};

}  // namespace

const char* backend_name(WGPUBackendType type) {
  switch (type) {
    case WGPUBackendType_Vulkan: return "vulkan";
    case WGPUBackendType_Metal: return "metal";
    case WGPUBackendType_D3D12: return "d3d12";
    case WGPUBackendType_D3D11: return "d3d11";
    case WGPUBackendType_OpenGL: return "gl";
    case WGPUBackendType_OpenGLES: return "gles";
    case WGPUBackendType_Null: return "null";
    default: return "webgpu";
  }
}

std::string adapter_name(WGPUAdapter adapter, std::string* backend) {
  WGPUAdapterInfo info = {};
  if (!adapter || wgpuAdapterGetInfo(adapter, &info) != WGPUStatus_Success) return {};
  std::string name = text(info.device);
  if (name.empty()) name = text(info.description);
  if (name.empty()) name = text(info.vendor);
  if (backend) *backend = backend_name(info.backendType);
  wgpuAdapterInfoFreeMembers(info);
  return name;
}

DeviceInfo device_info(WGPUAdapter adapter, WGPUDevice device) {
  DeviceInfo info;
  info.backend = "webgpu";
  info.name = adapter_name(adapter, &info.backend);
  if (info.name.empty()) info.name = "WebGPU device";
  WGPULimits limits = {};
  if (wgpuDeviceGetLimits(device, &limits) == WGPUStatus_Success) {
    info.max_storage_buffers = limits.maxStorageBuffersPerShaderStage;
    // A binding's size must fit the i32 that kernels count elements in, and 32-bit buffer sizes.
    info.max_binding_bytes = std::min<std::uint64_t>(limits.maxStorageBufferBindingSize, 0xfffffffcu);
    info.max_buffer_bytes = limits.maxBufferSize;
    info.max_workgroup_invocations = limits.maxComputeInvocationsPerWorkgroup;
    info.max_workgroup_size_x = limits.maxComputeWorkgroupSizeX;
    info.max_workgroup_size_y = limits.maxComputeWorkgroupSizeY;
    info.max_workgroup_size_z = limits.maxComputeWorkgroupSizeZ;
    info.max_workgroup_bytes = limits.maxComputeWorkgroupStorageSize;
    info.max_workgroups_per_dimension = limits.maxComputeWorkgroupsPerDimension;
    info.storage_alignment = limits.minStorageBufferOffsetAlignment;
    info.uniform_alignment = limits.minUniformBufferOffsetAlignment;
  }
  info.f16 = wgpuDeviceHasFeature(device, WGPUFeatureName_ShaderF16);
  info.subgroups = wgpuDeviceHasFeature(device, WGPUFeatureName_Subgroups);
  info.timestamps = wgpuDeviceHasFeature(device, WGPUFeatureName_TimestampQuery);
  return info;
}

Expected<void> check_limits(WGPUDevice device) {
  WGPULimits limits = {};
  if (wgpuDeviceGetLimits(device, &limits) != WGPUStatus_Success)
    return Failure{ErrorCode::device_lost, "init_existing_device: the device does not tell its limits."};
  // The defaults of the WebGPU specification, of what kernels use.
  const Limit wanted[] = {
      {"maxStorageBuffersPerShaderStage", limits.maxStorageBuffersPerShaderStage, 8},
      {"maxStorageBufferBindingSize", limits.maxStorageBufferBindingSize, 134217728},
      {"maxBufferSize", limits.maxBufferSize, 268435456},
      {"maxUniformBufferBindingSize", limits.maxUniformBufferBindingSize, 65536},
      {"maxDynamicUniformBuffersPerPipelineLayout", limits.maxDynamicUniformBuffersPerPipelineLayout, 1},
      {"maxComputeInvocationsPerWorkgroup", limits.maxComputeInvocationsPerWorkgroup, 256},
      {"maxComputeWorkgroupSizeX", limits.maxComputeWorkgroupSizeX, 256},
      {"maxComputeWorkgroupSizeY", limits.maxComputeWorkgroupSizeY, 256},
      {"maxComputeWorkgroupSizeZ", limits.maxComputeWorkgroupSizeZ, 64},
      {"maxComputeWorkgroupStorageSize", limits.maxComputeWorkgroupStorageSize, 16384},
      {"maxComputeWorkgroupsPerDimension", limits.maxComputeWorkgroupsPerDimension, 65535},
      {"minStorageBufferOffsetAlignment", limits.minStorageBufferOffsetAlignment, 256, true},
      {"minUniformBufferOffsetAlignment", limits.minUniformBufferOffsetAlignment, 256, true},
  };
  for (const Limit& limit : wanted) {
    if (limit.at_most ? limit.actual <= limit.least : limit.actual >= limit.least) continue;
    return Failure{ErrorCode::unsupported,
                   fmt::format("init_existing_device: the device's {} is {}, Hearth needs {}, the default of "
                               "WebGPU.",
                               limit.name, limit.actual, limit.least)};
  }
  return {};
}

bool synchronises_itself([[maybe_unused]] WGPUDevice device) {
#if defined(HEARTH_WEBGPU_IS_WGPU)
  return true;
#else
  constexpr auto implicit_device_synchronization = static_cast<WGPUFeatureName>(0x00050004);  // a feature of Dawn's own
  return wgpuDeviceHasFeature(device, implicit_device_synchronization);
#endif
}

}  // namespace webgpu

Expected<Ref<Channel>> open_webgpu(const NativeDevice& native, const RuntimeOptions& options) {
  using namespace webgpu;  // NOLINT
  std::unique_lock<std::recursive_mutex> guard;
  if (options.lock) guard = std::unique_lock(*options.lock);
  auto gpu = std::make_shared<Gpu>();
  gpu->instance = Owned<WGPUInstance>::borrow(static_cast<WGPUInstance>(native.instance));
  gpu->adapter = Owned<WGPUAdapter>::borrow(static_cast<WGPUAdapter>(native.adapter));
  gpu->device = Owned<WGPUDevice>::borrow(static_cast<WGPUDevice>(native.device));
  gpu->queue = native.queue ? Owned<WGPUQueue>::borrow(static_cast<WGPUQueue>(native.queue))
                            : Owned<WGPUQueue>::adopt(wgpuDeviceGetQueue(gpu->device.get()));
  gpu->label = options.label;
  if (gpu->is_lost()) return device_lost("init_existing_device");
  if (Expected<void> possible = check_poll(options); !possible) return possible.error();
  if (Expected<void> enough = check_limits(gpu->device.get()); !enough) return enough.error();
  if ((options.channel == ChannelKind::mpsc || options.poll) && !options.lock && !synchronises_itself(gpu->device.get()))
    return Failure{
        ErrorCode::invalid_argument,
        fmt::format("init_existing_device: {} calls the device from a thread of its own, and this device may not be called "
                    "from two threads; give RuntimeOptions::lock, or make the device with the feature "
                    "ImplicitDeviceSynchronization.",
                    options.poll ? "RuntimeOptions::poll" : "the mpsc channel")};
  gpu->info = device_info(gpu->adapter.get(), gpu->device.get());
  guard = {};
  return make_channel(options, [gpu, options]() -> Expected<Ref<Server>> { return Ref<Server>(new WebGpuServer(gpu, options)); });
}

}  // namespace hearth::runtime
