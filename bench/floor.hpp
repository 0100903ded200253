#pragma once
#include <webgpu/webgpu.h>

#include <cstdint>
#include <vector>

/// The floor of every launch figure: the same work in plain webgpu.h with everything cached.
namespace floor_bench {

struct Gpu {
  WGPUInstance instance = nullptr;
  WGPUAdapter adapter = nullptr;
  WGPUDevice device = nullptr;
  WGPUQueue queue = nullptr;
};

/// A device as an app makes it, default limits. Exits with 77 when there is no adapter.
Gpu open();
void close(Gpu& gpu);
/// Waits until the queue is idle.
void wait(const Gpu& gpu);

/// x = x + y on 64 floats between two buffers and back.
class Adds {
 public:
  explicit Adds(const Gpu& gpu);
  ~Adds();
  /// Encodes `count` dependent adds in one pass and submits.
  void run(int count);
  /// Nanoseconds a dispatch to encode (without the submit).
  double encode_seconds(int count);

 private:
  Gpu gpu_;
  WGPUComputePipeline pipeline_ = nullptr;
  WGPUBuffer buffers_[3] = {};
  WGPUBindGroup groups_[2] = {};
};

}  // namespace floor_bench
