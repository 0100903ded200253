#include "runtime/webgpu/readback.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

namespace hearth::runtime::webgpu {

namespace {

constexpr std::uint64_t smallest_staging = 1u << 12;
/// What may wait for reuse: reads of one size in flight, not the largest that ever was.
constexpr std::uint64_t most_free_bytes = 128u << 20;
constexpr std::size_t most_free_buffers = 64;

}  // namespace

Expected<StagingBuffer> Staging::take(std::uint64_t size) {
  drain();
  const std::uint64_t wanted =
      std::min(std::bit_ceil(std::max(size, smallest_staging)), std::max(size, gpu_->info.max_buffer_bytes));
  {
    std::scoped_lock guard(mutex_);
    for (std::size_t i = free_.size(); i-- > 0;) {
      if (free_[i].size != wanted) continue;
      StagingBuffer found = std::move(free_[i]);
      free_.erase(free_.begin() + static_cast<std::ptrdiff_t>(i));
      free_bytes_ -= found.size;
      return found;
    }
  }
  WGPUBufferDescriptor descriptor = {};
  const std::string label = gpu_->label + " readback";
  descriptor.label = view(label);
  descriptor.usage = WGPUBufferUsage_MapRead | WGPUBufferUsage_CopyDst;
  descriptor.size = wanted;
  ErrorScope scope(*gpu_, validation | out_of_memory | internal);
  StagingBuffer made{Owned<WGPUBuffer>::adopt(wgpuDeviceCreateBuffer(gpu_->device.get(), &descriptor)), wanted};
  if (Expected<void> valid = scope.close("read"); !valid) return valid.error();
  if (!made.buffer) return device_lost("read");
  return made;
}

void Staging::give_back(StagingBuffer buffer) {
  std::scoped_lock guard(mutex_);
  free_bytes_ += buffer.size;
  free_.push_back(std::move(buffer));
  while (free_bytes_ > most_free_bytes || free_.size() > most_free_buffers) {
    free_bytes_ -= free_.front().size;
    free_.erase(free_.begin());
  }
}

void Staging::abandon(Owned<WGPUBuffer> buffer) {
  std::scoped_lock guard(mutex_);
  abandoned_.push_back(std::move(buffer));
}

void Staging::drain() {
  std::vector<Owned<WGPUBuffer>> dropped;  // a release may call back
  std::scoped_lock guard(mutex_);
  dropped.swap(abandoned_);
}

void* keep(const std::shared_ptr<Signal>& signal) { return new std::shared_ptr<Signal>(signal); }

std::shared_ptr<Signal> taken(void* userdata) {
  auto* kept = static_cast<std::shared_ptr<Signal>*>(userdata);
  std::shared_ptr<Signal> signal = std::move(*kept);
  delete kept;
  return signal;
}

Readback::~Readback() {
  for (Part& part : parts_)
    if (part.buffer.buffer) staging_->abandon(std::move(part.buffer.buffer));
}

void Readback::map() {
  for (Part& part : parts_) {
    WGPUBufferMapCallbackInfo info = {};
    info.mode = WGPUCallbackMode_AllowProcessEvents;
    info.userdata1 = keep(part.mapped);
    info.callback = [](WGPUMapAsyncStatus status, WGPUStringView, void* data, void*) {
      taken(data)->status.store(static_cast<int>(status));
    };
    ErrorScope scope(*gpu_);
    wgpuBufferMapAsync(part.buffer.buffer.get(), WGPUMapMode_Read, 0, part.bytes, info);
    (void)scope.close("read");  // the callback gets the error too
  }
}

bool Readback::is_ready() const {
  return std::all_of(parts_.begin(), parts_.end(), [](const Part& part) { return part.mapped->status.load() != 0; });
}

Expected<std::vector<std::byte>> Readback::finish() {
  // A success says nothing about a device that was lost since, and a mapped range of a lost device ends the process.
  if (gpu_->is_lost()) return device_lost("read");
  for (const Part& part : parts_)
    if (part.mapped->status.load() != WGPUMapAsyncStatus_Success)
      return Failure{ErrorCode::validation, fmt::format("read: mapping {} bytes failed.", part.bytes)};
  std::vector<std::byte> bytes(size_);
  std::uint64_t done = 0, skip = skip_;
  for (Part& part : parts_) {
    const void* range = wgpuBufferGetConstMappedRange(part.buffer.buffer.get(), 0, part.bytes);
    if (!range) return device_lost("read");
    const std::uint64_t count = std::min(part.bytes - skip, size_ - done);
    std::memcpy(bytes.data() + done, static_cast<const std::byte*>(range) + skip, count);
    done += count;
    skip = 0;
    ErrorScope scope(*gpu_);
    wgpuBufferUnmap(part.buffer.buffer.get());
    if (scope.close("read")) staging_->give_back(std::move(part.buffer));
  }
  return bytes;
}

Future<std::vector<std::byte>> future_of(std::shared_ptr<Readback> readback) {
  auto state = std::make_shared<detail::FutureState<std::vector<std::byte>>>();
  // The state owns the read, not the other way round: a future that nobody waits for takes all of it along.
  state->set_drive([readback = std::move(readback), to = std::weak_ptr(state)] {
    if (!readback->is_ready()) readback->gpu().poll();
    if (!readback->is_ready()) return;
    if (auto owner = to.lock(); owner && !owner->is_complete()) owner->complete(readback->finish());
  });
  return Future<std::vector<std::byte>>(std::move(state));
}

std::shared_ptr<Signal> signal_work_done(Gpu& gpu) {
  auto signal = std::make_shared<Signal>();
  WGPUQueueWorkDoneCallbackInfo info = {};
  info.mode = WGPUCallbackMode_AllowProcessEvents;
  info.userdata1 = keep(signal);
  info.callback = [](WGPUQueueWorkDoneStatus status, WGPUStringView, void* data, void*) {
    taken(data)->status.store(static_cast<int>(status));
  };
  ErrorScope scope(gpu);
  wgpuQueueOnSubmittedWorkDone(gpu.queue.get(), info);
  return signal;
}

Future<void> work_done(const std::shared_ptr<Gpu>& gpu) {
  auto state = std::make_shared<detail::FutureState<void>>();
  state->set_drive([gpu, signal = signal_work_done(*gpu), to = std::weak_ptr(state)] {
    if (signal->status.load() == 0) gpu->poll();
    const int status = signal->status.load();
    if (status == 0) return;
    auto owner = to.lock();
    if (!owner) return;
    if (gpu->is_lost()) return owner->complete(device_lost("sync"));
    if (status != WGPUQueueWorkDoneStatus_Success)
      return owner->complete(Failure{ErrorCode::validation, "sync: the device did not say when it was finished."});
    owner->complete({});
  });
  return Future<void>(std::move(state));
}

}  // namespace hearth::runtime::webgpu
