#pragma once
#include <atomic>
#include <functional>
#include <thread>

#include "runtime/channel.hpp"

namespace hearth::runtime::test {

struct FakeStorage final : Storage {
  Expected<void*> allocate(std::uint64_t) override { return reinterpret_cast<void*>(++next); }
  void free(void*) noexcept override {}
  std::uintptr_t next = 0;
};

/// What a test wants to know of a server, kept outside of it.
struct Trace {
  std::atomic<int> launches{0};
  std::atomic<int> flushes{0};
  std::atomic<int> polls{0};
  std::atomic<bool> destroyed{false};
  std::atomic<std::thread::id> made_on{}, destroyed_on{};
  std::function<void()> on_poll;    ///< a callback of the app
  std::function<void()> on_launch;  ///< likewise, from a submit
  std::optional<Failure> launch_fails;
};

/// A server whose reads complete at the third poll.
class FakeServer final : public Server {
 public:
  explicit FakeServer(std::shared_ptr<Trace> trace) : trace_(std::move(trace)) {
    trace_->made_on = std::this_thread::get_id();
    memory_ = make_ref<Memory>(std::make_shared<FakeStorage>(), MemoryOptions{});
    info_.name = "fake";
  }
  ~FakeServer() override {
    trace_->destroyed_on = std::this_thread::get_id();
    trace_->destroyed = true;
  }
  Memory& memory() noexcept override { return *memory_; }
  Expected<void> write(Allocation& to, std::uint64_t, std::span<const std::byte> bytes) override {
    statistics_.bytes_written += bytes.size();
    return memory_->place(to);
  }
  Expected<void> copy(Allocation&, std::uint64_t, Allocation& to, std::uint64_t, std::uint64_t) override {
    return memory_->place(to);
  }
  Expected<void> launch(const ir::KernelRef&, std::span<Allocation* const> bindings, std::span<const std::uint32_t>) override {
    for (Allocation* binding : bindings.first(bindings.size() - 1))
      if (binding->failure) return *binding->failure;
    if (trace_->launch_fails) return *trace_->launch_fails;
    ++trace_->launches;
    ++statistics_.dispatches;
    if (trace_->on_launch) trace_->on_launch();
    return memory_->place(*bindings.back());
  }
  Future<std::vector<std::byte>> read(const Handle& from, std::uint64_t, std::uint64_t size) override {
    if (from->failure) return Future<std::vector<std::byte>>::ready_with(*from->failure);
    Promise<std::vector<std::byte>> promise;
    promise.set_drive([this] { poll(); });
    reads_.push_back({promise, size});
    return promise.future();
  }
  Expected<void> flush() override {
    ++trace_->flushes;
    return {};
  }
  Future<void> finished() override { return Future<void>::ready_with(flush()); }
  Expected<RawResource> resource(const Handle& handle, bool) override { return RawResource{nullptr, 0, handle->size, handle}; }
  void poll() override {
    ++trace_->polls;
    if (trace_->on_poll) trace_->on_poll();
    for (std::size_t i = reads_.size(); i-- > 0;) {
      if (++reads_[i].polls < 3) continue;
      const Read done = std::move(reads_[i]);
      reads_.erase(reads_.begin() + static_cast<std::ptrdiff_t>(i));
      done.promise.complete(std::vector<std::byte>(done.size));
    }
  }
  Future<void> compile(const ir::KernelRef&) override { return Future<void>::ready_with({}); }

 private:
  struct Read {
    Promise<std::vector<std::byte>> promise;
    std::uint64_t size = 0;
    int polls = 0;
  };
  std::vector<Read> reads_;
  std::shared_ptr<Trace> trace_;
  Ref<Memory> memory_;
};

inline Ref<Channel> fake_channel(const RuntimeOptions& options, std::shared_ptr<Trace> trace) {
  return make_channel(options, [trace]() -> Expected<Ref<Server>> { return Ref<Server>(new FakeServer(trace)); }).value();
}
inline Ref<Channel> fake_channel(ChannelKind kind, std::shared_ptr<Trace> trace) {
  RuntimeOptions options;
  options.channel = kind;
  return fake_channel(options, std::move(trace));
}

inline constexpr ChannelKind all_kinds[] = {ChannelKind::direct, ChannelKind::mutex, ChannelKind::mpsc,
                                            ChannelKind::thread_local_};

}  // namespace hearth::runtime::test
