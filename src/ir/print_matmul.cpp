#include <fmt/format.h>

#include "ir/matmul_plan.hpp"
#include "ir/tiled_printer.hpp"
#include "ir/wgsl_coordinates.hpp"

namespace hearth::ir {
namespace {

/// Products that no tile fits: one output an invocation.
Expected<Wgsl> print_each(const MatmulSource& source, const DeviceInfo& info) {
  const Kernel& kernel = *source.kernel;
  const Matmul& mm = source.matmul;
  WgslModule module(kernel, info);
  const char* type = wgsl_type(Outputs::accumulator(kernel));
  ExprPrinter printer(module);
  Coordinates batch(printer, mm.batch, "batch");
  const std::string a = matmul_base(mm.a_offset, mm.a_batch, batch), b = matmul_base(mm.b_offset, mm.b_batch, batch);
  module.declare("h_total",
                 fmt::format("fn h_total(o: i32) -> {0} {{\n  let column = o % {1}i;\n  let row = (o / {1}i) % {2}i;\n"
                             "  let batch = o / {3}i;\n{4}  let a = {5} + row * {6}i;\n  let b = {7} + column * {8}i;\n"
                             "  var total = {0}(0);\n  for (var k = 0i; k < {9}i; k++) {{\n"
                             "    total += {0}({10}) * {0}({11});\n  }}\n  return total;\n}}",
                             type, mm.n, mm.m, mm.m * mm.n, printer.statements, a, mm.a_row, b, mm.b_column, mm.k,
                             module.load(source.a, fmt::format("a + k * {}i", mm.a_column)),
                             module.load(source.b, fmt::format("b + k * {}i", mm.b_row))));
  return print_one_each(module, "h_total(o)");
}

/// Names the elements of one operand for some steps of k, after statements that load them.
class Fetcher {
 public:
  Fetcher(WgslModule& module, const char* type, Fetch fetch, int binding, char name, int count, std::int64_t k_stride,
          std::int64_t free_stride)
      : module_(module),
        type_(type),
        fetch_(fetch),
        binding_(binding),
        name_(name),
        count_(count),
        k_(k_stride),
        free_(free_stride) {
    if (fetch_ != Fetch::scalar) module_.vectorise(binding_);
  }

  /// Statements before the loop: where each element, or group of four, begins.
  std::string places(const std::string& base, const std::string& first, std::int64_t size) const {
    std::string text;
    const int step = fetch_ == Fetch::along_free ? 4 : 1;
    const bool inside = size % count_ == 0;
    for (int i = 0; i < count_; i += step) {
      std::string at = i ? fmt::format("{} + {}i", first, i) : first;
      if (!inside) at = fmt::format("min({}, {}i)", at, size - step);
      text += fmt::format("  let {}at{} = {} + ({}) * {}i;\n", name_, i, base, at, free_);
    }
    return text;
  }

  std::string loads(int steps) const {
    std::string text;
    if (fetch_ == Fetch::along_k) {
      for (int i = 0; i < count_; ++i)
        text +=
            fmt::format("    let {0}{1} = vec4<{2}>({3}[u32({0}at{1} + k) / 4u]);\n", name_, i, type_, module_.binding(binding_));
      return text;
    }
    for (int s = 0; s < steps; ++s) {
      const std::string k = s ? fmt::format("(k + {}i) * {}i", s, k_) : fmt::format("k * {}i", k_);
      for (int i = 0; i < count_; i += fetch_ == Fetch::along_free ? 4 : 1) {
        const std::string at = fmt::format("{}at{} + {}", name_, i, k);
        text += fetch_ == Fetch::scalar
                    ? fmt::format("    let {}{}_{} = {}({});\n", name_, s, i, type_, module_.load(binding_, at))
                    : fmt::format("    let {}{}_{} = vec4<{}>({}[u32({}) / 4u]);\n", name_, s, i, type_,
                                  module_.binding(binding_), at);
      }
    }
    return text;
  }

  std::string element(int i, int step) const {
    switch (fetch_) {
      case Fetch::along_k: return fmt::format("{}{}.{}", name_, i, "xyzw"[step]);
      case Fetch::along_free: return fmt::format("{}{}_{}.{}", name_, step, i / 4 * 4, "xyzw"[i % 4]);
      default: return fmt::format("{}{}_{}", name_, step, i);
    }
  }
  std::string four(int i, int step) const {
    if (fetch_ == Fetch::along_free) return fmt::format("{}{}_{}", name_, step, i);
    return fmt::format("vec4<{}>({}, {}, {}, {})", type_, element(i, step), element(i + 1, step), element(i + 2, step),
                       element(i + 3, step));
  }

 private:
  WgslModule& module_;
  const char* type_;
  Fetch fetch_;
  int binding_;
  char name_;
  int count_;
  std::int64_t k_, free_;
};

Expected<Wgsl> print_direct(const MatmulSource& source, const MatmulPlan& plan, const DeviceInfo& info) {
  const Kernel& kernel = *source.kernel;
  const Matmul& mm = source.matmul;
  WgslModule module(kernel, info);
  Outputs outputs(module, plan.fours);
  const DType type = Outputs::accumulator(kernel);
  const std::int64_t tiles_n = (mm.n + plan.columns - 1) / plan.columns, tiles_m = (mm.m + plan.rows - 1) / plan.rows;
  const std::int64_t tiles = tiles_n * tiles_m * mm.batch.elements();
  Expected<Grid> grid = fold_grid(static_cast<std::uint64_t>((tiles + plan.lanes - 1) / plan.lanes), info, kernel.label);
  if (!grid) return grid.error();

  std::string body = fmt::format("  let tile = i32({} * {}u + lid.x);\n", grid->linear, plan.lanes);
  body += fmt::format("  if (tile >= {}i) {{ return; }}\n", tiles);
  body += fmt::format("  let column = (tile % {0}i) * {1}i;\n  let row = ((tile / {0}i) % {2}i) * {3}i;\n", tiles_n, plan.columns,
                      tiles_m, plan.rows);
  body += fmt::format("  let batch = tile / {}i;\n", tiles_n * tiles_m);
  ExprPrinter printer(module);
  Coordinates batch(printer, mm.batch, "batch");
  const std::string a_base = matmul_base(mm.a_offset, mm.a_batch, batch), b_base = matmul_base(mm.b_offset, mm.b_batch, batch);
  const Fetcher a(module, wgsl_type(type), plan.a, source.a, 'p', plan.rows, mm.a_column, mm.a_row);
  const Fetcher b(module, wgsl_type(type), plan.b, source.b, 'q', plan.columns, mm.b_row, mm.b_column);
  body += printer.statements + a.places(a_base, "row", mm.m) + b.places(b_base, "column", mm.n);

  TileText tile(type, plan.rows, plan.columns);
  body += tile.accumulators();
  const auto steps = [&](int count) {
    std::string text = a.loads(count) + b.loads(count);
    for (int s = 0; s < count; ++s)
      text += tile.multiply(
          "    ", [&](int i) { return a.element(i, s); }, [&](int j) { return tile.vectors() ? b.four(j, s) : b.element(j, s); });
    return text;
  };
  const std::int64_t whole = mm.k / 4 * 4;
  if (whole > 0) body += fmt::format("  for (var k = 0i; k < {}i; k += 4i) {{\n{}  }}\n", whole, steps(4));
  if (whole < mm.k) body += fmt::format("  for (var k = {}i; k < {}i; k++) {{\n{}  }}\n", whole, mm.k, steps(1));
  body += fmt::format("  let first = (batch * {}i + row) * {}i + column;\n", mm.m, mm.n);
  body += tile.stores(outputs, plan.fours, [&](int i, int j) {
    TilePlace place{.o = fmt::format("first + {}i", i * mm.n + j), .last = fmt::format("column + {}i", j), .inside = {}};
    if (i > 0 && mm.m % plan.rows != 0) place.inside = fmt::format("row + {}i < {}i", i, mm.m);
    if (j > 0 && mm.n % plan.columns != 0)
      place.inside += fmt::format("{}column + {}i < {}i", place.inside.empty() ? "" : " && ", j, mm.n);
    return place;
  });
  Expected<WgslStage> stage = module.finish(body, {plan.lanes, 1, 1}, grid->workgroups);
  if (!stage) return stage.error();
  Wgsl wgsl;
  wgsl.stages.push_back(std::move(*stage));
  return wgsl;
}

}  // namespace

Expected<Wgsl> print_product(const MatmulSource& source, const DeviceInfo& info) {
  const DType type = source.kernel->bindings.front();
  if (type == DType::boolean)
    return Failure{ErrorCode::unsupported, fmt::format("{}: operands are bool; a product needs numbers.", source.kernel->label)};
  const MatmulPlan plan = plan_matmul(source, info);
  switch (plan.kind) {
    case MatmulPlan::Kind::one_each: return print_each(source, info);
    case MatmulPlan::Kind::tiled: return print_matmul_tiled(source, plan, info);
    default: return print_direct(source, plan, info);
  }
}

Expected<Wgsl> print_matmul(const Kernel& kernel, const DeviceInfo& info) {
  return print_product({.kernel = &kernel, .matmul = kernel.matmul, .a = 0, .b = 1}, info);
}

}  // namespace hearth::ir
