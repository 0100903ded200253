#include "runtime/webgpu/gpu.hpp"

/// The one place where native and browser differ: natively somebody has to call for callbacks, in a browser the event loop runs
/// them between two calls into the program.
namespace hearth::runtime::webgpu {

void Gpu::poll() noexcept {
#if !defined(__EMSCRIPTEN__)
  wgpuInstanceProcessEvents(instance.get());
#endif
}

Expected<void> check_poll([[maybe_unused]] const RuntimeOptions& options) {
#if defined(__EMSCRIPTEN__)
  if (options.poll)
    return Failure{ErrorCode::unsupported,
                   "RuntimeOptions: poll is for native programs; in a browser a device belongs to one thread, whose event loop "
                   "polls."};
#endif
  return {};
}

}  // namespace hearth::runtime::webgpu
