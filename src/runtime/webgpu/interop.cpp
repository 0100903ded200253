#include <fmt/format.h>

#include <algorithm>

#include "runtime/webgpu/server.hpp"

namespace hearth::runtime::webgpu {

Expected<std::uint64_t> WebGpuServer::begin_encoding(WGPUCommandEncoder encoder) {
  if (Expected<void> healthy = check_healthy("encode_into"); !healthy) return healthy.error();
  if (borrowed_)
    return Failure{ErrorCode::invalid_argument, "encode_into: called inside another encode_into of the same device."};
  // What is pending goes first: the app submits its encoder whenever it likes.
  if (Expected<void> flushed = flush(); !flushed) return flushed.error();
  if (gpu_->is_lost()) return lose(device_lost("encode_into"));
  borrowed_ = std::make_unique<Recording>(*gpu_, statistics_);
  borrowed_->borrow(encoder);
  borrowed_->number = ++last_recording_;
  scope_ = ++last_scope_;
  scopes_.push_back({scope_, {}});
  return scope_;
}

Expected<void> WebGpuServer::end_encoding(std::uint64_t scope) {
  if (scope == 0 || scope != scope_)
    return Failure{ErrorCode::invalid_argument, "encode_into: its end comes without its beginning."};
  (void)borrowed_->take_encoder();
  borrowed_->uploads.clear([this](std::uint64_t id) { bind_groups_.forget(id); });
  borrowed_.reset();
  scope_ = 0;
  if (gpu_->is_lost()) return lose(device_lost("encode_into"));
  return {};
}

Expected<void> WebGpuServer::finish_encoding(std::uint64_t scope, bool submitted) {
  if (scope != 0 && scope == scope_) (void)end_encoding(scope);
  const auto found = std::find_if(scopes_.begin(), scopes_.end(), [scope](const Scope& s) { return s.id == scope; });
  if (found == scopes_.end()) return {};
  const std::vector<Handle> touched = std::move(found->touched);
  scopes_.erase(found);
  for (const Handle& handle : touched) {
    if (handle->scope != scope) continue;
    handle->scope = 0;
    if (!submitted)
      handle->failure = std::make_unique<Failure>(
          Failure{ErrorCode::not_submitted, "encode_into: the app discarded the encoder that was to compute this value."});
  }
  memory_->release_scope(scope);
  return {};
}

Expected<Handle> WebGpuServer::import_buffer(WGPUBuffer buffer, std::uint64_t offset, std::uint64_t size) {
  if (Expected<void> healthy = check_healthy("import_buffer"); !healthy) return healthy.error();
  const std::uint64_t whole = wgpuBufferGetSize(buffer);
  const auto refuse = [](std::string message) { return Failure{ErrorCode::invalid_argument, "import_buffer: " + message}; };
  if (!(wgpuBufferGetUsage(buffer) & WGPUBufferUsage_Storage)) return refuse("the buffer lacks the usage Storage.");
  if (size == 0 || offset > whole || size > whole - offset)
    return refuse(fmt::format("bytes {} to {} are outside the buffer of {} bytes.", offset, offset + size, whole));
  if (offset % info_.storage_alignment != 0)
    return refuse(
        fmt::format("the offset {} is no multiple of {} (minStorageBufferOffsetAlignment).", offset, info_.storage_alignment));
  if (size % 4 != 0) return refuse(fmt::format("the size {} is no multiple of 4.", size));
  if (size > info_.max_binding_bytes)
    return Failure{ErrorCode::unsupported,
                   fmt::format("import_buffer: {} bytes are asked for, this device binds at most {} bytes "
                               "(maxStorageBufferBindingSize).",
                               size, info_.max_binding_bytes)};
  // Refused now and not at the first launch: a destroyed buffer, or one of another device.
  if (Expected<void> usable = check_storage_buffer(buffer, "import_buffer"); !usable) return lose(usable.error());
  wgpuBufferAddRef(buffer);
  return memory_->import(buffer, offset, size);
}

Expected<void> WebGpuServer::check_storage_buffer(WGPUBuffer buffer, std::string_view operation) {
  Expected<const Layout*> layout = pipelines_.layout(1, 0, false);
  if (!layout) return layout.error();
  WGPUBindGroupEntry entry = {};
  entry.buffer = buffer;
  entry.size = 4;
  WGPUBindGroupDescriptor descriptor = {};
  descriptor.label = view(operation);
  descriptor.layout = (*layout)->group.get();
  descriptor.entryCount = 1;
  descriptor.entries = &entry;
  ErrorScope scope(*gpu_);
  const auto group = Owned<WGPUBindGroup>::adopt(wgpuDeviceCreateBindGroup(gpu_->device.get(), &descriptor));
  return scope.close(operation);
}

Expected<void> WebGpuServer::check_foreign() {
#if defined(HEARTH_WEBGPU_IS_WGPU)
  // A submit that names a destroyed or mapped buffer ends the process there; elsewhere it is an error like any other.
  for (const Owned<WGPUBuffer>& buffer : foreign_buffers_) {
    const WGPUBufferUsage usage = wgpuBufferGetUsage(buffer.get());
    if (usage & WGPUBufferUsage_Storage) {
      if (Expected<void> usable = check_storage_buffer(buffer.get(), "flush"); !usable) return usable;
    } else if (usage & (WGPUBufferUsage_MapRead | WGPUBufferUsage_MapWrite)) {
      // A map begins only on a buffer that is neither mapped nor destroyed, and is taken back at once.
      WGPUBufferMapCallbackInfo info = {};
      info.mode = WGPUCallbackMode_AllowProcessEvents;
      info.callback = [](WGPUMapAsyncStatus, WGPUStringView, void*, void*) {};
      ErrorScope scope(*gpu_);
      wgpuBufferMapAsync(buffer.get(), usage & WGPUBufferUsage_MapRead ? WGPUMapMode_Read : WGPUMapMode_Write, 0, 0, info);
      if (Expected<void> usable = scope.close("flush"); !usable) return usable;
      wgpuBufferUnmap(buffer.get());
    }
  }
  for (const Owned<WGPUTexture>& texture : foreign_textures_) {
    ErrorScope scope(*gpu_);
    const auto shown = Owned<WGPUTextureView>::adopt(wgpuTextureCreateView(texture.get(), nullptr));
    if (Expected<void> usable = scope.close("flush"); !usable) return usable;
  }
#endif
  return {};
}

Expected<void> WebGpuServer::copy_to_buffer(const Handle& from, std::uint64_t from_offset, WGPUBuffer buffer,
                                            std::uint64_t offset, std::uint64_t size) {
  if (Expected<void> healthy = check_healthy("copy_to"); !healthy) return healthy;
  if (from->failure) return *from->failure;
  if (Expected<void> fits = check_scope(*from, "copy_to"); !fits) return fits;
  const std::uint64_t whole = wgpuBufferGetSize(buffer);
  const auto refuse = [](std::string message) { return Failure{ErrorCode::invalid_argument, "copy_to: " + message}; };
  if (!(wgpuBufferGetUsage(buffer) & WGPUBufferUsage_CopyDst)) return refuse("the buffer lacks the usage CopyDst.");
  if (offset > whole || size > whole - offset)
    return refuse(fmt::format("bytes {} to {} are outside the buffer of {} bytes.", offset, offset + size, whole));
  if (offset % 4 != 0) return refuse(fmt::format("the offset {} is no multiple of 4.", offset));
  if (size % 4 != 0) return refuse(fmt::format("the size {} is no multiple of 4.", size));
  if (size == 0) return {};
  if (Expected<void> placed = place(*from); !placed) return placed;
  Handle source = from;
  if (from->block->buffer == buffer || from_offset % 4 != 0) {  // a copy inside one buffer goes by way of another
    source = memory_->make(size);
    if (Expected<void> copied = copy(*from, from_offset, *source, 0, size); !copied) return copied;
    from_offset = 0;
  }
  Expected<WGPUCommandEncoder> encoder = target().open_for_copies();
  if (!encoder) return lose(encoder.error());
  ErrorScope scope(*gpu_);
  wgpuCommandEncoderCopyBufferToBuffer(*encoder, static_cast<WGPUBuffer>(source->block->buffer), source->offset + from_offset,
                                       buffer, offset, size);
  if (Expected<void> copied = scope.close("copy_to"); !copied) return lose(copied.error());
  use(*source);
  if (!borrowed_) foreign_buffers_.push_back(Owned<WGPUBuffer>::borrow(buffer));
  return {};
}

namespace {

/// Runs `body` on the channel's server, which must be of this backend.
template <typename F>
Expected<void> on_server(Channel& channel, const char* operation, F body) {
  return channel.call([&](Server& server) -> Expected<void> {
    if (auto* own = dynamic_cast<WebGpuServer*>(&server)) return body(*own);
    return Failure{ErrorCode::wrong_device, fmt::format("{}: the device {} is no WebGPU device.", operation, server.info().name)};
  });
}

template <typename T>
Expected<void> keep_value(Expected<T> from, T& to) {
  if (!from) return from.error();
  to = std::move(*from);
  return {};
}

}  // namespace

Expected<std::uint64_t> begin_encoding(Channel& channel, void* encoder) {
  std::uint64_t scope = 0;
  Expected<void> done = on_server(channel, "encode_into", [&](WebGpuServer& server) {
    return keep_value(server.begin_encoding(static_cast<WGPUCommandEncoder>(encoder)), scope);
  });
  if (!done) return done.error();
  return scope;
}

Expected<void> end_encoding(Channel& channel, std::uint64_t scope) {
  return on_server(channel, "encode_into", [&](WebGpuServer& server) { return server.end_encoding(scope); });
}

Expected<void> finish_encoding(Channel& channel, std::uint64_t scope, bool submitted) {
  return on_server(channel, "encode_into", [&](WebGpuServer& server) { return server.finish_encoding(scope, submitted); });
}

Expected<Handle> import_buffer(Channel& channel, void* buffer, std::uint64_t offset, std::uint64_t size) {
  Handle handle;
  Expected<void> done = on_server(channel, "import_buffer", [&](WebGpuServer& server) {
    return keep_value(server.import_buffer(static_cast<WGPUBuffer>(buffer), offset, size), handle);
  });
  if (!done) return done.error();
  return handle;
}

Expected<ImportedTexture> import_texture(Channel& channel, void* texture) {
  ImportedTexture imported;
  Expected<void> done = on_server(channel, "import_texture", [&](WebGpuServer& server) {
    return keep_value(server.import_texture(static_cast<WGPUTexture>(texture)), imported);
  });
  if (!done) return done.error();
  return imported;
}

Expected<void> export_texture(Channel& channel, const Handle& from, std::uint32_t width, std::uint32_t height,
                              std::uint32_t channels, void* texture) {
  return on_server(channel, "export_texture", [&](WebGpuServer& server) {
    return server.export_texture(from, width, height, channels, static_cast<WGPUTexture>(texture));
  });
}

Expected<void> copy_to_buffer(Channel& channel, const Handle& from, std::uint64_t from_offset, void* buffer, std::uint64_t offset,
                              std::uint64_t size) {
  return on_server(channel, "copy_to", [&](WebGpuServer& server) {
    return server.copy_to_buffer(from, from_offset, static_cast<WGPUBuffer>(buffer), offset, size);
  });
}

}  // namespace hearth::runtime::webgpu
