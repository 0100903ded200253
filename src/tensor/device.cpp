#include "hearth/device.hpp"

#include <fmt/format.h>

#include "graph/context.hpp"
#include "graph/devices.hpp"
#include "runtime/backends.hpp"

namespace hearth {

using graph::Context;

static Context& checked(const Ref<Context>& context, const char* what) {
  if (!context) throw Error(ErrorCode::invalid_argument, fmt::format("{}: the device is null.", what));
  return *context;
}

const DeviceInfo& Device::info() const { return checked(context_, "info").info(); }
const RuntimeOptions& Device::options() const { return checked(context_, "options").options(); }
Client Device::client() const { return checked(context_, "client").client(); }

void Device::sync(SyncType type) const {
  Context& context = checked(context_, "sync");
  {
    const Context::Guard guard(context);
    context.executor().flush();
  }
  context.client().sync(type);
}

Future<void> Device::sync_async() const {
  Context& context = checked(context_, "sync_async");
  {
    const Context::Guard guard(context);
    context.executor().flush();
  }
  return context.client().sync_async();
}

void Device::poll() const { checked(context_, "poll").channel().poll(); }
Statistics Device::statistics() const { return checked(context_, "statistics").channel().statistics(); }
MemoryUsage Device::memory_usage() const { return checked(context_, "memory_usage").channel().memory().usage(); }

void Device::memory_cleanup() const {
  Context& context = checked(context_, "memory_cleanup");
  const Context::Guard guard(context);
  context.channel()
      .call([](runtime::Server& server) -> Expected<void> {
        server.memory().cleanup();
        return {};
      })
      .value();
}

Device Device::cpu() {
  static std::mutex mutex;
  static Device device;
  const std::scoped_lock lock(mutex);
  if (!device) device = cpu(RuntimeOptions{});
  return device;
}

Device Device::cpu(const RuntimeOptions& options) {
  return Device(make_ref<Context>(runtime::open_cpu(options).value(), options));
}

Device Device::null(const RuntimeOptions& options, const DeviceInfo& info) {
  return Device(make_ref<Context>(runtime::open_null(options, info).value(), options));
}

Device Device::gpu() {
  static std::mutex mutex;
  static Device device;
  const std::scoped_lock lock(mutex);
  if (!device) device = webgpu::init_device();
  return device;
}

namespace webgpu {

Future<Device> init_device_async(const DeviceOptions& options, const RuntimeOptions& runtime) {
  return hearth::runtime::open_own_webgpu(options, runtime).then([runtime](Ref<hearth::runtime::Channel> channel) {
    return Device(make_ref<Context>(std::move(channel), runtime));
  });
}

Device init_device(const DeviceOptions& options, const RuntimeOptions& runtime) {
  return init_device_async(options, runtime).get();
}

}  // namespace webgpu

}  // namespace hearth
