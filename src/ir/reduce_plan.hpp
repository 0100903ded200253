#pragma once
#include <cstdint>

#include "hearth/device.hpp"
#include "ir/iteration.hpp"

namespace hearth::ir {

/// How a reduction is spread over invocations.
struct ReducePlan {
  std::uint32_t lanes = 1;   ///< invocations that share one output; a power of two
  std::uint32_t tile = 64;   ///< outputs of one workgroup
  std::uint32_t splits = 1;  ///< parts of the reduced range, one workgroup each,
                             ///< combined in a second stage
  bool lane_fastest = true;  ///< whether neighbouring invocations are lanes of
                             ///< one output, or neighbouring outputs
};

/// Whether the data's innermost axis is an output axis (neighbouring outputs
/// read neighbours), not a reduced one.
[[nodiscard]] bool inner_axis_is_output(const Iteration& iteration);

[[nodiscard]] ReducePlan plan_reduce(const Iteration& iteration, DType stored, const DeviceInfo& info);

}  // namespace hearth::ir
