#include "runtime/channel_kinds.hpp"

#include <functional>

namespace hearth::runtime {

namespace {

/// Any thread, one lock around every call. It is recursive: a callback of the app may call Hearth again on the same thread.
class MutexChannel final : public Channel {
 public:
  MutexChannel(Ref<Server> server, std::recursive_mutex* lock) : lock_(lock ? lock : &own_lock_), server_(std::move(server)) {
    adopt(*server_);
  }
  ~MutexChannel() override {
    std::scoped_lock guard(*lock_);
    server_ = nullptr;
  }

  ChannelKind kind() const noexcept override { return ChannelKind::mutex; }
  Expected<void> post(Task task) override { return call(task); }
  Expected<void> call(const Task& task) override {
    const Ref<Channel> self(this);
    std::scoped_lock guard(*lock_);
    return task(*server_);
  }
  Expected<void> with_lock(const std::function<void()>& body) override {
    std::scoped_lock guard(*lock_);
    body();
    return {};
  }
  Server* inline_server() noexcept override { return server_.get(); }
  Expected<void> check_thread() const override { return {}; }
  std::recursive_mutex* guard() noexcept override { return lock_; }

 private:
  void poll_server() override { server_->poll(); }
  bool try_with_lock(const std::function<void()>& body) override {
    const std::unique_lock guard(*lock_, std::try_to_lock);
    if (guard) body();
    return guard.owns_lock();
  }

  std::recursive_mutex own_lock_;
  std::recursive_mutex* lock_;
  Ref<Server> server_;
};

}  // namespace

Expected<Ref<Channel>> make_mutex_channel(const RuntimeOptions& options, const MakeServer& make) {
  std::unique_lock<std::recursive_mutex> guard;
  if (options.lock) guard = std::unique_lock(*options.lock);
  Expected<Ref<Server>> server = make();
  if (!server) return server.error();
  return Ref<Channel>(new MutexChannel(std::move(*server), options.lock));
}

}  // namespace hearth::runtime
