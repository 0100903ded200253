#include "runtime/backends.hpp"

/// The rows of the backends that this build leaves out.
namespace hearth::runtime {

#if !defined(HEARTH_HAS_WEBGPU)

namespace {
Failure left_out() { return {ErrorCode::unsupported, "webgpu: this build of hearth has no WebGPU (HEARTH_WEBGPU=none)."}; }
}  // namespace

Expected<Ref<Channel>> open_webgpu(const NativeDevice&, const RuntimeOptions&) { return left_out(); }
Future<Ref<Channel>> open_own_webgpu(const DeviceOptions&, const RuntimeOptions&) {
  return Future<Ref<Channel>>::ready_with(left_out());
}

namespace webgpu {

Expected<std::uint64_t> begin_encoding(Channel&, void*) { return left_out(); }
Expected<void> end_encoding(Channel&, std::uint64_t) { return left_out(); }
Expected<void> finish_encoding(Channel&, std::uint64_t, bool) { return left_out(); }
Expected<Handle> import_buffer(Channel&, void*, std::uint64_t, std::uint64_t) { return left_out(); }
Expected<ImportedTexture> import_texture(Channel&, void*) { return left_out(); }
Expected<void> export_texture(Channel&, const Handle&, std::uint32_t, std::uint32_t, std::uint32_t, void*) { return left_out(); }
Expected<void> copy_to_buffer(Channel&, const Handle&, std::uint64_t, void*, std::uint64_t, std::uint64_t) { return left_out(); }

}  // namespace webgpu

#endif

}  // namespace hearth::runtime
