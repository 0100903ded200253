#pragma once
#include <memory>
#include <unordered_map>
#include <vector>

#include "ir/kernel.hpp"
#include "runtime/webgpu/bind_groups.hpp"

namespace hearth::runtime::webgpu {

/// One dispatch of a kernel.
struct Stage {
  Owned<WGPUComputePipeline> pipeline;
  const Layout* layout = nullptr;
  std::vector<int> bindings;  ///< of the launch, in order of @binding; -1: the scratch buffer
  std::array<std::uint32_t, 3> workgroups{1, 1, 1};
};

/// A kernel on this device.
struct Compiled {
  ir::KernelRef kernel;
  std::vector<Stage> stages;
  std::uint64_t scratch_bytes = 0;
  std::uint64_t parameter_bytes = 0;  ///< as the uniform is declared
  std::uint32_t read_only = 0;        ///< bit i: binding i is declared `read`; a user's source only
  std::unique_ptr<Failure> failure;   ///< why it does not compile
};

/// The compiled kernels of a device. Equal kernels share one entry, whatever object they are.
class Pipelines {
 public:
  explicit Pipelines(Gpu& gpu) : gpu_(gpu), slots_(256) {}

  /// Finds or compiles. Fails with compilation or unsupported, again at every call, or with what the device says now.
  Expected<const Compiled*> find(const ir::KernelRef& kernel) {
    for (std::size_t at = hash(kernel.get());; ++at) {
      const Slot& slot = slots_[at & (slots_.size() - 1)];
      if (slot.kernel == kernel.get()) return slot.compiled;
      if (!slot.kernel) return find_equal(kernel);
    }
  }
  /// Pipelines built so far.
  [[nodiscard]] std::uint64_t made() const noexcept { return made_; }

  /// The layout for `storage` buffers; made once.
  Expected<const Layout*> layout(std::uint32_t storage, std::uint32_t read_only, bool uniform);
  Expected<Owned<WGPUShaderModule>> shader(std::string_view source, std::string_view label, bool proved);
  Expected<Owned<WGPUComputePipeline>> pipeline(WGPUShaderModule shader, WGPUPipelineLayout layout, std::string_view entry_point,
                                                std::string_view label);

 private:
  struct Slot {
    const ir::Kernel* kernel = nullptr;
    const Compiled* compiled = nullptr;
  };
  [[nodiscard]] static std::size_t hash(const ir::Kernel* kernel) noexcept {
    return (reinterpret_cast<std::uintptr_t>(kernel) >> 4) * 0x9e3779b97f4a7c15ull >> 20;
  }
  Expected<const Compiled*> find_equal(const ir::KernelRef& kernel);
  Expected<void> compile(Compiled& compiled);
  void remember(const ir::KernelRef& kernel, const Compiled* compiled);

  Gpu& gpu_;
  std::vector<Slot> slots_;             ///< by the kernel's address; a power of two
  std::vector<ir::KernelRef> aliases_;  ///< keeps the addresses in `slots_` from being used again
  std::unordered_multimap<std::uint64_t, std::unique_ptr<Compiled>> compiled_;  ///< by Kernel::hash
  std::vector<std::unique_ptr<Layout>> layouts_;
  std::uint64_t made_ = 0;
};

/// Which bindings of group 0 a WGSL source declares as `read` storage; bit i: @binding(i).
[[nodiscard]] std::uint32_t read_only_bindings(std::string_view wgsl);

}  // namespace hearth::runtime::webgpu
