#pragma once
#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>

#include "hearth/device.hpp"
#include "hearth/error.hpp"
#include "runtime/webgpu/handle.hpp"

namespace hearth::runtime::webgpu {

/// The objects of one device, its answers, and what is known about its health. Shared by the server and by what may outlive it:
/// futures, memory.
struct Gpu {
  Owned<WGPUInstance> instance;
  Owned<WGPUAdapter> adapter;  ///< may be null
  Owned<WGPUDevice> device;
  Owned<WGPUQueue> queue;
  DeviceInfo info;
  std::string label;  ///< prefix of debug labels

  /// Asks the device whether it is lost; costs less than a microsecond, waits for nothing. Once lost, always lost.
  [[nodiscard]] bool is_lost() noexcept;
  /// Whether somebody has found out already; costs nothing.
  [[nodiscard]] bool was_lost() const noexcept { return lost_.load(std::memory_order_relaxed); }
  /// Lets the callbacks that are due run, Hearth's and the app's.
  void poll() noexcept;

  /// Numbers of buffers that are no blocks of Memory, in keys of bind groups: the upper half, blocks count from 1.
  [[nodiscard]] std::uint64_t new_id() noexcept { return ++last_id_; }

 private:
  std::atomic<bool> lost_{false};
  std::uint64_t last_id_ = std::uint64_t{1} << 63;
};

/// What an error scope listens to.
inline constexpr unsigned validation = 1, out_of_memory = 2;
#if defined(HEARTH_WEBGPU_IS_WGPU)
inline constexpr unsigned internal = 0;  // it has no such scope, and ends the process for one
#else
inline constexpr unsigned internal = 4;
#endif

/// Catches the errors of the WebGPU calls made while it is open, so that none reaches the app's callback. Opened and closed on
/// one thread, under one lock, with no other code in between: scopes are a stack, per device in wgpu-native and per thread in
/// Dawn.
class ErrorScope {
 public:
  explicit ErrorScope(Gpu& gpu, unsigned filters = validation) noexcept;
  ~ErrorScope();
  ErrorScope(const ErrorScope&) = delete;
  ErrorScope& operator=(const ErrorScope&) = delete;

  /// The failure of what was called inside, named by `operation`. A shader's message keeps its lines when `code` is compilation.
  Expected<void> close(std::string_view operation, ErrorCode code = ErrorCode::validation);

 private:
  Gpu& gpu_;
  unsigned filters_;
};

/// Whether the platform lets a thread other than the app's poll, as RuntimeOptions::poll asks.
[[nodiscard]] Expected<void> check_poll(const RuntimeOptions& options);

[[nodiscard]] Failure device_lost(std::string_view operation);

}  // namespace hearth::runtime::webgpu
