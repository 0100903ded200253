#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <vector>

#include "runtime/webgpu/device.hpp"
#include "runtime/webgpu/server.hpp"

namespace hearth::runtime {

namespace webgpu {

namespace {

std::string lower(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return result;
}

/// What a request has answered so far. Callbacks may come when the request is long forgotten: they own a reference.
struct Answer {
  bool arrived = false;
  Owned<WGPUAdapter> adapter;
  Owned<WGPUDevice> device;
  std::string message;
};

std::shared_ptr<Answer> answered(void* userdata) {
  auto* kept = static_cast<std::shared_ptr<Answer>*>(userdata);
  std::shared_ptr<Answer> answer = std::move(*kept);
  delete kept;
  return answer;
}

void note(Answer& answer, WGPUStringView message) {
  answer.arrived = true;
  if (message.data && message.length != WGPU_STRLEN) answer.message.assign(message.data, message.length);
}

/// Makes a device step by step: `advance` never waits.
class Opening {
 public:
  Opening(const DeviceOptions& options, std::string label) : options_(options), label_(std::move(label)) {
    instance_ = Owned<WGPUInstance>::adopt(wgpuCreateInstance(nullptr));
    // webgpu.h cannot list adapters: they are asked for by what tells them apart.
    const WGPUPowerPreference first =
        options.power == Power::low ? WGPUPowerPreference_LowPower : WGPUPowerPreference_HighPerformance;
    const WGPUPowerPreference second =
        options.power == Power::low ? WGPUPowerPreference_HighPerformance : WGPUPowerPreference_LowPower;
    requests_ = {{first, false}, {second, false}, {WGPUPowerPreference_Undefined, true}};
  }

  /// One step; a value or a failure when the end is reached, nothing yet otherwise.
  std::optional<Expected<std::shared_ptr<Gpu>>> advance() {
    if (!instance_) return Failure{ErrorCode::no_adapter, "init_device: WebGPU gives no instance."};
    if (!pending_ && !next()) return no_adapter();
    if (!pending_->arrived) wgpuInstanceProcessEvents(instance_.get());
    if (!pending_->arrived) return std::nullopt;
    const std::shared_ptr<Answer> answer = std::exchange(pending_, nullptr);
    if (adapter_) return finish(*answer);
    if (answer->adapter) consider(std::move(answer->adapter));
    return std::nullopt;
  }

 private:
  struct Request {
    WGPUPowerPreference power;
    bool fallback;
  };

  /// Starts what comes next; false when every adapter was seen and none fits.
  bool next() {
    if (adapter_) {
      request_device();
      return true;
    }
    if (requests_.empty()) return false;
    const Request request = requests_.front();
    requests_.erase(requests_.begin());
    WGPURequestAdapterOptions options = {};
    options.powerPreference = request.power;
    options.forceFallbackAdapter = request.fallback;
    WGPURequestAdapterCallbackInfo info = {};
    info.mode = WGPUCallbackMode_AllowProcessEvents;
    info.userdata1 = start();
    info.callback = [](WGPURequestAdapterStatus, WGPUAdapter adapter, WGPUStringView message, void* data, void*) {
      const std::shared_ptr<Answer> answer = answered(data);
      answer->adapter = Owned<WGPUAdapter>::adopt(adapter);
      note(*answer, message);
    };
    wgpuInstanceRequestAdapter(instance_.get(), &options, info);
    return true;
  }

  void consider(Owned<WGPUAdapter> adapter) {
    std::string backend;
    const std::string name = adapter_name(adapter.get(), &backend);
    const std::string listed = fmt::format("{} ({})", name, backend);
    if (std::find(seen_.begin(), seen_.end(), listed) != seen_.end()) return;
    seen_.push_back(listed);
    if (lower(name).find(lower(options_.adapter)) == std::string::npos) return;
    if (!options_.backend.empty() && lower(options_.backend) != backend) return;
    adapter_ = std::move(adapter);
  }

  void request_device() {
    WGPULimits limits = {};
    const bool known = wgpuAdapterGetLimits(adapter_.get(), &limits) == WGPUStatus_Success;
    std::vector<WGPUFeatureName> features;
    for (const WGPUFeatureName feature : {WGPUFeatureName_ShaderF16, WGPUFeatureName_TimestampQuery, WGPUFeatureName_Subgroups})
      if (wgpuAdapterHasFeature(adapter_.get(), feature)) features.push_back(feature);
    WGPUDeviceDescriptor descriptor = {};
    descriptor.label = view(label_);
    descriptor.requiredFeatures = features.data();
    descriptor.requiredFeatureCount = features.size();
    descriptor.requiredLimits = known ? &limits : nullptr;
    descriptor.deviceLostCallbackInfo.mode = WGPUCallbackMode_AllowSpontaneous;
    descriptor.deviceLostCallbackInfo.callback = [](WGPUDevice const*, WGPUDeviceLostReason, WGPUStringView, void*, void*) {};
    // Errors are caught in scopes; without a callback wgpu-native would end the process for one that is not.
    descriptor.uncapturedErrorCallbackInfo.callback = [](WGPUDevice const*, WGPUErrorType, WGPUStringView, void*, void*) {};
    WGPURequestDeviceCallbackInfo info = {};
    info.mode = WGPUCallbackMode_AllowProcessEvents;
    info.userdata1 = start();
    info.callback = [](WGPURequestDeviceStatus, WGPUDevice device, WGPUStringView message, void* data, void*) {
      const std::shared_ptr<Answer> answer = answered(data);
      answer->device = Owned<WGPUDevice>::adopt(device);
      note(*answer, message);
    };
    wgpuAdapterRequestDevice(adapter_.get(), &descriptor, info);
  }

  void* start() {
    pending_ = std::make_shared<Answer>();
    return new std::shared_ptr<Answer>(pending_);
  }

  Expected<std::shared_ptr<Gpu>> finish(Answer& answer) {
    if (!answer.device)
      return Failure{ErrorCode::no_adapter, fmt::format("init_device: {} gives no device: {}", seen_.back(), answer.message)};
    auto gpu = std::make_shared<Gpu>();
    gpu->instance = std::move(instance_);
    gpu->adapter = std::move(adapter_);
    gpu->device = std::move(answer.device);
    gpu->queue = Owned<WGPUQueue>::adopt(wgpuDeviceGetQueue(gpu->device.get()));
    gpu->label = label_;
    gpu->info = device_info(gpu->adapter.get(), gpu->device.get());
    return gpu;
  }

  Failure no_adapter() const {
    std::string wanted =
        options_.adapter.empty() ? std::string("any adapter") : fmt::format("an adapter named \"{}\"", options_.adapter);
    if (!options_.backend.empty()) wanted += fmt::format(" on {}", options_.backend);
    if (seen_.empty())
      return {ErrorCode::no_adapter,
              fmt::format("init_device: {} was asked for, and there is no adapter at all; a driver for Vulkan, "
                          "Metal or Direct3D 12 is missing (Mesa's lavapipe will do).",
                          wanted)};
    std::string list;
    for (const std::string& name : seen_) list += (list.empty() ? "" : ", ") + name;
    return {ErrorCode::no_adapter, fmt::format("init_device: {} was asked for, and there is: {}.", wanted, list)};
  }

  DeviceOptions options_;
  std::string label_;
  Owned<WGPUInstance> instance_;
  std::vector<Request> requests_;
  std::vector<std::string> seen_;
  Owned<WGPUAdapter> adapter_;  ///< the one chosen
  std::shared_ptr<Answer> pending_;
};

}  // namespace

}  // namespace webgpu

Future<Ref<Channel>> open_own_webgpu(const DeviceOptions& device, const RuntimeOptions& options) {
  using namespace webgpu;  // NOLINT
  if (Expected<void> possible = check_poll(options); !possible) return Future<Ref<Channel>>::ready_with(possible.error());
  auto state = std::make_shared<detail::FutureState<Ref<Channel>>>();
  auto opening = std::make_shared<Opening>(device, options.label);
  state->set_drive([opening, options, to = std::weak_ptr(state)] {
    std::optional<Expected<std::shared_ptr<Gpu>>> step = opening->advance();
    if (!step) return;
    auto owner = to.lock();
    if (!owner) return;
    if (!*step) return owner->complete(step->error());
    std::shared_ptr<Gpu> gpu = **step;
    RuntimeOptions own = options;
    owner->complete(make_channel(
        own, [gpu = std::move(gpu), own]() -> Expected<Ref<Server>> { return Ref<Server>(new WebGpuServer(gpu, own)); }));
  });
  return Future<Ref<Channel>>(std::move(state));
}

}  // namespace hearth::runtime
