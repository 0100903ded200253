#include "ir/reduce_plan.hpp"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <limits>

#include "ir/simplify.hpp"
#include "ir/wgsl_parts.hpp"

namespace hearth::ir {

bool inner_axis_is_output(const Iteration& iteration) {
  const Shape& sizes = iteration.sizes;
  const int rank = iteration.extent.rank();
  int votes = 0;
  visit(iteration.value, [&](const Node& node) {
    if (node.op != Op::load) return;
    const std::optional<Affine> index = affine(node.operands[0], sizes, rank);
    if (!index) return;
    constexpr std::int64_t none = std::numeric_limits<std::int64_t>::max();
    std::int64_t output = none, reduced = none;
    std::int64_t output_size = 1, reduced_size = 1;
    for (int axis = 0; axis < sizes.rank(); ++axis) {
      const std::int64_t stride = std::abs(index->strides[axis]);
      if (stride == 0 || sizes[axis] == 1) continue;
      std::int64_t& smallest = axis < rank ? output : reduced;
      if (stride >= smallest) continue;
      smallest = stride;
      (axis < rank ? output_size : reduced_size) = sizes[axis];
    }
    // In a window both step alike: the longer axis counts.
    if (reduced != none) votes += output < reduced || (output == reduced && output_size > reduced_size) ? 1 : -1;
  });
  return votes > 0;
}

ReducePlan plan_reduce(const Iteration& iteration, DType stored, const DeviceInfo& info) {
  const auto outputs = static_cast<std::uint64_t>(iteration.extent.elements());
  const auto count = static_cast<std::uint64_t>(iteration.reduced.elements());
  const std::uint32_t size = std::bit_floor(std::min({256u, info.max_workgroup_invocations, info.max_workgroup_size_x}));
  const bool columns = inner_axis_is_output(iteration);
  // Enough invocations for any device to be busy; found by the widest of them,
  // about 130,000 threads.
  constexpr std::uint64_t busy = 32768;

  ReducePlan plan;
  plan.tile = std::min(size, 64u);
  plan.lane_fastest = !columns;
  // Mesa's CPU driver ends the loops of an invocation after 65,535 rounds in all: none reduces more than a part of that. Bytes
  // are written by whole words, so an invocation reduces four of them.
  constexpr std::uint64_t longest_loop = 16384;
  const bool packed = is_packed(stored);
  if (count <= 16 || (packed && count <= longest_loop / 4) || (!packed && columns && outputs >= busy && count <= longest_loop))
    return plan;
  if (columns) {
    plan.tile = std::min(size, 32u);
    plan.lanes = size / plan.tile;
  } else {
    plan.lanes =
        std::min(size, std::max(8u, static_cast<std::uint32_t>(std::bit_ceil(std::min<std::uint64_t>(count, 1024)) / 4)));
    plan.tile = std::max(1u, std::min(size, 64u) / plan.lanes);
  }
  const std::uint64_t groups = (outputs + plan.tile - 1) / plan.tile;
  const std::uint64_t threads = groups * plan.tile * plan.lanes;
  const std::uint64_t per_lane = count / plan.lanes;
  // A second stage costs a dispatch: worth it when the first would leave the
  // device idle for long.
  if (threads < busy && per_lane >= 64)
    plan.splits = static_cast<std::uint32_t>(std::min({per_lane / 16, 2 * busy / threads, std::uint64_t(1024)}));
  if (per_lane > longest_loop) {
    const std::uint64_t lanes_of_parts = plan.lanes * longest_loop;
    plan.splits = std::max(plan.splits, static_cast<std::uint32_t>((count + lanes_of_parts - 1) / lanes_of_parts));
  }
  if (packed) plan.splits = std::max(plan.splits, 2u);  // the second stage writes whole words
  return plan;
}

}  // namespace hearth::ir
