#include "runtime/null/server.hpp"

#include "runtime/backends.hpp"
#include "runtime/check.hpp"

namespace hearth::runtime {

namespace null {

namespace {

/// Addresses that nobody may follow, each its own.
class NullStorage final : public Storage {
 public:
  Expected<void*> allocate(std::uint64_t) override { return reinterpret_cast<void*>(++last_); }
  void free(void*) noexcept override {}

 private:
  std::uintptr_t last_ = 0;
};

}  // namespace

NullServer::NullServer(const RuntimeOptions& options, const DeviceInfo& info) {
  info_ = info;
  if (info_.name.empty()) info_.name = "null";
  if (info_.backend.empty()) info_.backend = "null";
  memory_ = make_ref<Memory>(std::make_shared<NullStorage>(), memory_options(info_, options));
}

NullServer::~NullServer() = default;

Expected<void> NullServer::write(Allocation& to, std::uint64_t, std::span<const std::byte> bytes) {
  if (Expected<void> placed = memory_->place(to); !placed) return placed;
  statistics_.bytes_written += bytes.size();
  pending_ = true;
  return {};
}

Expected<void> NullServer::copy(Allocation& from, std::uint64_t, Allocation& to, std::uint64_t, std::uint64_t) {
  if (from.failure) return *from.failure;
  if (Expected<void> placed = memory_->place(from); !placed) return placed;
  if (Expected<void> placed = memory_->place(to); !placed) return placed;
  pending_ = true;
  pass_open_ = false;
  return {};
}

Expected<void> NullServer::launch(const ir::KernelRef& kernel, std::span<Allocation* const> bindings,
                                  std::span<const std::uint32_t> parameters) {
  if (Expected<void> fits = check_launch(*kernel, bindings, parameters.size(), info_); !fits) return fits;
  for (Allocation* binding : bindings)
    if (Expected<void> placed = memory_->place(*binding); !placed) return placed;
  if (launches_.size() < launches_kept) {
    Launch& launch = launches_.emplace_back();
    launch.kernel = kernel;
    launch.parameters.assign(parameters.begin(), parameters.end());
    for (const Allocation* binding : bindings) launch.bindings.push_back({binding->block->id, binding->offset, binding->size});
  }
  ++statistics_.dispatches;
  if (!pass_open_) ++statistics_.passes;
  pass_open_ = pending_ = true;
  return {};
}

Future<std::vector<std::byte>> NullServer::read(const Handle& from, std::uint64_t, std::uint64_t size) {
  using Bytes = std::vector<std::byte>;
  if (Expected<void> flushed = flush(); !flushed) return Future<Bytes>::ready_with(flushed.error());
  if (from->failure) return Future<Bytes>::ready_with(*from->failure);
  statistics_.bytes_read += size;
  return Future<Bytes>::ready_with(Bytes(size));
}

Expected<void> NullServer::flush() {
  memory_->collect();
  if (pending_) ++statistics_.submits;
  pending_ = pass_open_ = false;
  statistics_.allocations = memory_->blocks_made();
  return {};
}

Future<void> NullServer::finished() { return Future<void>::ready_with(flush()); }

Expected<RawResource> NullServer::resource(const Handle& handle, bool exclusive) {
  if (handle->failure) return *handle->failure;
  if (Expected<void> placed = memory_->place(*handle, exclusive); !placed) return placed.error();
  if (exclusive && !handle->block->exclusive && !handle->pinned) {
    if (Expected<void> moved = memory_->move_to_exclusive(*handle); !moved) return moved.error();
    pending_ = true;
  }
  handle->pinned = true;
  if (Expected<void> flushed = flush(); !flushed) return flushed.error();
  return RawResource{handle->block->buffer, handle->offset, handle->size, handle};
}

Future<void> NullServer::compile(const ir::KernelRef&) { return Future<void>::ready_with({}); }

std::vector<Launch> take_launches(Channel& channel) {
  std::vector<Launch> launches;
  (void)channel.call([&launches](Server& server) -> Expected<void> {
    launches = static_cast<NullServer&>(server).take_launches();
    return {};
  });
  return launches;
}

}  // namespace null

Expected<Ref<Channel>> open_null(const RuntimeOptions& options, const DeviceInfo& info) {
  return make_channel(options,
                      [options, info]() -> Expected<Ref<Server>> { return Ref<Server>(new null::NullServer(options, info)); });
}

}  // namespace hearth::runtime
