#pragma once
#include <coroutine>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "hearth/error.hpp"

namespace hearth {

namespace detail {

/// Lets the thread rest between two polls of `get`; longer with every round. Throws Error(would_block) where waiting is
/// forbidden.
void wait_round(int round);

template <typename T>
class FutureState {
 public:
  using Result = Expected<T>;

  /// `drive` makes progress without blocking; called without any lock of the state, by any consumer. Dropped at completion.
  void set_drive(std::function<void()> drive) {
    auto shared = std::make_shared<const std::function<void()>>(std::move(drive));
    std::scoped_lock lock(mutex_);
    if (!result_) drive_ = std::move(shared);
  }
  /// Nobody waits any more.
  void stop_driving() {
    std::shared_ptr<const std::function<void()>> drive;
    std::scoped_lock lock(mutex_);
    drive.swap(drive_);
  }
  void complete(Result result) {
    std::vector<std::function<void()>> continuations;
    std::shared_ptr<const std::function<void()>> drive;
    {
      std::scoped_lock lock(mutex_);
      if (result_) return;
      result_.emplace(std::move(result));
      continuations.swap(continuations_);
      drive.swap(drive_);
    }
    for (auto& continuation : continuations) continuation();
  }
  [[nodiscard]] bool ready() {
    std::shared_ptr<const std::function<void()>> drive;
    {
      std::scoped_lock lock(mutex_);
      if (result_) return true;
      drive = drive_;  // kept alive: completion inside the call drops the state's own
    }
    if (drive) (*drive)();
    return is_complete();
  }
  [[nodiscard]] bool is_complete() {
    std::scoped_lock lock(mutex_);
    return result_.has_value();
  }
  Result take() {
    std::scoped_lock lock(mutex_);
    return std::move(*result_);
  }
  /// Runs `continuation` once complete: at once if it is already, else on the thread whose poll completes it.
  void on_complete(std::function<void()> continuation) {
    {
      std::scoped_lock lock(mutex_);
      if (!result_) {
        continuations_.push_back(std::move(continuation));
        return;
      }
    }
    continuation();
  }

 private:
  std::mutex mutex_;
  std::optional<Result> result_;
  std::shared_ptr<const std::function<void()>> drive_;
  std::vector<std::function<void()>> continuations_;
};

}  // namespace detail

template <typename T>
class Promise;

/// A value that a device is still computing. Movable to another thread and waited on there (native); one consumer.
/// Progress is made only inside `ready`, `get` and `wait`, on the calling thread: that poll also runs the app's own
/// WebGPU callbacks. On a page's main thread without JSPI or ASYNCIFY `get` throws Error(would_block) at once.
template <typename T>
class [[nodiscard]] Future {
 public:
  Future() = default;
  Future(Future&& other) noexcept = default;
  Future& operator=(Future&& other) noexcept {
    Future taken(std::move(other));
    std::swap(state_, taken.state_);
    std::swap(keep_, taken.keep_);
    return *this;
  }
  /// Dropped before it completes, a future no longer polls; functions given to `then` still run if the value comes otherwise.
  ~Future() {
    if (state_) state_->stop_driving();
  }
  explicit Future(std::shared_ptr<detail::FutureState<T>> state, std::shared_ptr<const void> keep = {})
      : state_(std::move(state)), keep_(std::move(keep)) {}
  /// A future that is complete already.
  static Future ready_with(Expected<T> result) {
    auto state = std::make_shared<detail::FutureState<T>>();
    state->complete(std::move(result));
    return Future(std::move(state));
  }

  [[nodiscard]] bool valid() const noexcept { return state_ != nullptr; }
  /// Polls once; true when `get` returns without waiting.
  [[nodiscard]] bool ready() const { return state_->ready(); }
  /// True when complete, without a poll.
  [[nodiscard]] bool is_complete() const { return state_->is_complete(); }
  /// Waits until complete; the result stays inside.
  void wait() const {
    for (int round = 0; !state_->ready(); ++round) detail::wait_round(round);
  }
  /// Waits, then gives the value or throws its Error. Once only.
  T get() {
    wait();
    return std::move(*this).take().value();
  }
  /// As `get`, without the throw.
  Expected<T> result() {
    wait();
    return std::move(*this).take();
  }
  /// A future of `function(value)`, run on the thread whose poll completes this one. A failure is passed on; an Error
  /// that `function` throws becomes a failure of the returned future.
  template <typename F>
  auto then(F function) && {
    using U = typename std::conditional_t<std::is_void_v<T>, std::invoke_result<F>, std::invoke_result<F, T>>::type;
    auto next = std::make_shared<detail::FutureState<U>>();
    auto state = std::move(state_);
    drive_through(next, state, [](const std::function<void()>& poll) -> Expected<void> {
      poll();
      return {};
    });
    state->on_complete(
        [raw = state.get(), next, function = std::move(function)]() mutable { next->complete(apply<U>(function, raw->take())); });
    return Future<U>(std::move(next), std::move(keep_));
  }

  /// The same result, but every poll goes through `around`, which runs the poll it is given (under a lock, say) or fails: then
  /// the future completes with that failure. `keep` lives as long as this future or one made of it by `then`.
  Future driven(std::shared_ptr<const void> keep, std::function<Expected<void>(const std::function<void()>& poll)> around) && {
    auto next = std::make_shared<detail::FutureState<T>>();
    auto state = std::move(state_);
    drive_through(next, state, std::move(around));
    state->on_complete([raw = state.get(), next] { next->complete(raw->take()); });
    return Future(std::move(next), std::move(keep));
  }

  // co_await: resumes on the thread whose poll completes the future.
  [[nodiscard]] bool await_ready() const { return ready(); }
  void await_suspend(std::coroutine_handle<> handle) const {
    state_->on_complete([handle] { handle.resume(); });
  }
  T await_resume() { return std::move(*this).take().value(); }

 private:
  template <typename U, typename F>
  static Expected<U> apply(F& function, Expected<T> result) {
    if (!result) return result.error();
    try {
      if constexpr (std::is_void_v<T>) {
        if constexpr (std::is_void_v<U>) {
          function();
          return {};
        } else {
          return function();
        }
      } else if constexpr (std::is_void_v<U>) {
        function(std::move(*result));
        return {};
      } else {
        return function(std::move(*result));
      }
    } catch (const Error& error) {
      return error.failure();
    }
  }
  Expected<T> take() && { return std::exchange(state_, nullptr)->take(); }
  /// Polls of `next` poll `state`. Each owns the other until the value comes or the future of `next` is dropped.
  template <typename U, typename Around>
  static void drive_through(const std::shared_ptr<detail::FutureState<U>>& next, std::shared_ptr<detail::FutureState<T>> state,
                            Around around) {
    next->set_drive([weak = std::weak_ptr(next), state = std::move(state), around = std::move(around)] {
      Expected<void> polled = around([&state] { (void)state->ready(); });
      if (polled) return;
      if (auto owner = weak.lock()) owner->complete(polled.error());
    });
  }

  std::shared_ptr<detail::FutureState<T>> state_;
  std::shared_ptr<const void> keep_;  ///< what must live for the value to come
};

/// The producing side of a Future; copies are the same. When the last goes without `complete`, the future fails.
template <typename T>
class Promise {
 public:
  Promise() : producer_(std::make_shared<const Producer>()) {}
  [[nodiscard]] Future<T> future() const { return Future<T>(producer_->state); }
  /// `drive` makes progress without blocking; set before the future is handed out.
  void set_drive(std::function<void()> drive) const { producer_->state->set_drive(std::move(drive)); }
  void complete(Expected<T> result) const { producer_->state->complete(std::move(result)); }

 private:
  struct Producer {
    std::shared_ptr<detail::FutureState<T>> state = std::make_shared<detail::FutureState<T>>();
    Producer() = default;
    Producer(const Producer&) = delete;
    ~Producer() { state->complete(Failure{ErrorCode::device_lost, "future: what computes its value is gone."}); }
  };
  std::shared_ptr<const Producer> producer_;
};

}  // namespace hearth
