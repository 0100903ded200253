#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "hearth/device.hpp"
#include "runtime/channel.hpp"

/// The table of backends: what the layers above may ask of them without naming a WebGPU type.
namespace hearth::runtime {

[[nodiscard]] Expected<Ref<Channel>> open_cpu(const RuntimeOptions& options);
[[nodiscard]] Expected<Ref<Channel>> open_null(const RuntimeOptions& options, const DeviceInfo& info);

/// webgpu.h objects as void*: instance, adapter, device, queue. References are added.
struct NativeDevice {
  void* instance = nullptr;
  void* adapter = nullptr;
  void* device = nullptr;
  void* queue = nullptr;
};
/// Built with HEARTH_WEBGPU=none, the WebGPU functions fail with Error(unsupported).
[[nodiscard]] Expected<Ref<Channel>> open_webgpu(const NativeDevice& native, const RuntimeOptions& options);
[[nodiscard]] Future<Ref<Channel>> open_own_webgpu(const DeviceOptions& device, const RuntimeOptions& options);

/// Interop, on a channel of open_webgpu or open_own_webgpu.
namespace webgpu {

/// Flushes, then directs all launches and uploads into the app's encoder until end_encoding. Gives the scope's number (> 0).
[[nodiscard]] Expected<std::uint64_t> begin_encoding(Channel& channel, void* encoder);
/// Ends the recording; the scope's memory stays apart until finish_encoding.
Expected<void> end_encoding(Channel& channel, std::uint64_t scope);
/// `submitted`: the allocations of the scope are like any others; else they carry a failure from here on.
Expected<void> finish_encoding(Channel& channel, std::uint64_t scope, bool submitted);

[[nodiscard]] Expected<Handle> import_buffer(Channel& channel, void* buffer, std::uint64_t offset, std::uint64_t size);
/// Reads the app's 2D texture into new memory, f32 [height, width, 4].
struct ImportedTexture {
  Handle handle;
  std::uint32_t width = 0, height = 0;
};
[[nodiscard]] Expected<ImportedTexture> import_texture(Channel& channel, void* texture);
/// f32 [height, width, channels] into the app's texture.
Expected<void> export_texture(Channel& channel, const Handle& from, std::uint32_t width, std::uint32_t height,
                              std::uint32_t channels, void* texture);
Expected<void> copy_to_buffer(Channel& channel, const Handle& from, std::uint64_t from_offset, void* buffer, std::uint64_t offset,
                              std::uint64_t size);

}  // namespace webgpu
}  // namespace hearth::runtime
