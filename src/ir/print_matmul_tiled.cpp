#include <fmt/format.h>

#include "ir/tiled_printer.hpp"

namespace hearth::ir {
Expected<Wgsl> print_matmul_tiled(const MatmulSource& source, const MatmulPlan& plan, const DeviceInfo& info) {
  const Kernel& kernel = *source.kernel;
  const Matmul& mm = source.matmul;
  WgslModule module(kernel, info);
  const bool fours = Outputs::can_do_fours(kernel);
  Outputs outputs(module, fours);
  const char* type = wgsl_type(Outputs::accumulator(kernel));
  const TiledShape& shape = plan.tiled;
  const bool a_fours = plan.a == Fetch::along_k, b_fours = plan.b == Fetch::along_free;
  if (a_fours) module.vectorise(source.a);
  if (b_fours) module.vectorise(source.b);

  const std::int64_t tiles_m = (mm.m + shape.tile_x() - 1) / shape.tile_x();
  const std::int64_t tiles_n = (mm.n + shape.tile_channels() - 1) / shape.tile_channels();
  ExprPrinter printer(module);
  Coordinates batch(printer, mm.batch, "batch");
  const std::string a_base = matmul_base(mm.a_offset, mm.a_batch, batch), b_base = matmul_base(mm.b_offset, mm.b_batch, batch);
  TiledOperands operands;
  operands.setup = fmt::format(
      "  let batch = i32(group / {}u);\n  let row0 = i32(group / {}u % {}u) * {}i;\n  let column0 = i32(group % {}u) * {}i;\n{}"
      "  let a = {};\n  let b = {};\n",
      tiles_n * tiles_m, tiles_n, tiles_m, shape.tile_x(), tiles_n, shape.tile_channels(), printer.statements, a_base, b_base);
  operands.pixel = [&](const std::string& x, const std::string&) { return fmt::format("a + (row0 + {}) * {}i", x, mm.a_row); };
  const bool row_edge = mm.m % shape.tile_x() != 0, column_edge = mm.n % shape.tile_channels() != 0;
  operands.inside = [&](const std::string& x, const std::string&) {
    return row_edge ? fmt::format("row0 + {} < {}i", x, mm.m) : std::string("true");
  };
  operands.image_k_fastest = mm.a_column == 1 && mm.a_row != 1;
  operands.weight_k_fastest = mm.b_row == 1 && mm.b_column != 1;
  operands.image = [&](const std::string& at, const std::string& k) {
    if (a_fours) return fmt::format("vec4<{}>({}[u32({} + {}) / 4u])", type, module.binding(source.a), at, k);
    std::string lanes;
    for (int lane = 0; lane < 4; ++lane) {
      // Beyond the last k the weights are zero; the image must be finite there.
      const std::string kk =
          mm.k % 4 == 0 ? fmt::format("({} + {}i)", k, lane) : fmt::format("min({} + {}i, {}i)", k, lane, mm.k - 1);
      const std::string element =
          fmt::format("{}({})", type, module.load(source.a, fmt::format("{} + {} * {}i", at, kk, mm.a_column)));
      lanes += (lane ? ", " : "") +
               (mm.k % 4 == 0 ? element : fmt::format("select({}(0), {}, {} + {}i < {}i)", type, element, k, lane, mm.k));
    }
    return fmt::format("vec4<{}>({})", type, lanes);
  };
  operands.weight = [&](const std::string&, const std::string&, const std::string& k, const std::string& channel) {
    const std::string column = fmt::format("(column0 + {})", channel);
    if (b_fours) {
      const std::string at = column_edge ? fmt::format("min({}, {}i)", column, mm.n - 4) : column;
      const std::string four =
          fmt::format("vec4<{}>({}[u32(b + {} * {}i + {}) / 4u])", type, module.binding(source.b), k, mm.b_row, at);
      return column_edge ? fmt::format("select(vec4<{}>(), {}, {} < {}i)", type, four, column, mm.n) : four;
    }
    std::string lanes;
    for (int lane = 0; lane < 4; ++lane) {
      const std::string at =
          column_edge ? fmt::format("min({} + {}i, {}i)", column, lane, mm.n - 1) : fmt::format("({} + {}i)", column, lane);
      lanes += (lane ? ", " : "") +
               fmt::format("{}({})", type,
                           module.load(source.b, fmt::format("b + {} * {}i + {} * {}i", k, mm.b_row, at, mm.b_column)));
    }
    return fmt::format("vec4<{}>({})", type, lanes);
  };
  operands.outputs_by_four = fours;
  operands.place = [&](const std::string& px, const std::string&, const std::string& channel) {
    TilePlace place{.o = fmt::format("(batch * {}i + row0 + {}) * {}i + column0 + {}", mm.m, px, mm.n, channel),
                    .last = fmt::format("column0 + {}", channel),
                    .inside = {}};
    if (row_edge) place.inside = fmt::format("row0 + {} < {}i", px, mm.m);
    if (column_edge) place.inside += fmt::format("{}column0 + {} < {}i", row_edge ? " && " : "", channel, mm.n);
    return place;
  };
  return print_tiled(module, outputs, shape, operands, static_cast<std::uint64_t>(tiles_m * tiles_n * mm.batch.elements()));
}

}  // namespace hearth::ir
