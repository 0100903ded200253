#include <fmt/format.h>

#include <map>

#include "ir/conv_plan.hpp"
#include "ir/tiled_printer.hpp"

namespace hearth::ir {
namespace {

/// Text of the flat index of an input element whose row begins at... all i32.
std::string input_index(const Conv2d& c, const std::string& n, const std::string& y, const std::string& x,
                        const std::string& channel) {
  if (c.nhwc) return fmt::format("((({0}) * {1}i + {2}) * {3}i + {4}) * {5}i + {6}", n, c.h, y, c.w, x, c.in_channels, channel);
  return fmt::format("((({0}) * {1}i + {2}) * {3}i + {4}) * {5}i + {6}", n, c.in_channels, channel, c.h, y, c.w, x);
}

/// `channel` counts within the group, `out` over all groups.
std::string weight_index(const Conv2d& c, const std::string& out, const std::string& channel, const std::string& ky,
                         const std::string& kx) {
  const std::int64_t group_in = c.in_channels / c.groups;
  if (c.nhwc)
    return fmt::format("((({0}) * {1}i + {2}) * {3}i + {4}) * {5}i + {6}", ky, c.kw, kx, group_in, channel, c.out_channels, out);
  return fmt::format("((({0}) * {1}i + {2}) * {3}i + {4}) * {5}i + {6}", out, group_in, channel, c.kh, ky, c.kw, kx);
}

Expected<Wgsl> print_each(const Kernel& kernel, const DeviceInfo& info) {
  const Conv2d& c = kernel.conv2d;
  WgslModule module(kernel, info);
  const char* type = wgsl_type(Outputs::accumulator(kernel));
  ExprPrinter printer(module);
  Coordinates at(printer, kernel.extent, "o");
  const std::string n = at(0), y = at(c.nhwc ? 1 : 2), x = at(c.nhwc ? 2 : 3), out = at(c.nhwc ? 3 : 1);
  const std::int64_t group_in = c.in_channels / c.groups, group_out = c.out_channels / c.groups;
  std::string text = fmt::format("fn h_total(o: i32) -> {} {{\n{}", type, printer.statements);
  text += fmt::format("  var total = {}(0);\n  for (var ky = 0i; ky < {}i; ky++) {{\n", type, c.kh);
  text += fmt::format("    let iy = {} * {}i + ky * {}i - {}i;\n    if (iy < 0i || iy >= {}i) {{ continue; }}\n", y, c.stride[0],
                      c.dilation[0], c.padding[0], c.h);
  text += fmt::format("    for (var kx = 0i; kx < {}i; kx++) {{\n", c.kw);
  text += fmt::format("      let ix = {} * {}i + kx * {}i - {}i;\n      if (ix < 0i || ix >= {}i) {{ continue; }}\n", x,
                      c.stride[1], c.dilation[1], c.padding[1], c.w);
  text += fmt::format("      for (var k = 0i; k < {}i; k++) {{\n", group_in);
  text +=
      fmt::format("        total += {0}({1}) * {0}({2});\n      }}\n    }}\n  }}\n  return total;\n}}", type,
                  module.load(0, input_index(c, n, "iy", "ix", fmt::format("(({}) / {}i) * {}i + k", out, group_out, group_in))),
                  module.load(1, weight_index(c, out, "k", "ky", "kx")));
  module.declare("h_total", text);
  return print_one_each(module, "h_total(o)");
}

/// A 1x1 convolution as a product: nhwc of pixels by channels, nchw of weights by pixels, an image at a time.
Expected<Wgsl> print_as_product(const Kernel& kernel, const DeviceInfo& info) {
  const Conv2d& c = kernel.conv2d;
  const std::int64_t in = c.in_channels, out = c.out_channels, pixels = c.h * c.w;
  MatmulSource source{.kernel = &kernel, .matmul = {}, .a = c.nhwc ? 0 : 1, .b = c.nhwc ? 1 : 0};
  Matmul& mm = source.matmul;
  mm.k = in;
  if (c.nhwc) {
    mm.m = c.n * pixels;
    mm.n = out;
    mm.a_row = in, mm.a_column = 1, mm.b_row = out, mm.b_column = 1;
  } else {
    mm.batch = Shape{c.n};
    mm.a_batch = Shape{0};
    mm.b_batch = Shape{in * pixels};
    mm.m = out;
    mm.n = pixels;
    mm.a_row = in, mm.a_column = 1, mm.b_row = pixels, mm.b_column = 1;
  }
  return print_product(source, info);
}

class DirectPrinter {
 public:
  DirectPrinter(const Kernel& kernel, const ConvPlan& plan, const DeviceInfo& info)
      : kernel_(kernel),
        c_(kernel.conv2d),
        plan_(plan),
        info_(info),
        module_(kernel, info),
        outputs_(module_, plan.fours),
        type_(Outputs::accumulator(kernel)),
        group_in_(c_.in_channels / c_.groups),
        tile_(type_, c_.nhwc ? plan.pixels : plan.channels, c_.nhwc ? plan.channels : plan.pixels) {
    if (plan_.input_by_four) module_.vectorise(0);
    if (plan_.weight_by_four) module_.vectorise(1);
    for (int kx = 0; kx < width(); ++kx)
      for (int p = 0; p < plan_.pixels; ++p) positions_[p * c_.stride[1] + kx * c_.dilation[1]] = 0;
    int next = 0;
    for (auto& [offset, index] : positions_) index = next++;
  }

  Expected<Wgsl> print();

 private:
  [[nodiscard]] int width() const { return plan_.unroll_width ? static_cast<int>(c_.kw) : 1; }
  /// Where the input's columns lie, and which of them are outside.
  std::string columns() const;
  /// One step over `count` channels from `k` on, for the weight's row ky and, unrolled, all its columns.
  std::string step(int count);
  std::string input(int pixel, int kx, int s) const;

  const Kernel& kernel_;
  const Conv2d& c_;
  const ConvPlan& plan_;
  const DeviceInfo& info_;
  WgslModule module_;
  Outputs outputs_;
  DType type_;
  std::int64_t group_in_;
  TileText tile_;
  std::map<std::int64_t, int> positions_;  ///< columns of the input that are read, from the tile's first on, and their numbers
};

std::string DirectPrinter::columns() const {
  const std::string kx = plan_.unroll_width ? std::string() : fmt::format(" + kx * {}i", c_.dilation[1]);
  std::string text;
  for (const auto& [offset, index] : positions_) {
    text += fmt::format("  let x{} = ox * {}i + {}i{};\n", index, c_.stride[1], offset - c_.padding[1], kx);
    text +=
        fmt::format("  let in{0} = x{0} >= 0i && x{0} < {1}i;\n  let at{0} = clamp(x{0}, 0i, {2}i);\n", index, c_.w, c_.w - 1);
  }
  return text;
}

std::string DirectPrinter::input(int pixel, int kx, int s) const {
  const int index = positions_.at(pixel * c_.stride[1] + kx * c_.dilation[1]);
  return plan_.input_by_four ? fmt::format("p{}.{}", index, "xyzw"[s]) : fmt::format("p{}_{}", s, index);
}

std::string DirectPrinter::step(int count) {
  const char* type = wgsl_type(type_);
  std::string text;
  for (int s = 0; s < (plan_.input_by_four ? 1 : count); ++s) {
    for (const auto& [offset, index] : positions_) {
      const std::string channel = fmt::format("channel + k{}", s ? fmt::format(" + {}i", s) : std::string());
      const std::string flat = input_index(c_, "image", "iy", fmt::format("at{}", index), channel);
      text += plan_.input_by_four ? fmt::format("        let p{0} = select(vec4<{1}>(), vec4<{1}>({2}[u32({3}) / 4u]), in{0});\n",
                                                index, type, module_.binding(0), flat)
                                  : fmt::format("        let p{0}_{1} = select({2}(0), {2}({3}), in{1});\n", s, index, type,
                                                module_.load(0, flat));
    }
  }
  for (int kx = 0; kx < width(); ++kx) {
    for (int s = 0; s < count; ++s) {
      const std::string k = s ? fmt::format("k + {}i", s) : std::string("k"),
                        column = plan_.unroll_width ? fmt::format("{}i", kx) : "kx";
      for (int j = 0; j < plan_.channels; j += plan_.weight_by_four ? 4 : 1) {
        const std::string flat = weight_index(c_, fmt::format("out + {}i", j), k, "ky", column);
        text += plan_.weight_by_four ? fmt::format("        let q{}_{}_{} = vec4<{}>({}[u32({}) / 4u]);\n", kx, s, j, type,
                                                   module_.binding(1), flat)
                                     : fmt::format("        let q{}_{}_{} = {}({});\n", kx, s, j, type, module_.load(1, flat));
      }
      const auto weight = [&](int j) { return fmt::format("q{}_{}_{}", kx, s, j); };
      const auto pixel = [&](int p) { return input(p, kx, s); };
      const auto four = [&](const auto& one) {
        return [&one, type](int j) {
          return fmt::format("vec4<{}>({}, {}, {}, {})", type, one(j), one(j + 1), one(j + 2), one(j + 3));
        };
      };
      if (!c_.nhwc) {
        if (tile_.vectors())
          text += tile_.multiply("        ", weight, four(pixel));
        else
          text += tile_.multiply("        ", weight, pixel);
      } else if (plan_.weight_by_four || !tile_.vectors()) {
        text += tile_.multiply("        ", pixel, weight);
      } else {
        text += tile_.multiply("        ", pixel, four(weight));
      }
    }
  }
  return text;
}

Expected<Wgsl> DirectPrinter::print() {
  const std::int64_t group_out = c_.out_channels / c_.groups;
  const std::int64_t blocks = (c_.ow + plan_.pixels - 1) / plan_.pixels, parts = c_.out_channels / plan_.channels;
  const std::int64_t tiles = parts * blocks * c_.oh * c_.n;
  Expected<Grid> grid = fold_grid(static_cast<std::uint64_t>((tiles + plan_.lanes - 1) / plan_.lanes), info_, kernel_.label);
  if (!grid) return grid.error();
  std::string body =
      fmt::format("  let tile = i32({} * {}u + lid.x);\n  if (tile >= {}i) {{ return; }}\n", grid->linear, plan_.lanes, tiles);
  // Neighbours share the input where channels lie together, and the weights where pixels do.
  if (c_.nhwc) {
    body += fmt::format("  let out = (tile % {}i) * {}i;\n  let ox = (tile / {}i % {}i) * {}i;\n", parts, plan_.channels, parts,
                        blocks, plan_.pixels);
    body += fmt::format("  let oy = tile / {}i % {}i;\n", parts * blocks, c_.oh);
  } else {
    body += fmt::format("  let ox = (tile % {}i) * {}i;\n  let oy = tile / {}i % {}i;\n", blocks, plan_.pixels, blocks, c_.oh);
    body += fmt::format("  let out = (tile / {}i % {}i) * {}i;\n", blocks * c_.oh, parts, plan_.channels);
  }
  body +=
      fmt::format("  let image = tile / {}i;\n  let channel = out / {}i * {}i;\n", parts * blocks * c_.oh, group_out, group_in_);
  body += tile_.accumulators();
  if (plan_.unroll_width) body += columns();
  body += fmt::format("  for (var ky = 0i; ky < {}i; ky++) {{\n    let iy = oy * {}i + ky * {}i - {}i;\n", c_.kh, c_.stride[0],
                      c_.dilation[0], c_.padding[0]);
  body += fmt::format("    if (iy < 0i || iy >= {}i) {{ continue; }}\n", c_.h);
  body += plan_.unroll_width ? "    {\n" : fmt::format("    for (var kx = 0i; kx < {}i; kx++) {{\n{}", c_.kw, columns());
  const std::int64_t unrolled = plan_.input_by_four ? 4 : 1;
  body += fmt::format("      for (var k = 0i; k < {}i; k += {}i) {{\n{}      }}\n    }}\n  }}\n", group_in_, unrolled,
                      step(static_cast<int>(unrolled)));
  const bool edge = c_.ow % plan_.pixels != 0;
  body += c_.nhwc ? fmt::format("  let first = ((image * {}i + oy) * {}i + ox) * {}i + out;\n", c_.oh, c_.ow, c_.out_channels)
                  : fmt::format("  let first = ((image * {}i + out) * {}i + oy) * {}i + ox;\n", c_.out_channels, c_.oh, c_.ow);
  body += tile_.stores(outputs_, plan_.fours, [&](int i, int j) {
    const int pixel = c_.nhwc ? i : j;
    TilePlace place;
    place.o = fmt::format("first + {}i", c_.nhwc ? i * c_.out_channels + j : i * c_.oh * c_.ow + j);
    place.last = fmt::format("{} + {}i", c_.nhwc ? "out" : "ox", j);
    if (edge && pixel > 0) place.inside = fmt::format("ox + {}i < {}i", pixel, c_.ow);
    return place;
  });
  Expected<WgslStage> stage = module_.finish(body, {plan_.lanes, 1, 1}, grid->workgroups);
  if (!stage) return stage.error();
  Wgsl wgsl;
  wgsl.stages.push_back(std::move(*stage));
  return wgsl;
}

}  // namespace

Expected<Wgsl> print_conv2d(const Kernel& kernel, const DeviceInfo& info) {
  if (kernel.bindings.front() == DType::boolean)
    return Failure{ErrorCode::unsupported, fmt::format("{}: the input is bool; a convolution needs numbers.", kernel.label)};
  const ConvPlan plan = plan_conv2d(kernel, info);
  switch (plan.kind) {
    case ConvPlan::Kind::one_each: return print_each(kernel, info);
    case ConvPlan::Kind::product: return print_as_product(kernel, info);
    case ConvPlan::Kind::tiled: return print_conv_tiled(kernel, plan.tiled, info);
    default: return DirectPrinter(kernel, plan, info).print();
  }
}

}  // namespace hearth::ir
