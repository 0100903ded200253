#include <condition_variable>
#include <deque>
#include <functional>
#include <optional>

#include "runtime/channel_kinds.hpp"

namespace hearth::runtime {

namespace {

/// What the channel and its thread share; the thread may outlive the channel by a moment.
struct Mailbox {
  explicit Mailbox(std::recursive_mutex* app_lock) : lock(app_lock ? app_lock : &own_lock) {}

  /// Around every use of the server, on whichever thread. Taken before `mutex`.
  std::recursive_mutex own_lock;
  std::recursive_mutex* lock;
  int depth = 0;  ///< how often `holder` took the lock
  std::atomic<std::thread::id> holder{};
  Ref<Server> server;

  std::mutex mutex;  ///< of what follows
  std::condition_variable arrived;
  std::deque<Channel::Task> tasks;
  bool stopping = false;
  std::optional<Failure> failure;

  /// True on the thread that runs a task or a poll now: it must not wait for the server.
  bool held_here() const noexcept { return holder.load(std::memory_order_relaxed) == std::this_thread::get_id(); }
};

class Holding {
 public:
  explicit Holding(Mailbox& mailbox) : mailbox_(mailbox) {
    mailbox_.lock->lock();
    note();
  }
  /// The lock is taken already.
  Holding(Mailbox& mailbox, std::adopt_lock_t) : mailbox_(mailbox) { note(); }
  ~Holding() {
    if (--mailbox_.depth == 0) mailbox_.holder.store(std::thread::id(), std::memory_order_relaxed);
    mailbox_.lock->unlock();
  }
  Holding(const Holding&) = delete;
  Holding& operator=(const Holding&) = delete;

 private:
  void note() noexcept {
    if (mailbox_.depth++ == 0) mailbox_.holder.store(std::this_thread::get_id(), std::memory_order_relaxed);
  }

  Mailbox& mailbox_;
};

/// Runs the oldest task, if any. Tasks are taken with the lock held, so they run in order on whatever thread.
bool run_next(Mailbox& mailbox) {
  Channel::Task task;
  const Holding holding(mailbox);
  {
    std::scoped_lock guard(mailbox.mutex);
    if (mailbox.tasks.empty()) return false;
    task = std::move(mailbox.tasks.front());
    mailbox.tasks.pop_front();
  }
  Expected<void> done = task(*mailbox.server);
  task = nullptr;
  if (!done) {
    std::scoped_lock guard(mailbox.mutex);
    if (!mailbox.failure) mailbox.failure = done.error();
  }
  return true;
}

void serve(const std::shared_ptr<Mailbox>& mailbox) {
  for (;;) {
    {
      std::unique_lock guard(mailbox->mutex);
      mailbox->arrived.wait(guard, [&] { return mailbox->stopping || !mailbox->tasks.empty(); });
      if (mailbox->tasks.empty()) break;
    }
    (void)run_next(*mailbox);
  }
  const Holding holding(*mailbox);
  mailbox->server = nullptr;
}

/// One answer, waited for.
class Reply {
 public:
  void give(Expected<void> result) {
    std::scoped_lock guard(mutex_);
    result_ = std::move(result);
    given_.notify_one();  // under the mutex: the waiter destroys this
  }
  Expected<void> wait() {
    std::unique_lock guard(mutex_);
    given_.wait(guard, [this] { return result_.has_value(); });
    return std::move(*result_);
  }

 private:
  std::mutex mutex_;
  std::condition_variable given_;
  std::optional<Expected<void>> result_;
};

/// A server thread with a mailbox.
class MpscChannel final : public Channel {
 public:
  explicit MpscChannel(std::recursive_mutex* app_lock) : mailbox_(std::make_shared<Mailbox>(app_lock)) {}

  Expected<void> start(MakeServer make) {
    Reply reply;
    thread_ = std::thread([mailbox = mailbox_, make = std::move(make), &reply]() mutable {
      {
        const Holding holding(*mailbox);
        Expected<Ref<Server>> server = make();
        make = nullptr;
        if (!server) {
          reply.give(server.error());
          return;
        }
        mailbox->server = std::move(*server);
      }
      reply.give({});
      serve(mailbox);
    });
    Expected<void> started = reply.wait();
    if (started) adopt(*mailbox_->server);
    return started;
  }
  ~MpscChannel() override {
    {
      std::scoped_lock guard(mailbox_->mutex);
      mailbox_->stopping = true;
      mailbox_->arrived.notify_one();
    }
    // The last reference may go inside a task: the thread cannot join itself, and ends after that task.
    if (!thread_.joinable()) return;
    if (thread_.get_id() == std::this_thread::get_id()) {
      thread_.detach();
    } else {
      thread_.join();
    }
  }

  ChannelKind kind() const noexcept override { return ChannelKind::mpsc; }
  Expected<void> post(Task task) override {
    std::scoped_lock guard(mailbox_->mutex);
    mailbox_->tasks.push_back(std::move(task));
    mailbox_->arrived.notify_one();
    return {};
  }
  Expected<void> call(const Task& task) override {
    const Ref<Channel> self(this);
    if (mailbox_->held_here()) {
      // A callback of the app, run by a task or a poll of this very thread, calls Hearth: nobody else can run what is pending.
      while (run_next(*mailbox_)) {
      }
      return task(*mailbox_->server);
    }
    Reply reply;
    (void)post([&task, &reply](Server& server) -> Expected<void> {
      reply.give(task(server));
      return {};
    });
    return reply.wait();
  }
  Expected<void> take_failure() override {
    std::scoped_lock guard(mailbox_->mutex);
    if (!mailbox_->failure) return {};
    Failure failure = std::move(*mailbox_->failure);
    mailbox_->failure.reset();
    return failure;
  }
  Expected<void> with_lock(const std::function<void()>& body) override {
    const Holding holding(*mailbox_);
    body();
    return {};
  }
  Server* inline_server() noexcept override { return nullptr; }
  Expected<void> check_thread() const override { return {}; }
  std::recursive_mutex* guard() noexcept override { return &guard_; }

 private:
  void poll_server() override { mailbox_->server->poll(); }
  bool try_with_lock(const std::function<void()>& body) override {
    if (!mailbox_->lock->try_lock()) return false;
    const Holding holding(*mailbox_, std::adopt_lock);
    body();
    return true;
  }

  std::shared_ptr<Mailbox> mailbox_;
  std::thread thread_;
  std::recursive_mutex guard_;
};

}  // namespace

Expected<Ref<Channel>> make_mpsc_channel(const RuntimeOptions& options, MakeServer make) {
  auto channel = make_ref<MpscChannel>(options.lock);
  Expected<void> started = channel->start(std::move(make));
  if (!started) return started.error();
  return Ref<Channel>(channel.get());
}

}  // namespace hearth::runtime
