#pragma once
#include <functional>
#include <mutex>
#include <thread>

#include "hearth/device.hpp"
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
  [[nodiscard]] Memory& memory() noexcept { return *memory_; }
  [[nodiscard]] const DeviceInfo& info() const noexcept { return info_; }
  [[nodiscard]] Statistics statistics();

 protected:
  /// What can be asked for without the server.
  void adopt(Server& server);
  /// One poll; the lock is held.
  virtual void poll_server() = 0;

  Ref<Memory> memory_;
  DeviceInfo info_;
};

/// A future of the server, polled as its channel wants it. It keeps the device alive; what polls it does not, for the server
/// would own itself through its unfinished work.
template <typename T>
[[nodiscard]] Future<T> through(const Ref<Channel>& channel, Future<T> future) {
  if (future.is_complete()) return future;
  auto keep = std::make_shared<const Ref<Channel>>(channel);
  return std::move(future).driven(keep, [weak = std::weak_ptr(keep)](const std::function<void()>& poll) -> Expected<void> {
    const auto alive = weak.lock();
    if (!alive) return Failure{ErrorCode::device_lost, "client: the device is gone."};
    const Ref<Channel> held = *alive;
    return held->with_lock(poll);
  });
}

/// Makes a channel of options.channel to a server that `make` creates (on the server's own thread for mpsc).
[[nodiscard]] Expected<Ref<Channel>> make_channel(const RuntimeOptions& options, std::function<Expected<Ref<Server>>()> make);

}  // namespace hearth::runtime
