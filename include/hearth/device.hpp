#pragma once
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>

#include "hearth/client.hpp"
#include "hearth/future.hpp"
#include "hearth/ref.hpp"

namespace hearth {

/// flush: pushes all pending work of every layer onto the queue and calls nothing that waits for the GPU.
/// wait: flush, then waits until the GPU has finished.
enum class SyncType : unsigned char { flush, wait };

/// How a call reaches the server of a device.
/// direct: one thread, no lock; use from another thread is an Error.
/// mutex: any thread, one lock (RuntimeOptions::lock where given).
/// mpsc: a server thread with a mailbox.
/// thread_local_: a server per (thread, device); use from another thread is an Error. The one for WebGPU in wasm with threads.
enum class ChannelKind : unsigned char { direct, mutex, mpsc, thread_local_ };

/// Extra usages of the buffers that hold tensors, so that an app can bind them directly. Combine with |.
enum class BufferUsage : unsigned char { none = 0, vertex = 1, index = 2, indirect = 4, uniform = 8 };
[[nodiscard]] constexpr BufferUsage operator|(BufferUsage a, BufferUsage b) noexcept {
  return static_cast<BufferUsage>(static_cast<unsigned char>(a) | static_cast<unsigned char>(b));
}
[[nodiscard]] constexpr bool has(BufferUsage set, BufferUsage one) noexcept {
  return (static_cast<unsigned char>(set) & static_cast<unsigned char>(one)) != 0;
}

struct RuntimeOptions {
  ChannelKind channel = ChannelKind::mutex;
  /// Taken around every call into WebGPU; the app takes it around its own calls, never while it calls Hearth.
  std::recursive_mutex* lock = nullptr;
  /// Fuse chains of operations into one kernel.
  bool fusion = true;
  BufferUsage buffer_usage = BufferUsage::none;
  /// Cap on reserved device memory in bytes; 0: none. Beyond it an allocation fails with Error(out_of_memory).
  std::uint64_t memory_limit_bytes = 0;
  /// Flushes in flight before the next flush waits; 0: never waits.
  std::uint32_t max_flushes_in_flight = 0;
  /// Poll WebGPU on a thread of Hearth's own, so that futures complete without `ready` or `get`.
  bool poll = false;
  /// Prefix of the debug labels of buffers, pipelines and encoders.
  std::string label = "hearth";

  friend bool operator==(const RuntimeOptions&, const RuntimeOptions&) = default;
};

/// Counters since the device was made; subtract two to measure a stretch.
struct Statistics {
  std::uint64_t submits = 0;
  std::uint64_t waits = 0;
  std::uint64_t dispatches = 0;
  std::uint64_t passes = 0;
  std::uint64_t bytes_written = 0;  ///< host to device
  std::uint64_t bytes_read = 0;     ///< device to host
  std::uint64_t pipelines = 0;      ///< built
  std::uint64_t bind_groups = 0;    ///< built
  std::uint64_t allocations = 0;    ///< pages and exclusive buffers taken from the device

  friend bool operator==(const Statistics&, const Statistics&) = default;
  friend Statistics operator-(const Statistics& a, const Statistics& b) noexcept {
    return {a.submits - b.submits,
            a.waits - b.waits,
            a.dispatches - b.dispatches,
            a.passes - b.passes,
            a.bytes_written - b.bytes_written,
            a.bytes_read - b.bytes_read,
            a.pipelines - b.pipelines,
            a.bind_groups - b.bind_groups,
            a.allocations - b.allocations};
  }
};

/// Device memory in bytes.
struct MemoryUsage {
  std::uint64_t in_use = 0;       ///< held by tensors
  std::uint64_t reserved = 0;     ///< taken from the device
  std::uint64_t peak = 0;         ///< highest `reserved` so far
  std::uint64_t allocations = 0;  ///< tensors' allocations alive
};

/// What a device can do. Limits as WebGPU names them.
struct DeviceInfo {
  std::string name;     ///< e.g. "NVIDIA H200"
  std::string backend;  ///< "vulkan", "metal", "d3d12", "cpu", "null"
  std::uint32_t max_storage_buffers = 8;
  std::uint64_t max_binding_bytes = 134217728;
  std::uint64_t max_buffer_bytes = 268435456;
  std::uint32_t max_workgroup_invocations = 256;
  std::uint32_t max_workgroup_size_x = 256;
  std::uint32_t max_workgroup_size_y = 256;
  std::uint32_t max_workgroup_size_z = 64;
  std::uint32_t max_workgroup_bytes = 16384;
  std::uint32_t max_workgroups_per_dimension = 65535;
  std::uint32_t storage_alignment = 256;
  std::uint32_t uniform_alignment = 256;
  bool f16 = false;
  bool f64 = false;
  bool subgroups = false;
  bool timestamps = false;
};

enum class Power : unsigned char { any, low, high };

/// Which adapter an own device is made from.
struct DeviceOptions {
  std::string adapter;  ///< part of the adapter's name, any case; empty: any
  std::string backend;  ///< "vulkan", "metal", "d3d12", "gl"; empty: any
  Power power = Power::high;
};

/// A device with its runtime and executors; cheap to copy, all copies are the same device.
/// Destroyed when the last Device, Tensor and Handle of it is gone.
class Device {
 public:
  Device() = default;
  explicit Device(Ref<graph::Context> context) : context_(std::move(context)) {}

  /// The CPU device of the process.
  [[nodiscard]] static Device cpu();
  [[nodiscard]] static Device cpu(const RuntimeOptions& options);
  /// The default GPU: one for the process, made at the first call. Throws Error(no_adapter).
  [[nodiscard]] static Device gpu();
  /// Records launches and executes nothing; reads give zeros. For tests.
  [[nodiscard]] static Device null(const RuntimeOptions& options = {}, const DeviceInfo& info = {});

  [[nodiscard]] const DeviceInfo& info() const;
  [[nodiscard]] const RuntimeOptions& options() const;

  /// Pushes all pending work (flush), and waits for it (wait). Throws the first error of that work.
  void sync(SyncType type) const;
  /// Flushes now; the future completes when the device has finished.
  [[nodiscard]] Future<void> sync_async() const;
  /// Lets WebGPU run its callbacks once, so that futures move on.
  void poll() const;

  [[nodiscard]] Statistics statistics() const;
  [[nodiscard]] MemoryUsage memory_usage() const;
  /// Gives unused pages and buffers back to the device.
  void memory_cleanup() const;
  [[nodiscard]] Client client() const;

  explicit operator bool() const noexcept { return static_cast<bool>(context_); }
  friend bool operator==(const Device& a, const Device& b) noexcept { return a.context_ == b.context_; }
  [[nodiscard]] const Ref<graph::Context>& context() const noexcept { return context_; }

 private:
  Ref<graph::Context> context_;
};

namespace webgpu {
/// Makes an own device: the adapter by name, power and backend; limits raised to the adapter's, its useful features on.
[[nodiscard]] Future<Device> init_device_async(const DeviceOptions& options = {}, const RuntimeOptions& runtime = {});
/// init_device_async and a wait. Throws Error(no_adapter), naming the adapters that there are.
[[nodiscard]] Device init_device(const DeviceOptions& options = {}, const RuntimeOptions& runtime = {});
}  // namespace webgpu

}  // namespace hearth
