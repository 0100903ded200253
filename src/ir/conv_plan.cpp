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

/// Tiles for workgroups of about 128 invocations, each with 8 pixels and up to 8 channels.
TiledShape tile_of(const Conv2d& c, const DeviceInfo& info) {
  TiledShape shape;
  const std::int64_t quads = (c.out_channels + 3) / 4;
  shape.quads = quads % 2 == 0 || quads > 8 ? 2 : 1;
  shape.threads_c = static_cast<int>(std::min<std::int64_t>(8, (quads + shape.quads - 1) / shape.quads));
  shape.pixels = 8;
  shape.threads_x = c.ow > 16 || shape.threads_c < 4 ? 2 : 1;
  const int most = static_cast<int>(std::min(128u, info.max_workgroup_invocations));
  shape.threads_y = 1;
  for (;;) {
    TiledShape larger = shape;
    larger.threads_y *= 2;
    if (larger.threads() > most || fit_tile(larger, c, info).rows == 0) break;
    shape = larger;
  }
  return fit_tile(shape, c, info);
}

/// Whether tiles of workgroup memory pay: enough sums for each element that is brought there, and enough of them.
bool wants_tiles(const Conv2d& c) {
  return c.groups == 1 && c.kw <= 7 && c.out_channels >= 3 && c.n * c.oh * c.ow * c.out_channels >= 16384 && c.ow >= 8;
}

}  // namespace

TiledShape fit_tile(TiledShape shape, const Conv2d& c, const DeviceInfo& info) {
  shape.taps_x = static_cast<int>(c.kw);
  shape.taps_y = static_cast<int>(c.kh);
  shape.stride_y = c.stride[0], shape.stride_x = c.stride[1];
  shape.dilation_y = c.dilation[0], shape.dilation_x = c.dilation[1];
  shape.k = c.in_channels;
  for (shape.rows = shape.taps_y; shape.rows > 0; --shape.rows)
    if (shape.workgroup_bytes() <= info.max_workgroup_bytes) break;
  return shape;
}

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
  if (!software && wants_tiles(c)) {
    plan.tiled = tile_of(c, info);
    if (plan.tiled.rows > 0) {
      plan.kind = ConvPlan::Kind::tiled;
      return plan;
    }
  }
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
