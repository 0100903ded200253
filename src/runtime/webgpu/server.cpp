#include "runtime/webgpu/server.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace hearth::runtime::webgpu {

WebGpuServer::WebGpuServer(std::shared_ptr<Gpu> gpu, const RuntimeOptions& options)
    : gpu_(std::move(gpu)),
      storage_(std::make_shared<BufferStorage>(gpu_, options.buffer_usage, options.lock)),
      staging_(std::make_shared<Staging>(gpu_)),
      pipelines_(*gpu_),
      bind_groups_(*gpu_),
      parameters_(*gpu_),
      own_(*gpu_, statistics_),
      max_flushes_in_flight_(options.max_flushes_in_flight) {
  info_ = gpu_->info;
  memory_ = make_ref<Memory>(storage_, memory_options(info_, options));
  memory_->set_observer([this](const Block& block) { bind_groups_.forget(block.id); });
  begin_recording();
}

WebGpuServer::~WebGpuServer() {
  memory_->set_observer(nullptr);
  scopes_.clear();
  storage_->server_is_gone();
}

void WebGpuServer::begin_recording() noexcept { own_.number = ++last_recording_; }

Failure WebGpuServer::lose(const Failure& failure) {
  if (failure.code == ErrorCode::device_lost && !lost_) {
    lost_ = true;
    parameters_.discard();
    (void)own_.take_encoder();
    own_.uploads.clear([](std::uint64_t) {});
    memory_->abandon();
  }
  return failure;
}

Expected<void> WebGpuServer::check_healthy(std::string_view operation) {
  if (gpu_->was_lost()) return lose(device_lost(operation));
  return {};
}

Expected<void> WebGpuServer::check_scope(const Allocation& allocation, std::string_view operation) const {
  if (allocation.scope == 0 || allocation.scope == scope_) return {};
  return Failure{ErrorCode::not_submitted,
                 fmt::format("{}: its memory belongs to an encoder of the app that is not submitted yet.", operation)};
}

bool WebGpuServer::is_touched(const Allocation& allocation) const {
  for (const Scope& scope : scopes_) {
    if (scope.id == scope_) continue;
    for (const Handle& handle : scope.touched)
      if (handle.get() == &allocation) return true;
  }
  return false;
}

Expected<void> WebGpuServer::check_writable(const Allocation& allocation, std::string_view operation) const {
  if (Expected<void> fits = check_scope(allocation, operation); !fits) return fits;
  if (scopes_.empty() || !is_touched(allocation)) return {};
  return Failure{ErrorCode::not_submitted,
                 fmt::format("{}: an encoder of the app that is not submitted yet reads the memory.", operation)};
}

Expected<void> WebGpuServer::place_new(Allocation& allocation) {
  // The app may bind what its encoder computes as soon as it is recorded, when it can no longer be moved.
  Expected<void> placed = memory_->place(allocation, scope_ != 0);
  if (!placed && gpu_->is_lost()) return lose(device_lost("memory"));
  return placed;
}

void WebGpuServer::use_first(Allocation& allocation) {
  allocation.last_use = target().number;
  if (borrowed_) {
    scopes_.back().touched.emplace_back(&allocation);
  } else if (allocation.block->imported) {
    foreign_buffers_.push_back(Owned<WGPUBuffer>::borrow(static_cast<WGPUBuffer>(allocation.block->buffer)));
  }
}

void WebGpuServer::use_written(Allocation& allocation) {
  use(allocation);
  allocation.scope = scope_;
  if (allocation.failure) allocation.failure.reset();
}

Expected<void> WebGpuServer::flush() {
  if (!own_.is_open() && !writes_pending_) {
    memory_->collect();
    if (gpu_->is_lost()) return lose(device_lost("flush"));
    return {};
  }
  limit_flushes_in_flight();
  // A callback of the app may run inside Submit and call back: everything is in order again before.
  Owned<WGPUCommandEncoder> encoder = own_.take_encoder();
  own_.uploads.close();
  Expected<void> submitted = submit(std::move(encoder));
  memory_->collect();
  statistics_.allocations = memory_->blocks_made();
  return submitted;
}

Expected<void> WebGpuServer::submit(Owned<WGPUCommandEncoder> encoder) {
  Owned<WGPUCommandBuffer> commands;
  {
    ErrorScope scope(*gpu_, validation | out_of_memory);
    parameters_.upload();
    if (encoder) {
      WGPUCommandBufferDescriptor descriptor = {};
      descriptor.label = view(gpu_->label);
      commands = Owned<WGPUCommandBuffer>::adopt(wgpuCommandEncoderFinish(encoder.get(), &descriptor));
    }
    Expected<void> clean = scope.close("flush");
    if (clean) clean = check_foreign();
    foreign_buffers_.clear();
    foreign_textures_.clear();
    own_.uploads.clear([](std::uint64_t) {});
    encoder.reset();
    begin_recording();
    writes_pending_ = false;
    if (clean && gpu_->is_lost()) clean = device_lost("flush");
    if (!clean) return lose(clean.error());
  }
  ++statistics_.submits;
  const WGPUCommandBuffer buffer = commands.get();
  ErrorScope scope(*gpu_, validation | out_of_memory);
  wgpuQueueSubmit(gpu_->queue.get(), commands ? 1 : 0, commands ? &buffer : nullptr);
  Expected<void> submitted = scope.close("flush");
  if (!submitted) return lose(submitted.error());
  if (max_flushes_in_flight_ != 0) flushes_.push_back(signal_work_done(*gpu_));
  return submitted;
}

void WebGpuServer::limit_flushes_in_flight() {
  if (max_flushes_in_flight_ == 0) return;
  const auto drop_finished = [this] {
    while (!flushes_.empty() && flushes_.front()->status.load() != 0) flushes_.pop_front();
  };
  drop_finished();
  if (flushes_.size() < max_flushes_in_flight_) return;
  count_wait();
  for (int round = 0; flushes_.size() >= max_flushes_in_flight_; ++round) {
    gpu_->poll();
    drop_finished();
    if (gpu_->is_lost()) flushes_.clear();
    if (flushes_.size() >= max_flushes_in_flight_) hearth::detail::wait_round(round);
  }
}

Future<void> WebGpuServer::finished() {
  if (Expected<void> flushed = flush(); !flushed) return Future<void>::ready_with(flushed.error());
  return work_done(gpu_);
}

Expected<RawResource> WebGpuServer::resource(const Handle& handle, bool exclusive) {
  if (Expected<void> healthy = check_healthy("get_resource"); !healthy) return healthy.error();
  if (handle->failure) return *handle->failure;
  if (!handle->block) {
    if (Expected<void> placed = memory_->place(*handle, exclusive || scope_ != 0); !placed) return lose(placed.error());
    if (scope_ != 0) use_written(*handle);
  }
  if (exclusive && !handle->block->exclusive && !handle->pinned) {
    if (Expected<void> fits = check_writable(*handle, "get_resource"); !fits) return fits.error();
    if (Expected<void> moved = move_to_exclusive(*handle); !moved) return lose(moved.error());
  }
  handle->pinned = true;
  if (Expected<void> flushed = flush(); !flushed) return flushed.error();
  return RawResource{handle->block->buffer, handle->offset, (handle->size + 3) / 4 * 4, handle};
}

Future<void> WebGpuServer::compile(const ir::KernelRef& kernel) {
  if (Expected<void> healthy = check_healthy(kernel->label); !healthy) return Future<void>::ready_with(healthy.error());
  Expected<const Compiled*> compiled = pipelines_.find(kernel);
  statistics_.pipelines = pipelines_.made();
  if (!compiled) return Future<void>::ready_with(lose(compiled.error()));
  return Future<void>::ready_with({});
}

}  // namespace hearth::runtime::webgpu
