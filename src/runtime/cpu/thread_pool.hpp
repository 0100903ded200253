#pragma once
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace hearth::runtime::cpu {

/// Threads of one device that share out a loop with the calling thread. They start at the first loop that is worth it.
/// (Eigen's pool is built for task graphs and on fences that the thread sanitizer does not know.)
class ThreadPool {
 public:
  explicit ThreadPool(int threads) : size_(threads < 1 ? 1 : threads) {}
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  using Body = std::function<void(std::int64_t, std::int64_t)>;
  /// Runs body(begin, end) over [0, count) in pieces of at least `grain`; returns when all are done. A loop inside a loop, or one
  /// of two at the same time, runs on its caller alone.
  void parallel_for(std::int64_t count, std::int64_t grain, const Body& body);
  /// Threads that a loop may use, the caller's included.
  [[nodiscard]] int size() const noexcept { return size_; }

 private:
  void start();
  void work();
  void run_pieces();

  const int size_;
  std::vector<std::thread> threads_;
  std::mutex one_loop_;

  std::mutex mutex_;  ///< of open_, stopping_, and of changes to the loop
  std::condition_variable loop_opened_;
  std::condition_variable worker_left_;
  bool open_ = false;
  bool stopping_ = false;
  std::atomic<std::uint64_t> loops_{0};  ///< opened so far
  std::atomic<int> active_{0};           ///< workers inside the loop

  const Body* body_ = nullptr;
  std::int64_t count_ = 0, piece_ = 0;
  std::atomic<std::int64_t> next_{0};
};

}  // namespace hearth::runtime::cpu
