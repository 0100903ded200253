#include <fmt/format.h>

#include "ir/conv_plan.hpp"
#include "ir/tiled_printer.hpp"

namespace hearth::ir {

Expected<Wgsl> print_conv_tiled(const Kernel& kernel, const TiledShape& shape, const DeviceInfo& info) {
  const Conv2d& c = kernel.conv2d;
  WgslModule module(kernel, info);
  const bool fours = c.nhwc && Outputs::can_do_fours(kernel);
  Outputs outputs(module, fours);
  const char* type = wgsl_type(Outputs::accumulator(kernel));
  const bool vectors = c.nhwc && !epilogue_reads_operands(kernel);
  const bool image_fours = vectors && c.in_channels % 4 == 0 && loads_by_four(kernel.bindings[0]);
  const bool weight_fours = vectors && c.out_channels % 4 == 0 && loads_by_four(kernel.bindings[1]);
  if (image_fours) module.vectorise(0);
  if (weight_fours) module.vectorise(1);

  const auto divide_up = [](std::int64_t a, std::int64_t b) { return (a + b - 1) / b; };
  const std::int64_t parts = divide_up(c.out_channels, shape.tile_channels());
  const std::int64_t blocks_x = divide_up(c.ow, shape.tile_x()), blocks_y = divide_up(c.oh, shape.threads_y);
  TiledOperands operands;
  operands.setup = fmt::format(
      "  let out0 = i32(group % {0}u) * {1}i;\n  let ox0 = i32(group / {0}u % {2}u) * {3}i;\n"
      "  let oy0 = i32(group / {4}u % {5}u) * {6}i;\n  let image = i32(group / {7}u);\n"
      "  let ix0 = ox0 * {8}i - {9}i;\n  let iy0 = oy0 * {10}i - {11}i;\n",
      parts, shape.tile_channels(), blocks_x, shape.tile_x(), parts * blocks_x, blocks_y, shape.threads_y,
      parts * blocks_x * blocks_y, c.stride[1], c.padding[1], c.stride[0], c.padding[0]);
  operands.inside = [&](const std::string& x, const std::string& y) {
    return fmt::format("ix0 + {0} >= 0i && ix0 + {0} < {2}i && iy0 + {1} >= 0i && iy0 + {1} < {3}i", x, y, c.w, c.h);
  };
  operands.pixel = [&](const std::string& x, const std::string& y) {
    if (c.nhwc) return fmt::format("((image * {}i + iy0 + {}) * {}i + ix0 + {}) * {}i", c.h, y, c.w, x, c.in_channels);
    return fmt::format("(image * {}i + iy0 + {}) * {}i + ix0 + {}", c.in_channels * c.h, y, c.w, x);
  };
  operands.image = [&](const std::string& at, const std::string& k) {
    if (image_fours) return fmt::format("vec4<{}>({}[u32({} + {}) / 4u])", type, module.binding(0), at, k);
    std::string lanes;
    const std::int64_t step = c.nhwc ? 1 : c.h * c.w;
    for (int lane = 0; lane < 4; ++lane) {
      const bool whole = c.in_channels % 4 == 0;
      const std::string channel =
          whole ? fmt::format("({} + {}i)", k, lane) : fmt::format("min({} + {}i, {}i)", k, lane, c.in_channels - 1);
      const std::string element = fmt::format("{}({})", type, module.load(0, fmt::format("{} + {} * {}i", at, channel, step)));
      lanes += (lane ? ", " : "") +
               (whole ? element : fmt::format("select({}(0), {}, {} + {}i < {}i)", type, element, k, lane, c.in_channels));
    }
    return fmt::format("vec4<{}>({})", type, lanes);
  };
  const bool part_edge = c.out_channels % shape.tile_channels() != 0;
  operands.weight = [&](const std::string& ky, const std::string& kx, const std::string& k, const std::string& channel) {
    const std::string out = fmt::format("(out0 + {})", channel);
    if (weight_fours) {
      const std::string at = part_edge ? fmt::format("min({}, {}i)", out, c.out_channels - 4) : out;
      return fmt::format("vec4<{}>({}[u32((({} * {}i + {}) * {}i + {}) * {}i + {}) / 4u])", type, module.binding(1), ky, c.kw, kx,
                         c.in_channels, k, c.out_channels, at);
    }
    std::string lanes;
    for (int lane = 0; lane < 4; ++lane) {
      const std::string at =
          part_edge ? fmt::format("min({} + {}i, {}i)", out, lane, c.out_channels - 1) : fmt::format("({} + {}i)", out, lane);
      const std::string flat =
          c.nhwc ? fmt::format("(({} * {}i + {}) * {}i + {}) * {}i + {}", ky, c.kw, kx, c.in_channels, k, c.out_channels, at)
                 : fmt::format("(({} * {}i + {}) * {}i + {}) * {}i + {}", at, c.in_channels, k, c.kh, ky, c.kw, kx);
      lanes += (lane ? ", " : "") + fmt::format("{}({})", type, module.load(1, flat));
    }
    return fmt::format("vec4<{}>({})", type, lanes);
  };
  operands.weight_k_fastest = !c.nhwc;
  operands.outputs_by_four = fours;
  operands.place = [&](const std::string& px, const std::string& py, const std::string& channel) {
    const std::string x = fmt::format("(ox0 + {})", px), y = fmt::format("(oy0 + {})", py),
                      out = fmt::format("(out0 + {})", channel);
    TilePlace place;
    place.o = c.nhwc ? fmt::format("((image * {}i + {}) * {}i + {}) * {}i + {}", c.oh, y, c.ow, x, c.out_channels, out)
                     : fmt::format("((image * {}i + {}) * {}i + {}) * {}i + {}", c.out_channels, out, c.oh, y, c.ow, x);
    place.last = c.nhwc ? out : x;
    const auto also = [&](bool needed, const std::string& condition) {
      if (needed) place.inside += (place.inside.empty() ? "" : " && ") + condition;
    };
    also(c.ow % shape.tile_x() != 0, fmt::format("{} < {}i", x, c.ow));
    also(c.oh % shape.threads_y != 0, fmt::format("{} < {}i", y, c.oh));
    also(part_edge, fmt::format("{} < {}i", out, c.out_channels));
    return place;
  };
  return print_tiled(module, outputs, shape, operands, static_cast<std::uint64_t>(parts * blocks_x * blocks_y * c.n));
}

}  // namespace hearth::ir
