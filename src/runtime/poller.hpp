#pragma once
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "hearth/error.hpp"
#include "hearth/future.hpp"

namespace hearth::runtime {

/// A future of a server that somebody polls: its consumer, or the thread of RuntimeOptions::poll.
class Pending {
 public:
  virtual ~Pending() = default;
  /// One poll, with the channel's lock held. When the value has come it gives, once, what hands it over: a function that is
  /// called without the lock, for continuations of the app run inside.
  [[nodiscard]] virtual std::function<void()> advance() = 0;
};

template <typename T>
class PendingFuture final : public Pending {
 public:
  PendingFuture(Future<T> from, const std::shared_ptr<detail::FutureState<T>>& to) : from_(std::move(from)), to_(to) {}

  std::function<void()> advance() override {
    if (!from_.valid() || !from_.ready()) return {};
    auto result = std::make_shared<Expected<T>>(from_.result());
    return [to = to_, result] {
      if (auto owner = to.lock()) owner->complete(std::move(*result));
    };
  }

 private:
  Future<T> from_;  ///< no longer valid once its value is taken
  std::weak_ptr<detail::FutureState<T>> to_;
};

class Channel;

/// The thread of RuntimeOptions::poll. It owns no reference to its channel, which stops it and waits for it before it goes: so an
/// app that has dropped a device may destroy the lock and the objects that it gave to it.
class Poller {
 public:
  explicit Poller(Channel& channel) : channel_(channel) {}
  Poller(const Poller&) = delete;
  Poller& operator=(const Poller&) = delete;

  Expected<void> start();
  /// Polls for a future until it completes or nobody holds it any more.
  void watch(const std::shared_ptr<Pending>& pending);
  /// Ends the thread. False on the thread itself, inside a callback: then it deletes the channel when that has returned.
  [[nodiscard]] bool stop() noexcept;

 private:
  void run();
  /// Polls once for the app's callbacks and for each of `watched`; nothing while another thread is using the server.
  void poll_once(std::vector<std::weak_ptr<Pending>>& watched);

  Channel& channel_;
  std::thread thread_;
  bool orphaned_ = false;  ///< the thread's own
  std::mutex mutex_;       ///< of what follows
  std::condition_variable woken_;
  std::vector<std::weak_ptr<Pending>> arrived_;
  bool stopping_ = false;
};

}  // namespace hearth::runtime
