#include "runtime/webgpu/gpu.hpp"

#include <fmt/format.h>

namespace hearth::runtime::webgpu {

namespace {

/// What a popped scope reported. The callback runs inside the pop; should an implementation call it later, it finds this alive.
struct Report {
  int owners = 2;
  bool arrived = false;
  WGPUErrorType type = WGPUErrorType_NoError;
  std::string message;

  static void drop(Report* report) {
    if (--report->owners == 0) delete report;
  }
};

/// Gives the error of the innermost scope, or no error.
Report pop(WGPUDevice device) {
  auto* report = new Report;
  WGPUPopErrorScopeCallbackInfo info = {};
  info.mode = WGPUCallbackMode_AllowSpontaneous;
  info.userdata1 = report;
  info.callback = [](WGPUPopErrorScopeStatus status, WGPUErrorType type, WGPUStringView message, void* data, void*) {
    auto* to = static_cast<Report*>(data);
    to->arrived = true;
    if (status == WGPUPopErrorScopeStatus_Success && type != WGPUErrorType_NoError) {
      to->type = type;
      if (message.data && message.length != 0) to->message.assign(message.data, message.length);
    }
    Report::drop(to);
  };
  wgpuDevicePopErrorScope(device, info);
  Report result;
  result.arrived = report->arrived;
  result.type = report->type;
  result.message = std::move(report->message);
  Report::drop(report);
  return result;
}

/// An implementation's text as part of a sentence: one line, no full stop at its end.
std::string one_line(std::string_view text) {
  std::string line;
  bool gap = false;
  for (const char c : text) {
    if (c == ' ' || c == '\n' || c == '\t' || c == '\r') {
      gap = !line.empty();
      continue;
    }
    if (gap) line += ' ';
    gap = false;
    line += c;
  }
  while (!line.empty() && line.back() == '.') line.pop_back();
  return line;
}

}  // namespace

bool Gpu::is_lost() noexcept {
  if (lost_.load(std::memory_order_relaxed)) return true;
  bool lost = false;
#if defined(HEARTH_WEBGPU_IS_WGPU)
  // Its GetLostFuture aborts. An empty layout can fail for one reason only, and is the cheapest object to make.
  wgpuDevicePushErrorScope(device.get(), WGPUErrorFilter_Validation);
  WGPUBindGroupLayoutDescriptor descriptor = {};
  const auto layout = Owned<WGPUBindGroupLayout>::adopt(wgpuDeviceCreateBindGroupLayout(device.get(), &descriptor));
  lost = pop(device.get()).message.find("lost") != std::string::npos;
#elif !defined(__EMSCRIPTEN__)
  // On a lost device every call seems to succeed: only this future tells.
  WGPUFutureWaitInfo wait = {};
  wait.future = wgpuDeviceGetLostFuture(device.get());
  lost = wgpuInstanceWaitAny(instance.get(), 1, &wait, 0) == WGPUWaitStatus_Success && wait.completed;
#endif
  if (lost) lost_.store(true, std::memory_order_relaxed);
  return lost;
}

ErrorScope::ErrorScope(Gpu& gpu, unsigned filters) noexcept : gpu_(gpu), filters_(filters) {
  if (filters & internal) wgpuDevicePushErrorScope(gpu.device.get(), WGPUErrorFilter_Internal);
  if (filters & out_of_memory) wgpuDevicePushErrorScope(gpu.device.get(), WGPUErrorFilter_OutOfMemory);
  if (filters & validation) wgpuDevicePushErrorScope(gpu.device.get(), WGPUErrorFilter_Validation);
}

ErrorScope::~ErrorScope() {
  for (unsigned left = filters_; left != 0; left &= left - 1) (void)pop(gpu_.device.get());
}

Expected<void> ErrorScope::close(std::string_view operation, ErrorCode code) {
  Report first;
  for (; filters_ != 0; filters_ &= filters_ - 1) {
    Report report = pop(gpu_.device.get());
    if (first.type == WGPUErrorType_NoError) first = std::move(report);
  }
  if (first.type == WGPUErrorType_NoError) return {};
  if (gpu_.is_lost()) return device_lost(operation);
  if (first.type == WGPUErrorType_OutOfMemory)
    return Failure{ErrorCode::out_of_memory,
                   fmt::format("{}: the device is out of memory: {}.", operation, one_line(first.message))};
  if (code == ErrorCode::compilation)
    return Failure{code, fmt::format("{}: the shader does not compile: {}", operation, first.message)};
  return Failure{code, fmt::format("{}: WebGPU refuses it (or a call that another thread made meanwhile): {}.", operation,
                                   one_line(first.message))};
}

Failure device_lost(std::string_view operation) {
  return {ErrorCode::device_lost,
          fmt::format("{}: the device is lost or destroyed; make a new one from a new adapter.", operation)};
}

}  // namespace hearth::runtime::webgpu
