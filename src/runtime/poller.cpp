#include "runtime/poller.hpp"

#include <algorithm>
#include <chrono>
#include <system_error>

#include "runtime/channel.hpp"

namespace hearth::runtime {

Expected<void> Poller::start() {
  try {
    thread_ = std::thread([this] { run(); });
  } catch (const std::system_error&) {
    return Failure{ErrorCode::unsupported, "RuntimeOptions: poll needs a thread, and none can be made here."};
  }
  return {};
}

void Poller::watch(const std::shared_ptr<Pending>& pending) {
  const std::scoped_lock guard(mutex_);
  arrived_.push_back(pending);
  woken_.notify_one();
}

bool Poller::stop() noexcept {
  {
    const std::scoped_lock guard(mutex_);
    stopping_ = true;
    woken_.notify_one();
  }
  if (thread_.get_id() == std::this_thread::get_id()) {
    orphaned_ = true;
    return false;
  }
  thread_.join();
  return true;
}

void Poller::run() {
  // As a consumer that waits, at most: a millisecond between two polls when the device takes its time or has nothing to do.
  constexpr int shortest_us = 16, most_doublings = 6;
  std::vector<std::weak_ptr<Pending>> watched;
  for (int round = 0;; ++round) {
    {
      std::unique_lock guard(mutex_);
      const auto rest = std::chrono::microseconds(shortest_us << std::min(round / 8, most_doublings));
      woken_.wait_for(guard, rest, [this] { return stopping_ || !arrived_.empty(); });
      if (stopping_) break;
      if (!arrived_.empty()) round = 0;
      watched.insert(watched.end(), arrived_.begin(), arrived_.end());
      arrived_.clear();
    }
    poll_once(watched);
  }
  if (!orphaned_) return;
  thread_.detach();
  delete &channel_;  // and this with it
}

void Poller::poll_once(std::vector<std::weak_ptr<Pending>>& watched) {
  std::vector<std::function<void()>> completions;
  const auto poll = [&] {
    channel_.poll_server();
    for (std::weak_ptr<Pending>& weak : watched)
      if (const std::shared_ptr<Pending> pending = weak.lock())
        if (std::function<void()> complete = pending->advance()) {
          completions.push_back(std::move(complete));
          weak.reset();
        }
    watched.erase(std::remove_if(watched.begin(), watched.end(), [](const auto& weak) { return weak.expired(); }), watched.end());
  };
  // Never waits for the lock: whoever holds it may be the one that waits in `stop`.
  if (!channel_.try_with_lock(poll)) return;
  for (const std::function<void()>& complete : completions) complete();
}

}  // namespace hearth::runtime
