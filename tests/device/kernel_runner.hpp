#pragma once
#include <webgpu/webgpu.h>

#include <string>
#include <vector>

#include "hearth/device.hpp"
#include "ir/print_wgsl.hpp"

namespace hearth::test {

/// Compiles and runs printed kernels on a WebGPU device of its own, with nothing of Hearth's runtime.
class KernelRunner {
 public:
  KernelRunner();
  ~KernelRunner();
  KernelRunner(const KernelRunner&) = delete;
  KernelRunner& operator=(const KernelRunner&) = delete;

  [[nodiscard]] bool available() const { return device_ != nullptr; }
  [[nodiscard]] const DeviceInfo& info() const { return info_; }
  /// Runs all stages; `memory` holds the kernel's bindings, and what they hold afterwards. Gives the compiler's message, or "".
  std::string run(const ir::Wgsl& wgsl, std::vector<std::vector<std::byte>>& memory,
                  const std::vector<std::uint32_t>& parameters);

 private:
  WGPUBuffer make_buffer(std::uint64_t size, WGPUBufferUsage usage) const;
  std::vector<std::byte> read(WGPUBuffer buffer, std::uint64_t size) const;
  /// The message of the innermost validation scope.
  std::string pop_scope() const;

  WGPUInstance instance_ = nullptr;
  WGPUAdapter adapter_ = nullptr;
  WGPUDevice device_ = nullptr;
  WGPUQueue queue_ = nullptr;
  DeviceInfo info_;
};

}  // namespace hearth::test
