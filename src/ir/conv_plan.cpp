#include "ir/conv_plan.hpp"

#include <algorithm>

#include "ir/matmul_plan.hpp"
#include "ir/wgsl_outputs.hpp"

namespace hearth::ir {
namespace {

/// The largest number of channels up to `most` that divides a group: 1 to 3 or a multiple of four.
int channels_of(std::int64_t group, int most) {
  for (int count = most / 4 * 4; count >= 4; count -= 4)
    if (group % count == 0) return count;
  for (int count = std::min(most, 3); count > 1; --count)
    if (group % count == 0) return count;
  return 1;
}

}  // namespace

ConvPlan plan_conv2d(const Kernel& kernel, const DeviceInfo& info) {
  const Conv2d& c = kernel.conv2d;
  ConvPlan plan;
  if (size_bytes(kernel.bindings.back()) == 1 && kernel.bindings.back() != DType::boolean) {
    plan.kind = ConvPlan::Kind::one_each;
    return plan;
  }
  const std::array<std::int64_t, 2> ones{1, 1}, zeros{0, 0};
  if (c.kh == 1 && c.kw == 1 && c.groups == 1 && c.stride == ones && c.padding == zeros && c.oh == c.h && c.ow == c.w) {
    plan.kind = ConvPlan::Kind::product;
    return plan;
  }
  const std::int64_t group_in = c.in_channels / c.groups, group_out = c.out_channels / c.groups;
  const bool vectors = c.nhwc && !epilogue_reads_operands(kernel);
  plan.input_by_four = vectors && group_in % 4 == 0 && loads_by_four(kernel.bindings[0]);
  plan.weight_by_four = vectors && group_out % 4 == 0 && loads_by_four(kernel.bindings[1]);

  const bool software = is_software_device(info);
  // nhwc holds channels in vectors, nchw pixels; the other side is unrolled as it is.
  int pixels = software ? 8 : 4, channels = software ? 16 : 8;
  const std::int64_t wanted = software ? 32 : 4096;
  const auto invocations = [&] {
    return c.n * c.oh * ((c.ow + pixels - 1) / pixels) * (c.out_channels / channels_of(group_out, channels));
  };
  while (channels > 4 && invocations() < wanted) channels /= 2;
  while (pixels > (c.nhwc ? 1 : 4) && invocations() < wanted) pixels /= 2;
  plan.channels = channels_of(group_out, channels);
  plan.pixels = static_cast<int>(std::min<std::int64_t>(pixels, c.ow));
  if (!c.nhwc && plan.pixels > 3) plan.pixels = plan.pixels / 4 * 4;
  if (plan.channels % 4 != 0) plan.weight_by_four = false;
  constexpr std::int64_t widest = 7;  // beyond it the printed kernel gets long
  plan.unroll_width = c.kw <= widest;
  plan.lanes = std::min({software ? 32u : 64u, info.max_workgroup_invocations, info.max_workgroup_size_x});
  plan.fours = Outputs::can_do_fours(kernel) && (c.nhwc ? plan.channels : plan.pixels) % 4 == 0;
  return plan;
}

}  // namespace hearth::ir
