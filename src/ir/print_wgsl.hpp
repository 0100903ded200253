#pragma once
#include <array>
#include <string>
#include <vector>

#include "hearth/device.hpp"
#include "ir/kernel.hpp"

namespace hearth::ir {

/// A kernel as WGSL for one device: one or more dispatches in order (a large
/// reduction takes two).
struct WgslStage {
  std::string source;
  std::string entry_point = "main";
  std::array<std::uint32_t, 3> workgroups{1, 1, 1};
  /// Which of the launch's bindings this stage binds, in order of @binding; -1:
  /// the scratch buffer.
  std::vector<int> bindings;
  bool parameters = false;  ///< whether @binding(bindings.size()) is the uniform
                            ///< with the launch parameters
};
struct Wgsl {
  std::vector<WgslStage> stages;
  std::uint64_t scratch_bytes = 0;
};

/// Prints `kernel` for a device. All storage bindings are declared read_write,
/// of array<f32>, array<u32> etc.; the parameters are a uniform
/// array<vec4<u32>, n>, reinterpreted. Kernels are unrolled with constant
/// indices and check their limits against `info`. Fails with Error(unsupported)
/// naming the limit or feature that is missing.
[[nodiscard]] Expected<Wgsl> print_wgsl(const Kernel& kernel, const DeviceInfo& info);

/// Expression text, used by the kernels of src/ir and by docs.
[[nodiscard]] std::string to_wgsl(const Expr& e);

}  // namespace hearth::ir
