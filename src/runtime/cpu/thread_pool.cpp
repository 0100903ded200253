#include "runtime/cpu/thread_pool.hpp"

#include <algorithm>

namespace hearth::runtime::cpu {

namespace {

/// Looks before a thread goes to sleep: about as long as a sleeping thread takes to wake (tens of microseconds).
constexpr int looks = 2000;

void pause() noexcept {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#else
  std::this_thread::yield();
#endif
}

}  // namespace

ThreadPool::~ThreadPool() {
  {
    std::scoped_lock guard(mutex_);
    stopping_ = true;
    loops_.fetch_add(1, std::memory_order_release);
  }
  loop_opened_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void ThreadPool::start() {
  for (int i = 1; i < size_; ++i) threads_.emplace_back([this] { work(); });
}

void ThreadPool::run_pieces() {
  for (;;) {
    const std::int64_t begin = next_.fetch_add(piece_, std::memory_order_relaxed);
    if (begin >= count_) return;
    (*body_)(begin, std::min(begin + piece_, count_));
  }
}

void ThreadPool::parallel_for(std::int64_t count, std::int64_t grain, const Body& body) {
  if (count <= 0) return;
  grain = std::max<std::int64_t>(grain, 1);
  std::unique_lock<std::mutex> mine(one_loop_, std::defer_lock);
  if (size_ == 1 || count <= grain || !mine.try_lock()) return body(0, count);
  if (threads_.empty()) start();
  {
    std::scoped_lock guard(mutex_);
    body_ = &body;
    count_ = count;
    // Four pieces a thread even out what each takes.
    piece_ = std::max(grain, (count + 4 * size_ - 1) / (4 * size_));
    next_.store(0, std::memory_order_relaxed);
    open_ = true;
    loops_.fetch_add(1, std::memory_order_release);
  }
  loop_opened_.notify_all();
  run_pieces();
  {
    std::scoped_lock guard(mutex_);
    open_ = false;  // a worker that wakes now stays outside
  }
  for (int i = 0; i < looks && active_.load(std::memory_order_acquire) != 0; ++i) pause();
  std::unique_lock guard(mutex_);
  worker_left_.wait(guard, [this] { return active_.load(std::memory_order_acquire) == 0; });
}

void ThreadPool::work() {
  std::uint64_t seen = 0;
  for (;;) {
    for (int i = 0; i < looks && loops_.load(std::memory_order_acquire) == seen; ++i) pause();
    {
      std::unique_lock guard(mutex_);
      loop_opened_.wait(guard, [&] { return loops_.load(std::memory_order_acquire) != seen; });
      seen = loops_.load(std::memory_order_acquire);
      if (stopping_) return;
      if (!open_) continue;
      active_.fetch_add(1, std::memory_order_relaxed);
    }
    run_pieces();
    std::scoped_lock guard(mutex_);
    active_.fetch_sub(1, std::memory_order_release);
    worker_left_.notify_one();
  }
}

}  // namespace hearth::runtime::cpu
