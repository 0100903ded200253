#pragma once
#include <functional>
#include <mutex>
#include <thread>

#include "hearth/device.hpp"
#include "runtime/poller.hpp"
#include "runtime/server.hpp"

namespace hearth::runtime {

/// How a call reaches the server of a device.
class Channel : public RefCounted {
 public:
  using Task = std::function<Expected<void>(Server&)>;

  [[nodiscard]] virtual ChannelKind kind() const noexcept = 0;
  /// Runs `task` after everything posted before. May return before it ran (mpsc): its failure is then kept for `take_failure`;
  /// else the failure is returned here.
  virtual Expected<void> post(Task task) = 0;
  /// Runs `task` after everything posted before and returns when it has run.
  virtual Expected<void> call(const Task& task) = 0;
  /// The first failure of a posted task since the last call of this. The outputs of that task carry it too.
  [[nodiscard]] virtual Expected<void> take_failure() { return {}; }
  /// Runs `body` on this thread with the lock held, not ordered with posted tasks: how futures poll.
  virtual Expected<void> with_lock(const std::function<void()>& body) = 0;
  /// The server, for calls made while `guard` is held; null for mpsc, whose calls go through `post`.
  [[nodiscard]] virtual Server* inline_server() noexcept = 0;
  /// An Error(wrong_thread) with both threads' numbers when this thread may not use the device.
  [[nodiscard]] virtual Expected<void> check_thread() const = 0;
  /// What the layers above hold while they change their own state; taken before any other lock. Null for direct, thread_local_.
  /// For mpsc it is not the server's lock: never hold it in `call`, the server may be running a callback of the app that needs
  /// it.
  [[nodiscard]] virtual std::recursive_mutex* guard() noexcept = 0;
  /// One poll of the device's callbacks from this thread, with the lock of RuntimeOptions where there is one.
  void poll();
  /// Starts the thread of RuntimeOptions::poll.
  Expected<void> start_poller();
  /// Has that thread, where there is one, poll for a future too.
  void watch(const std::shared_ptr<Pending>& pending) {
    if (poller_) poller_->watch(pending);
  }
  [[nodiscard]] Memory& memory() noexcept { return *memory_; }
  [[nodiscard]] const DeviceInfo& info() const noexcept { return info_; }
  [[nodiscard]] Statistics statistics();

 protected:
  friend class Poller;
  void destroy() noexcept override;
  /// As `with_lock`, or false at once while another thread holds the lock. For channels of several threads.
  virtual bool try_with_lock(const std::function<void()>&) { return false; }
  /// What can be asked for without the server.
  void adopt(Server& server);
  /// One poll; the lock is held.
  virtual void poll_server() = 0;

  Ref<Memory> memory_;
  DeviceInfo info_;

 private:
  std::unique_ptr<Poller> poller_;
};

/// A future of the server, polled as its channel wants it. It keeps the device alive; what polls it does not, for the server
/// would own itself through its unfinished work.
template <typename T>
[[nodiscard]] Future<T> through(const Ref<Channel>& channel, Future<T> future) {
  if (future.is_complete()) return future;
  auto keep = std::make_shared<const Ref<Channel>>(channel);
  auto state = std::make_shared<detail::FutureState<T>>();
  auto pending = std::make_shared<PendingFuture<T>>(std::move(future), state);
  channel->watch(pending);
  state->set_drive([pending = std::move(pending), to = std::weak_ptr(state), weak = std::weak_ptr(keep)] {
    const auto fail = [&to](Failure failure) {
      if (auto owner = to.lock()) owner->complete(std::move(failure));
    };
    const auto alive = weak.lock();
    if (!alive) return fail({ErrorCode::device_lost, "client: the device is gone."});
    const Ref<Channel> held = *alive;
    std::function<void()> complete;
    if (Expected<void> polled = held->with_lock([&] { complete = pending->advance(); }); !polled) return fail(polled.error());
    if (complete) complete();
  });
  return Future<T>(std::move(state), std::move(keep));
}

/// Makes a channel of options.channel to a server that `make` creates (on the server's own thread for mpsc).
[[nodiscard]] Expected<Ref<Channel>> make_channel(const RuntimeOptions& options, std::function<Expected<Ref<Server>>()> make);

}  // namespace hearth::runtime
