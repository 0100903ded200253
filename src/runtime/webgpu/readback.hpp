#pragma once
#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include "hearth/future.hpp"
#include "runtime/webgpu/gpu.hpp"

namespace hearth::runtime::webgpu {

/// A buffer that the device copies into and the host maps.
struct StagingBuffer {
  Owned<WGPUBuffer> buffer;
  std::uint64_t size = 0;
};

/// Staging buffers for reads, used again in turn. Taken by the server, given back by whoever finishes a read.
class Staging {
 public:
  explicit Staging(std::shared_ptr<Gpu> gpu) : gpu_(std::move(gpu)) {}

  Expected<StagingBuffer> take(std::uint64_t size);
  /// Unmapped and free of commands that are not submitted.
  void give_back(StagingBuffer buffer);
  /// A buffer whose map may still be pending, given up by a thread that may hold no lock; released at the next `take` or `drain`.
  void abandon(Owned<WGPUBuffer> buffer);
  void drain();

 private:
  std::shared_ptr<Gpu> gpu_;
  std::mutex mutex_;
  std::vector<StagingBuffer> free_;
  std::uint64_t free_bytes_ = 0;
  std::vector<Owned<WGPUBuffer>> abandoned_;
};

/// What a callback found out. It may come after everybody has lost interest: shared by the callback and the future.
struct Signal {
  std::atomic<int> status{0};  ///< 0: not called yet; else a WGPU...Status, or -1 for a map of a buffer that cannot be mapped
};
/// userdata of a callback, which owns a reference.
[[nodiscard]] void* keep(const std::shared_ptr<Signal>& signal);
[[nodiscard]] std::shared_ptr<Signal> taken(void* userdata);

/// A read on its way: copies into staging buffers are submitted, maps are pending.
class Readback {
 public:
  Readback(std::shared_ptr<Gpu> gpu, std::shared_ptr<Staging> staging, std::uint64_t skip, std::uint64_t size)
      : gpu_(std::move(gpu)), staging_(std::move(staging)), skip_(skip), size_(size) {}
  ~Readback();

  void add(StagingBuffer buffer, std::uint64_t bytes) {
    parts_.push_back({std::move(buffer), bytes, std::make_shared<Signal>()});
  }
  /// Starts the maps, after the submit.
  void map();
  [[nodiscard]] bool is_ready() const;
  /// The bytes; once, when ready.
  Expected<std::vector<std::byte>> finish();
  [[nodiscard]] Gpu& gpu() const noexcept { return *gpu_; }

 private:
  struct Part {
    StagingBuffer buffer;
    std::uint64_t bytes = 0;
    std::shared_ptr<Signal> mapped;
  };

  std::shared_ptr<Gpu> gpu_;
  std::shared_ptr<Staging> staging_;
  std::uint64_t skip_;  ///< bytes before those asked for
  std::uint64_t size_;
  std::vector<Part> parts_;
};

/// The future of a read whose maps have begun. It owns the read; the server need not live on.
[[nodiscard]] Future<std::vector<std::byte>> future_of(std::shared_ptr<Readback> readback);
/// The future of everything that was submitted so far.
[[nodiscard]] Future<void> work_done(const std::shared_ptr<Gpu>& gpu);
/// The signal of the same.
[[nodiscard]] std::shared_ptr<Signal> signal_work_done(Gpu& gpu);

}  // namespace hearth::runtime::webgpu
