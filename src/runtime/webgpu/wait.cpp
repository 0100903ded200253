#include "runtime/webgpu/gpu.hpp"

/// The one place where native and browser differ: natively somebody has to call for callbacks, in a browser the event loop runs
/// them between two calls into the program.
namespace hearth::runtime::webgpu {

void Gpu::poll() noexcept {
#if !defined(__EMSCRIPTEN__)
  wgpuInstanceProcessEvents(instance.get());
#endif
}

}  // namespace hearth::runtime::webgpu
