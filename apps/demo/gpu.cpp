#include "demo/gpu.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <thread>

#include "hearth/error.hpp"
#ifdef HEARTH_HAS_WGPU_H
#include <webgpu/wgpu.h>
#endif

namespace hearth::demo {
namespace {

std::string text(WGPUStringView view) {
  if (!view.data) return {};
  return {view.data, view.length == WGPU_STRLEN ? std::strlen(view.data) : view.length};
}

/// Polls until `done`, resting a little between the polls: on a software driver the GPU is this very processor.
template <typename F>
bool poll_until(WGPUInstance instance, F done, double timeout_s = 600) {
  const auto start = std::chrono::steady_clock::now();
  while (!done()) {
    wgpuInstanceProcessEvents(instance);
    if (done()) break;
    if (std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() > timeout_s) return false;
    std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
  return true;
}

Instance make_instance() {
#ifndef _WIN32
  // Mesa's drivers look for a Wayland display while they start, and complain on stderr where this variable is missing.
  if (!std::getenv("XDG_RUNTIME_DIR")) setenv("XDG_RUNTIME_DIR", std::filesystem::temp_directory_path().c_str(), 1);
#endif
#ifdef HEARTH_HAS_WGPU_H
  // OpenGL is not asked for: its libraries write to stderr on a machine without a screen.
  WGPUInstanceExtras extras = {};
  extras.chain.sType = static_cast<WGPUSType>(WGPUSType_InstanceExtras);
  extras.backends = WGPUInstanceBackend_Primary;
  WGPUInstanceDescriptor descriptor = {};
  descriptor.nextInChain = &extras.chain;
  return Instance(wgpuCreateInstance(&descriptor));
#else
  return Instance(wgpuCreateInstance(nullptr));
#endif
}

struct Named {
  Adapter adapter;
  std::string name, backend;
};

Named named(Adapter adapter) {
  WGPUAdapterInfo info = {};
  wgpuAdapterGetInfo(adapter.get(), &info);
  Named result{std::move(adapter), text(info.device), {}};
  if (result.name.empty()) result.name = text(info.description);
  switch (info.backendType) {
    case WGPUBackendType_Vulkan: result.backend = "vulkan"; break;
    case WGPUBackendType_Metal: result.backend = "metal"; break;
    case WGPUBackendType_D3D12: result.backend = "d3d12"; break;
    case WGPUBackendType_D3D11: result.backend = "d3d11"; break;
    case WGPUBackendType_OpenGL:
    case WGPUBackendType_OpenGLES: result.backend = "gl"; break;
    default: result.backend = "webgpu"; break;
  }
  wgpuAdapterInfoFreeMembers(info);
  return result;
}

Adapter request(WGPUInstance instance, const WGPURequestAdapterOptions* options) {
  struct Answer {
    bool done = false;
    WGPUAdapter adapter = nullptr;
  } answer;
  WGPURequestAdapterCallbackInfo callback = {};
  callback.mode = WGPUCallbackMode_AllowProcessEvents;
  callback.callback = [](WGPURequestAdapterStatus, WGPUAdapter adapter, WGPUStringView, void* out, void*) {
    *static_cast<Answer*>(out) = {true, adapter};
  };
  callback.userdata1 = &answer;
  wgpuInstanceRequestAdapter(instance, options, callback);
  poll_until(instance, [&] { return answer.done; });
  return Adapter(answer.adapter);
}

std::vector<Named> all_adapters(WGPUInstance instance) {
  std::vector<Named> adapters;
#ifdef HEARTH_HAS_WGPU_H
  std::vector<WGPUAdapter> raw(wgpuInstanceEnumerateAdapters(instance, nullptr, nullptr));
  wgpuInstanceEnumerateAdapters(instance, nullptr, raw.data());
  for (WGPUAdapter adapter : raw) adapters.push_back(named(Adapter(adapter)));
#else
  // webgpu.h cannot list adapters: ask for each kind that it can tell apart.
  for (const bool software : {false, true})
    for (const WGPUPowerPreference power : {WGPUPowerPreference_HighPerformance, WGPUPowerPreference_LowPower}) {
      WGPURequestAdapterOptions options = {};
      options.powerPreference = power;
      options.forceFallbackAdapter = software;
      Adapter adapter = request(instance, &options);
      if (!adapter) continue;
      Named found = named(std::move(adapter));
      if (std::ranges::none_of(adapters,
                               [&](const Named& other) { return other.name == found.name && other.backend == found.backend; }))
        adapters.push_back(std::move(found));
    }
#endif
  return adapters;
}

std::string lower(std::string word) {
  for (char& c : word) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return word;
}

Named choose(WGPUInstance instance, const std::string& name) {
  if (name.empty()) {
    WGPURequestAdapterOptions options = {};
    options.powerPreference = WGPUPowerPreference_HighPerformance;
    Adapter adapter = request(instance, &options);
    if (!adapter)
      throw Error(
          ErrorCode::no_adapter,
          "demo: there is no WebGPU adapter; install a Vulkan driver (Mesa's software one is the package mesa-vulkan-drivers) "
          "or use --device cpu.");
    return named(std::move(adapter));
  }
  std::vector<std::string> names;
  for (Named& adapter : all_adapters(instance)) {
    if (lower(adapter.name).find(lower(name)) != std::string::npos) return std::move(adapter);
    names.push_back(fmt::format("\"{}\" ({})", adapter.name, adapter.backend));
  }
  throw Error(ErrorCode::no_adapter, fmt::format("demo: no adapter's name contains \"{}\"; there {}.", name,
                                                 names.empty() ? "are none" : fmt::format("are {}", fmt::join(names, ", "))));
}

}  // namespace

Gpu::Gpu(const std::string& name) : instance_(make_instance()) {
  if (!instance_) throw Error(ErrorCode::no_adapter, "demo: WebGPU cannot be started.");
  Named chosen = choose(instance_.get(), name);
  adapter_ = std::move(chosen.adapter);
  name_ = std::move(chosen.name);
  backend_ = std::move(chosen.backend);

  WGPUDeviceDescriptor descriptor = {};
  descriptor.label = view("the demo's device");
  descriptor.uncapturedErrorCallbackInfo.callback = [](WGPUDevice const*, WGPUErrorType, WGPUStringView message, void* out,
                                                       void*) {
    auto& events = *static_cast<Events*>(out);
    if (events.errors++ == 0) events.first = text(message);
  };
  descriptor.uncapturedErrorCallbackInfo.userdata1 = events_.get();
  descriptor.deviceLostCallbackInfo.mode = WGPUCallbackMode_AllowProcessEvents;
  descriptor.deviceLostCallbackInfo.callback = [](WGPUDevice const*, WGPUDeviceLostReason reason, WGPUStringView, void* out,
                                                  void*) {
    if (reason == WGPUDeviceLostReason_Unknown) static_cast<Events*>(out)->lost = true;
  };
  descriptor.deviceLostCallbackInfo.userdata1 = events_.get();
  struct Answer {
    bool done = false;
    WGPUDevice device = nullptr;
    std::string message;
  } answer;
  WGPURequestDeviceCallbackInfo callback = {};
  callback.mode = WGPUCallbackMode_AllowProcessEvents;
  callback.callback = [](WGPURequestDeviceStatus, WGPUDevice device, WGPUStringView message, void* out, void*) {
    *static_cast<Answer*>(out) = {true, device, text(message)};
  };
  callback.userdata1 = &answer;
  wgpuAdapterRequestDevice(adapter_.get(), &descriptor, callback);
  poll_until(instance_.get(), [&] { return answer.done; });
  if (!answer.device)
    throw Error(ErrorCode::no_adapter, fmt::format("demo: the adapter \"{}\" gives no device: {}", name_, answer.message));
  device_ = GpuDevice(answer.device);
  queue_ = Queue(wgpuDeviceGetQueue(device_.get()));
  WGPULimits limits = {};
  if (wgpuDeviceGetLimits(device_.get(), &limits) == WGPUStatus_Success) max_texture_side_ = limits.maxTextureDimension2D;
}

Buffer Gpu::make_buffer(std::uint64_t size_bytes, WGPUBufferUsage usage) const {
  WGPUBufferDescriptor descriptor = {};
  descriptor.size = size_bytes;
  descriptor.usage = usage;
  return Buffer(wgpuDeviceCreateBuffer(device_.get(), &descriptor));
}

Texture Gpu::make_texture(int width, int height, WGPUTextureUsage usage, const char* what) const {
  if (static_cast<std::uint32_t>(std::max(width, height)) > max_texture_side_)
    throw Error(ErrorCode::unsupported,
                fmt::format("demo: the {} has {} x {} pixels, this device's textures have at most {} a side.", what, width,
                            height, max_texture_side_));
  WGPUTextureDescriptor descriptor = {};
  descriptor.label = view(what);
  descriptor.usage = usage;
  descriptor.dimension = WGPUTextureDimension_2D;
  descriptor.size = {static_cast<std::uint32_t>(width), static_cast<std::uint32_t>(height), 1};
  descriptor.format = WGPUTextureFormat_RGBA8Unorm;
  descriptor.mipLevelCount = 1;
  descriptor.sampleCount = 1;
  return Texture(wgpuDeviceCreateTexture(device_.get(), &descriptor));
}

Texture Gpu::upload(const io::Image& image) const {
  Texture texture = make_texture(image.width, image.height, WGPUTextureUsage_TextureBinding | WGPUTextureUsage_CopyDst, "photo");
  WGPUTexelCopyTextureInfo to = {};
  to.texture = texture.get();
  to.aspect = WGPUTextureAspect_All;
  WGPUTexelCopyBufferLayout layout = {};
  layout.bytesPerRow = static_cast<std::uint32_t>(image.width) * 4;
  layout.rowsPerImage = static_cast<std::uint32_t>(image.height);
  const WGPUExtent3D size = {static_cast<std::uint32_t>(image.width), static_cast<std::uint32_t>(image.height), 1};
  wgpuQueueWriteTexture(queue_.get(), &to, image.pixels.data(), image.pixels.size(), &layout, &size);
  return texture;
}

void Gpu::submit(WGPUCommandEncoder encoder) {
  const CommandBuffer commands(wgpuCommandEncoderFinish(encoder, nullptr));
  // wgpu-native ends the process when it is given commands that carry an error.
  check();
  WGPUCommandBuffer raw = commands.get();
  wgpuQueueSubmit(queue_.get(), 1, &raw);
  ++submits_;
}

void Gpu::wait() const {
  bool done = false;
  WGPUQueueWorkDoneCallbackInfo callback = {};
  callback.mode = WGPUCallbackMode_AllowProcessEvents;
  callback.callback = [](WGPUQueueWorkDoneStatus, WGPUStringView, void* out, void*) { *static_cast<bool*>(out) = true; };
  callback.userdata1 = &done;
  wgpuQueueOnSubmittedWorkDone(queue_.get(), callback);
  poll_until(instance_.get(), [&] { return done; });
  check();
}

std::vector<std::uint8_t> Gpu::read(WGPUBuffer buffer, std::size_t size_bytes) const {
  WGPUMapAsyncStatus status = {};
  WGPUBufferMapCallbackInfo callback = {};
  callback.mode = WGPUCallbackMode_AllowProcessEvents;
  callback.callback = [](WGPUMapAsyncStatus got, WGPUStringView, void* out, void*) {
    *static_cast<WGPUMapAsyncStatus*>(out) = got;
  };
  callback.userdata1 = &status;
  wgpuBufferMapAsync(buffer, WGPUMapMode_Read, 0, size_bytes, callback);
  poll_until(instance_.get(), [&] { return status != WGPUMapAsyncStatus{}; });
  check();
  const void* mapped = status == WGPUMapAsyncStatus_Success ? wgpuBufferGetConstMappedRange(buffer, 0, size_bytes) : nullptr;
  if (!mapped) throw Error(ErrorCode::device_lost, "demo: the picture cannot be read back from the device.");
  std::vector<std::uint8_t> bytes(size_bytes);
  std::memcpy(bytes.data(), mapped, size_bytes);
  wgpuBufferUnmap(buffer);
  return bytes;
}

void Gpu::check() const {
  if (events_->errors > 0)
    throw Error(ErrorCode::validation,
                fmt::format("demo: {} WebGPU errors reached the app, the first is: {}", events_->errors, events_->first));
  if (events_->lost) throw Error(ErrorCode::device_lost, "demo: the device was lost.");
}

std::vector<std::string> adapter_names() {
  const Instance instance = make_instance();
  std::vector<std::string> names;
  for (const Named& adapter : all_adapters(instance.get())) names.push_back(adapter.name);
  return names;
}

}  // namespace hearth::demo
