#pragma once
#include <array>
#include <cstdint>

#include "runtime/webgpu/bind_groups.hpp"
#include "runtime/webgpu/upload.hpp"

namespace hearth::runtime::webgpu {

/// Commands on their way into one encoder: Hearth's own, or the app's. Dispatches gather in one compute pass; a copy ends it.
class Recording {
 public:
  Recording(Gpu& gpu, Statistics& statistics) : uploads(gpu), gpu_(gpu), statistics_(statistics) {}
  ~Recording() { end_pass(); }

  /// Goes on in the app's encoder.
  void borrow(WGPUCommandEncoder encoder) {
    own_ = Owned<WGPUCommandEncoder>::borrow(encoder);
    borrowed_ = true;
  }
  [[nodiscard]] bool is_open() const noexcept { return static_cast<bool>(own_); }
  /// Makes the encoder when there is none, and the pass.
  Expected<void> open_pass() { return pass_ ? Expected<void>() : begin_pass(); }
  /// Makes the encoder when there is none, and ends the pass: for copies.
  Expected<WGPUCommandEncoder> open_for_copies();

  /// The pass is open.
  void dispatch(WGPUComputePipeline pipeline, const FoundGroup& group, bool dynamic, std::uint32_t offset,
                const std::array<std::uint32_t, 3>& workgroups) {
    if (pipeline != pipeline_) wgpuComputePassEncoderSetPipeline(pass_.get(), pipeline_ = pipeline);
    if (group.serial != group_ || offset != offset_) {
      wgpuComputePassEncoderSetBindGroup(pass_.get(), 0, group.group, dynamic ? 1 : 0, dynamic ? &offset : nullptr);
      group_ = group.serial;
      offset_ = offset;
    }
    wgpuComputePassEncoderDispatchWorkgroups(pass_.get(), workgroups[0], workgroups[1], workgroups[2]);
    ++dispatches_;
    ++statistics_.dispatches;
  }
  [[nodiscard]] std::uint32_t dispatches() const noexcept { return dispatches_; }

  void end_pass() noexcept;
  /// Gives the encoder up; what follows is recorded into another one.
  [[nodiscard]] Owned<WGPUCommandEncoder> take_encoder() noexcept;

  /// Never the same for two encoders of a device: what Allocation::last_use holds.
  std::uint64_t number = 0;
  Arena uploads;

 private:
  Expected<void> open();
  Expected<void> begin_pass();

  Gpu& gpu_;
  Statistics& statistics_;
  bool borrowed_ = false;
  Owned<WGPUCommandEncoder> own_;
  Owned<WGPUComputePassEncoder> pass_;
  // What the pass has set: setting it again would be work for nothing.
  WGPUComputePipeline pipeline_ = nullptr;
  std::uint64_t group_ = 0;
  std::uint32_t offset_ = 0;
  std::uint32_t dispatches_ = 0;
};

}  // namespace hearth::runtime::webgpu
