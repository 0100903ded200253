#include "graph/devices.hpp"

#include <functional>
#include <unordered_map>

namespace hearth::graph {

namespace {
struct Devices {
  std::mutex mutex;
  std::unordered_map<const void*, Context*> contexts;
};
// Never destroyed: tensors of static lifetime may go after it.
Devices& devices() {
  static Devices* const all = new Devices;
  return *all;
}
}  // namespace

Ref<Context> find_or_make(const void* native, const RuntimeOptions& options, const std::function<Ref<Context>()>& make) {
  const std::scoped_lock lock(devices().mutex);
  auto& contexts = devices().contexts;
  if (auto found = contexts.find(native); found != contexts.end() && found->second->try_add_ref()) {
    const auto context = Ref<Context>::adopt(found->second);
    if (context->options() == options) return context;
    throw Error(ErrorCode::invalid_argument,
                "init_existing_device: this WGPUDevice has a Hearth device already, with other options (channel, lock, fusion, "
                "buffer_usage, memory_limit_bytes, max_flushes_in_flight, poll or label).");
  }
  Ref<Context> made = make();
  made->native = native;
  contexts[native] = made.get();
  return made;
}

void forget(const Context& context) noexcept {
  const std::scoped_lock lock(devices().mutex);
  const auto found = devices().contexts.find(context.native);
  if (found != devices().contexts.end() && found->second == &context) devices().contexts.erase(found);
}

}  // namespace hearth::graph
