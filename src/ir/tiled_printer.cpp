#include "ir/tiled_printer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace hearth::ir {

int TiledShape::image_width() const {
  const auto width = static_cast<int>((tile_x() - 1) * stride_x + (taps_x - 1) * dilation_x + 1);
  return threads_y > 1 ? width | 1 : width;
}

int TiledShape::image_plane() const {
  const int size = image_width() * image_height();
  return groups == 1 ? size : (size + 7) / 8 * 8 + 8 / groups;
}

std::uint32_t TiledShape::workgroup_bytes() const {
  return 16u * static_cast<std::uint32_t>(groups * image_plane() + rows * groups * threads_c * weight_length());
}

namespace {

class TiledPrinter {
 public:
  TiledPrinter(WgslModule& module, Outputs& outputs, const TiledShape& shape, const TiledOperands& operands)
      : module_(module),
        outputs_(outputs),
        s_(shape),
        operands_(operands),
        type_(Outputs::accumulator(module.kernel())),
        name_(wgsl_type(type_)),
        tile_(type_, shape.pixels, shape.quads * 4) {
    int next = 0;
    for (int kx = 0; kx < s_.taps_x; ++kx)
      for (int p = 0; p < s_.pixels; ++p) positions_.try_emplace(position(p, kx), 0);
    for (auto& [offset, index] : positions_) index = next++;
  }

  Expected<Wgsl> print(std::uint64_t workgroups);

 private:
  [[nodiscard]] std::int64_t position(int pixel, int kx) const {
    return pixel * (s_.interleaved ? s_.threads_x : 1) * s_.stride_x + kx * s_.dilation_x;
  }
  /// Which pixels this invocation brings into workgroup memory.
  std::string image_places() const;
  std::string stage_image() const;
  std::string stage_weights() const;
  std::string compute() const;
  std::string stores() const;

  WgslModule& module_;
  Outputs& outputs_;
  const TiledShape& s_;
  const TiledOperands& operands_;
  DType type_;
  const char* name_;
  TileText tile_;
  std::map<std::int64_t, int> positions_;  ///< columns of the image piece that are read, from an invocation's first on
};

std::string TiledPrinter::image_places() const {
  const int width = s_.image_width(), size = width * s_.image_height();
  const int count = operands_.image_k_fastest ? size * s_.groups : size;
  std::string text;
  for (int n = 0; n * s_.threads() < count; ++n) {
    const std::string lane = n ? fmt::format("i32(lid.x) + {}i", n * s_.threads()) : std::string("i32(lid.x)");
    const std::string place = operands_.image_k_fastest ? fmt::format("({}) / {}i", lane, s_.groups) : fmt::format("({})", lane);
    text += fmt::format("  let s{} = {};\n", n, place);
    const std::string y = s_.image_height() == 1 ? std::string("0i") : fmt::format("s{} / {}i", n, width);
    const std::string x = s_.image_height() == 1 ? fmt::format("s{}", n) : fmt::format("s{} % {}i", n, width);
    text += fmt::format("  let sx{0} = {1};\n  let sy{0} = {2};\n", n, x, y);
    const std::string xs = fmt::format("sx{}", n), ys = fmt::format("sy{}", n);
    text += fmt::format("  let in{} = {};\n  let at{} = {};\n", n, operands_.inside(xs, ys), n, operands_.pixel(xs, ys));
  }
  return text;
}

std::string TiledPrinter::stage_image() const {
  const int size = s_.image_width() * s_.image_height();
  const int count = operands_.image_k_fastest ? size * s_.groups : size;
  std::string text;
  for (int n = 0; n * s_.threads() < count; ++n) {
    const bool last = (n + 1) * s_.threads() > count;
    if (last) text += fmt::format("      if (lid.x < {}u) {{\n", count - n * s_.threads());
    const auto one = [&](const std::string& group, const std::string& index) {
      const std::string k = s_.groups == 1 ? std::string("k0") : fmt::format("k0 + {} * 4i", group);
      std::string guard = fmt::format("in{}", n);
      if (s_.k % (4 * s_.groups) > 0 && s_.groups > 1) guard += fmt::format(" && {} < {}i", k, s_.k);
      text += fmt::format(
          "      {{\n        var v = vec4<{}>();\n        if ({}) {{ v = {}; }}\n        s_image[{}] = v;\n      }}\n", name_,
          guard, operands_.image(fmt::format("at{}", n), k), index);
    };
    if (operands_.image_k_fastest && s_.groups > 1) {
      const std::string group = fmt::format("(i32(lid.x) + {}i) % {}i", n * s_.threads(), s_.groups);
      one(fmt::format("({})", group), fmt::format("({}) * {}i + s{}", group, s_.image_plane(), n));
    } else {
      for (int g = 0; g < s_.groups; ++g) one(fmt::format("{}i", g), fmt::format("s{} + {}i", n, g * s_.image_plane()));
    }
    if (last) text += "      }\n";
  }
  return text;
}

std::string TiledPrinter::stage_weights() const {
  const int quads = s_.threads_c * s_.quads, ks = 4 * s_.groups, count = quads * ks * s_.taps_x * s_.rows;
  std::string text = fmt::format("      for (var n = i32(lid.x); n < {}i; n += {}i) {{\n", count, s_.threads());
  if (operands_.weight_k_fastest)
    text += fmt::format("        let kk = n % {0}i;\n        let quad = n / {0}i % {1}i;\n", ks, quads);
  else
    text += fmt::format("        let quad = n % {0}i;\n        let kk = n / {0}i % {1}i;\n", quads, ks);
  text += fmt::format("        let tap = n / {}i;\n", quads * ks);
  text += s_.taps_x == 1 ? "        let tx = 0i;\n        let ty = tap;\n"
                         : fmt::format("        let tx = tap % {0}i;\n        let ty = tap / {0}i;\n", s_.taps_x);
  std::string guard;
  if (s_.k % ks != 0) guard = fmt::format("k0 + kk < {}i", s_.k);
  if (s_.taps_y % s_.rows != 0) guard += fmt::format("{}ky0 + ty < {}i", guard.empty() ? "" : " && ", s_.taps_y);
  const std::string value = operands_.weight(s_.rows == s_.taps_y ? "ty" : "(ky0 + ty)", "tx", "(k0 + kk)", "quad * 4i");
  text += fmt::format("        var v = vec4<{}>();\n", name_);
  text += guard.empty() ? fmt::format("        v = {};\n", value) : fmt::format("        if ({}) {{ v = {}; }}\n", guard, value);
  text += fmt::format(
      "        s_weight[(ty * {}i + kk / 4i) * {}i + quad % {}i][(tx * 4i + kk % 4i) * {}i + quad / {}i] = v;\n      }}\n",
      s_.groups, s_.threads_c, s_.threads_c, s_.quads, s_.threads_c);
  return text;
}

std::string TiledPrinter::compute() const {
  const std::string indent = "          ";
  std::string text;
  const std::int64_t step = s_.interleaved ? s_.stride_x : s_.pixels * s_.stride_x;
  const bool partial = s_.taps_y % s_.rows != 0;
  if (s_.rows > 1)
    text += fmt::format("      for (var r = 0i; r < {}; r++) {{\n",
                        partial ? fmt::format("min({}i, {}i - ky0)", s_.rows, s_.taps_y) : fmt::format("{}i", s_.rows));
  else
    text += "      {\n        let r = 0i;\n";
  if (s_.groups > 1)
    text += fmt::format("        for (var g = 0i; g < {}i; g++) {{\n", s_.groups);
  else
    text += "        {\n          let g = 0i;\n";
  text += fmt::format("{}let line = g * {}i + (py * {}i + (ky0 + r) * {}i) * {}i + px * {}i;\n", indent, s_.image_plane(),
                      s_.stride_y, s_.dilation_y, s_.image_width(), step);
  text += fmt::format("{}let slice = (r * {}i + g) * {}i + pc;\n", indent, s_.groups, s_.threads_c);
  for (const auto& [offset, index] : positions_) text += fmt::format("{}let p{} = s_image[line + {}i];\n", indent, index, offset);
  const int used = static_cast<int>(std::min<std::int64_t>(4, s_.k));
  for (int kx = 0; kx < s_.taps_x; ++kx) {
    for (int k = 0; k < used; ++k) {
      for (int q = 0; q < s_.quads; ++q)
        text += fmt::format("{}let w{}_{}_{} = s_weight[slice][{}];\n", indent, kx, k, q, (kx * 4 + k) * s_.quads + q);
      text += tile_.multiply(
          indent, [&](int p) { return fmt::format("p{}.{}", positions_.at(position(p, kx)), "xyzw"[k]); },
          [&](int j) { return fmt::format("w{}_{}_{}", kx, k, j / 4); });
    }
  }
  return text + "        }\n      }\n";
}

std::string TiledPrinter::stores() const {
  return tile_.stores(outputs_, operands_.outputs_by_four, [&](int i, int j) {
    const std::string x =
        s_.interleaved ? fmt::format("px + {}i", i * s_.threads_x) : fmt::format("px * {}i + {}i", s_.pixels, i);
    return operands_.place(x, "py", fmt::format("pc * 4i + {}i", j / 4 * 4 * s_.threads_c + j % 4));
  });
}

Expected<Wgsl> TiledPrinter::print(std::uint64_t workgroups) {
  const DeviceInfo& info = module_.info();
  Expected<Grid> grid = fold_grid(workgroups, info, module_.kernel().label);
  if (!grid) return grid.error();
  module_.declare("s_image", fmt::format("var<workgroup> s_image: array<vec4<{}>, {}>;", name_, s_.groups * s_.image_plane()));
  module_.declare("s_weight", fmt::format("var<workgroup> s_weight: array<array<vec4<{}>, {}>, {}>;", name_, s_.weight_length(),
                                          s_.rows * s_.groups * s_.threads_c));
  std::string body = fmt::format("  let group = {};\n", grid->linear);
  if (std::uint64_t(grid->workgroups[0]) * grid->workgroups[1] * grid->workgroups[2] != workgroups)
    body += fmt::format("  if (group >= {}u) {{ return; }}\n", workgroups);
  body += operands_.setup;
  // Channels vary fastest over the invocations, then rows: neighbours read one pixel of the piece or ones in different banks.
  body += fmt::format("  let pc = i32(lid.x) % {}i;\n  let py = i32(lid.x) / {}i % {}i;\n  let px = i32(lid.x) / {}i;\n",
                      s_.threads_c, s_.threads_c, s_.threads_y, s_.threads_c * s_.threads_y);
  body += image_places() + tile_.accumulators();
  body += fmt::format("  for (var k0 = 0i; k0 < {}i; k0 += {}i) {{\n", s_.k, 4 * s_.groups);
  if (s_.rows == s_.taps_y) {
    body += "    {\n      let ky0 = 0i;\n      workgroupBarrier();\n" + stage_image();
  } else {
    body += fmt::format("    for (var ky0 = 0i; ky0 < {}i; ky0 += {}i) {{\n      workgroupBarrier();\n", s_.taps_y, s_.rows);
    body += "      if (ky0 == 0i) {\n" + stage_image() + "      }\n";
  }
  body += stage_weights() + "      workgroupBarrier();\n" + compute() + "    }\n  }\n" + stores();
  Expected<WgslStage> stage = module_.finish(body, {static_cast<std::uint32_t>(s_.threads()), 1, 1}, grid->workgroups);
  if (!stage) return stage.error();
  Wgsl wgsl;
  wgsl.stages.push_back(std::move(*stage));
  return wgsl;
}

}  // namespace

Expected<Wgsl> print_tiled(WgslModule& module, Outputs& outputs, const TiledShape& shape, const TiledOperands& operands,
                           std::uint64_t workgroups) {
  return TiledPrinter(module, outputs, shape, operands).print(workgroups);
}

}  // namespace hearth::ir
