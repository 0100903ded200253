#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <limits>

#include "ir/reduce_plan.hpp"
#include "ir/simplify.hpp"
#include "ir/wgsl_coordinates.hpp"
#include "ir/wgsl_helpers.hpp"
#include "ir/wgsl_parts.hpp"

namespace hearth::ir {
namespace {

/// Terms of a sum that are added up before they join the total: keeps the error
/// of long float sums small.
constexpr int part_length = 64;

class ReducePrinter {
 public:
  ReducePrinter(const Kernel& kernel, const DeviceInfo& info)
      : kernel_(kernel),
        info_(info),
        iteration_(iterate(kernel)),
        plan_(plan_reduce(iteration_, kernel.bindings.back(), info)),
        type_(kernel.value.dtype() == DType::boolean ? DType::u32 : kernel.value.dtype()),
        outputs_(kernel.extent.elements()),
        count_(kernel.reduced.elements()) {
    merge_reduced_axes();
  }

  Expected<Wgsl> print();

 private:
  /// The reduced axes as one, where the loads' indices allow it: no divisions
  /// in the loop.
  void merge_reduced_axes();
  std::string identity(WgslModule& module) const;
  std::string combine(WgslModule& module, const std::string& a, const std::string& b) const;
  /// A statement list that leaves the combined value of lane `lane` in `total`;
  /// `o` is the output's flat index.
  std::string accumulate(WgslModule& module, const std::string& begin, const std::string& end, std::uint32_t step) const;
  std::string nested_loops(WgslModule& module) const;
  /// The loop's body: adds value(o, r) to `part`.
  std::string step(WgslModule& module, Coordinates& output, const std::function<std::string(ExprPrinter&, int)>& reduced,
                   const std::string& indent) const;
  std::string epilogue(WgslModule& module, const std::string& store_index) const;
  /// Declares `fn h_total(o) -> result` for one invocation an output; the second stage combines the parts of the first.
  void declare_total(WgslModule& module, bool second_stage) const;

  Expected<WgslStage> print_single(bool second_stage);
  Expected<WgslStage> print_shared(bool second_stage);

  const Kernel& kernel_;
  const DeviceInfo& info_;
  Iteration iteration_;
  ReducePlan plan_;
  DType type_;  ///< of the total; booleans are combined as u32
  std::int64_t outputs_, count_;
  Expr value_;
  Shape reduced_;
};

void ReducePrinter::merge_reduced_axes() {
  reduced_ = iteration_.reduced;
  value_ = iteration_.value;
  if (reduced_.rank() == 0) {  // all of size 1
    reduced_ = Shape{1};
    return;
  }
  if (reduced_.rank() == 1) return;
  const int rank = iteration_.extent.rank();
  Shape merged = iteration_.extent;
  merged.push_back(count_);
  const Shape strides = row_major_strides(reduced_);
  const Expr r = Expr::coordinate(rank);
  const Expr one = simplify(rewrite(value_,
                                    [&](const Node& leaf, std::span<const Expr>) -> Expr {
                                      if (leaf.op != Op::coordinate || leaf.index < rank) return {};
                                      const int j = leaf.index - rank;
                                      return (r / Expr(static_cast<int>(strides[j]))) % Expr(static_cast<int>(reduced_[j]));
                                    }),
                            merged, rank);
  if (plan_.lanes == 1 && node_count(one) > node_count(value_)) return;  // nested loops need no divisions
  value_ = one;
  reduced_ = Shape{count_};
}

std::string ReducePrinter::identity(WgslModule& module) const {
  const bool is_max = kernel_.combine == Combine::max;
  double value = 0;
  switch (kernel_.combine) {
    case Combine::sum: value = 0; break;
    case Combine::prod: value = 1; break;
    default:
      if (type_ == DType::f32)
        value = is_max ? -std::numeric_limits<double>::infinity() : std::numeric_limits<double>::infinity();
      if (type_ == DType::i32) value = is_max ? -2147483648.0 : 2147483647.0;
      if (type_ == DType::u32) value = is_max ? 0 : 4294967295.0;
  }
  return module.literal(value, type_);
}

std::string ReducePrinter::combine(WgslModule& module, const std::string& a, const std::string& b) const {
  switch (kernel_.combine) {
    case Combine::sum: return a + " + " + b;
    case Combine::prod: return a + " * " + b;
    default: {
      const std::string name = kernel_.combine == Combine::max ? "max" : "min";
      return fmt::format("{}({}, {})", type_ == DType::f32 ? helper(module, "h_" + name) : name, a, b);
    }
  }
}

std::string ReducePrinter::step(WgslModule& module, Coordinates& output,
                                const std::function<std::string(ExprPrinter&, int)>& reduced, const std::string& indent) const {
  ExprPrinter inner(module, "v", indent);
  const int rank = iteration_.extent.rank();
  inner.coordinate = [&](int axis) {
    if (axis == flat_coordinate) return std::string("o");
    return axis < rank ? output(axis) : reduced(inner, axis - rank);
  };
  std::string value = inner.print(value_);
  if (value_.dtype() == DType::boolean) value = fmt::format("select(0u, 1u, {})", value);
  return inner.statements + fmt::format("{}part = {};\n", indent, combine(module, "part", value));
}

std::string ReducePrinter::accumulate(WgslModule& module, const std::string& begin, const std::string& end,
                                      std::uint32_t stride) const {
  ExprPrinter outer(module, "o", "    ");
  Coordinates output(outer, iteration_.extent, "o");
  std::optional<Coordinates> decoded;
  const std::string body = step(
      module, output,
      [&](ExprPrinter& inner, int axis) {
        if (reduced_.rank() == 1) return std::string("r");
        if (!decoded) decoded.emplace(inner, reduced_, "r");
        return (*decoded)(axis);
      },
      "      ");
  const std::string zero = identity(module);
  const std::int64_t per_lane = count_ / (std::int64_t(stride) * plan_.splits);
  const bool in_parts = type_ == DType::f32 && kernel_.combine == Combine::sum && per_lane > 2 * part_length;
  std::string text = outer.statements;
  text += fmt::format("    var part = {};\n", zero);
  if (in_parts) text += "    var length = 0;\n";
  text += fmt::format("    for (var r = {}; r < {}; r += {}i) {{\n{}", begin, end, stride, body);
  if (in_parts) {
    text += fmt::format(
        "      length += 1;\n      if (length == {}) {{ total "
        "= {}; part = {}; length = 0; }}\n",
        part_length, combine(module, "total", "part"), zero);
  }
  return text + fmt::format("    }}\n    total = {};\n", combine(module, "total", "part"));
}

std::string ReducePrinter::nested_loops(WgslModule& module) const {
  ExprPrinter outer(module, "o", "    ");
  Coordinates output(outer, iteration_.extent, "o");
  const std::string body = step(
      module, output, [&](ExprPrinter&, int axis) { return reduced_[axis] == 1 ? "0i" : fmt::format("r{}", axis); }, "      ");
  std::string open, close;
  int innermost = -1;
  for (int axis = 0; axis < reduced_.rank(); ++axis)
    if (reduced_[axis] > 1) innermost = axis;
  const std::string zero = identity(module);
  std::string text = outer.statements;
  for (int axis = 0; axis < reduced_.rank(); ++axis) {
    if (reduced_[axis] == 1) continue;
    if (axis == innermost) text += fmt::format("    var part = {};\n", zero);
    text += fmt::format("    for (var r{} = 0i; r{} < {}i; r{}++) {{\n", axis, axis, reduced_[axis], axis);
  }
  if (innermost < 0) text += fmt::format("    var part = {};\n    {{\n", zero);
  text += body + "    }\n" + fmt::format("    total = {};\n", combine(module, "total", "part"));
  for (int axis = 0; axis < innermost; ++axis)
    if (reduced_[axis] > 1) text += "    }\n";
  return text;
}

std::string ReducePrinter::epilogue(WgslModule& module, const std::string& store_index) const {
  const std::string total = kernel_.value.dtype() == DType::boolean ? "(total != 0u)" : "total";
  const int output = static_cast<int>(kernel_.bindings.size()) - 1;
  ExprPrinter printer(module, "e", "    ");
  Coordinates coordinates(printer, iteration_.extent, "o");
  printer.coordinate = [&](int axis) { return axis == flat_coordinate ? std::string("o") : coordinates(axis); };
  printer.argument = [&](int) { return total; };
  const std::string result = iteration_.epilogue ? printer.print(iteration_.epilogue) : total;
  if (store_index.empty()) return printer.statements + fmt::format("    return {};\n", result);
  return printer.statements + "    " + module.store(output, store_index, result) + "\n";
}

void ReducePrinter::declare_total(WgslModule& module, bool second_stage) const {
  const DType result = kernel_.epilogue ? kernel_.epilogue.dtype() : kernel_.value.dtype();
  std::string text = fmt::format("fn h_total(o: i32) -> {} {{\n    var total = {};\n", wgsl_type(result), identity(module));
  if (second_stage) {
    text += fmt::format("    for (var r = 0i; r < {}i; r++) {{ total = {}; }}\n", plan_.splits,
                        combine(module, "total", fmt::format("{}[r * {}i + o]", module.binding(-1), outputs_)));
  } else {
    text += reduced_.rank() == 1 ? accumulate(module, "0i", fmt::format("{}i", count_), 1) : nested_loops(module);
  }
  module.declare("h_total", text + epilogue(module, "") + "}");
}

Expected<WgslStage> ReducePrinter::print_single(bool second_stage) {
  WgslModule module(kernel_, info_);
  module.scratch_type = wgsl_type(type_);
  const int output = static_cast<int>(kernel_.bindings.size()) - 1;
  declare_total(module, second_stage);
  const bool packed = is_packed(kernel_.bindings.back());
  const std::uint32_t single_size = std::min({64u, info_.max_workgroup_invocations, info_.max_workgroup_size_x});
  const std::int64_t items = packed ? (outputs_ + 3) / 4 : outputs_;
  Expected<Grid> grid = fold_grid(static_cast<std::uint64_t>((items + single_size - 1) / single_size), info_, kernel_.label);
  if (!grid) return grid.error();
  std::string body =
      fmt::format("  let n = {} * {}u + lid.x;\n  if (n >= {}u) {{ return; }}\n", grid->linear, single_size, items);
  if (!packed) {
    body += "  let o = i32(n);\n  " + module.store(output, "o", "h_total(o)") + "\n";
  } else {
    const auto word = [&](int count) {
      std::vector<std::string> values;
      for (int lane = 0; lane < count; ++lane) values.push_back(fmt::format("h_total(i32(n) * 4i + {}i)", lane));
      return module.store_packed(output, "n", values, count);
    };
    const int rest = static_cast<int>(outputs_ % 4);
    if (rest) body += fmt::format("  if (n == {}u) {{\n    {}\n    return;\n  }}\n", outputs_ / 4, word(rest));
    if (outputs_ >= 4) body += "  " + word(4) + "\n";
  }
  return module.finish(body, {single_size, 1, 1}, grid->workgroups);
}

Expected<WgslStage> ReducePrinter::print_shared(bool second_stage) {
  WgslModule module(kernel_, info_);
  module.scratch_type = wgsl_type(type_);
  const std::uint32_t lanes = second_stage ? 64 : plan_.lanes;
  const std::uint32_t tile = second_stage ? 1 : plan_.tile;
  const std::uint32_t splits = second_stage ? 1 : plan_.splits;
  const bool lane_fastest = second_stage || plan_.lane_fastest;
  const std::uint64_t tiles = (static_cast<std::uint64_t>(outputs_) + tile - 1) / tile;
  Expected<Grid> grid = fold_grid(tiles * splits, info_, kernel_.label);
  if (!grid) return grid.error();

  std::string body = fmt::format("  let group = {};\n", grid->linear);
  body += lane_fastest ? fmt::format("  let lane = lid.x % {}u;\n  let column = lid.x / {}u;\n", lanes, lanes)
                       : fmt::format("  let lane = lid.x / {}u;\n  let column = lid.x % {}u;\n", tile, tile);
  body += fmt::format(
      "  let split = group % {}u;\n  let o = i32((group / {}u) "
      "* {}u + column);\n",
      splits, splits, tile);
  body += fmt::format(
      "  let valid = group < {}u && o < {}i;\n  var total = "
      "{};\n  if (valid) {{\n",
      tiles * splits, outputs_, identity(module));
  if (second_stage) {
    body += fmt::format("    for (var r = i32(lane); r < {}i; r += {}i) {{ total = {}; }}\n", plan_.splits, lanes,
                        combine(module, "total", fmt::format("{}[r * {}i + o]", module.binding(-1), outputs_)));
  } else {
    const std::int64_t length = (count_ + splits - 1) / splits;
    body += fmt::format(
        "    let begin = i32(split) * {}i;\n    let end = "
        "min(begin + {}i, {}i);\n",
        length, length, count_);
    body += accumulate(module, "begin + i32(lane)", "end", lanes);
  }
  body += "  }\n";
  module.declare("shared_totals", fmt::format("var<workgroup> shared_totals: array<{}, {}>;", wgsl_type(type_), lanes * tile));
  body += "  shared_totals[lid.x] = total;\n  workgroupBarrier();\n";
  const std::uint32_t stride = lane_fastest ? 1 : tile;
  for (std::uint32_t half = lanes / 2; half > 0; half /= 2)
    body += fmt::format(
        "  if (lane < {}u) {{ shared_totals[lid.x] = {}; }}\n  "
        "workgroupBarrier();\n",
        half, combine(module, "shared_totals[lid.x]", fmt::format("shared_totals[lid.x + {}u]", half * stride)));
  body += "  if (valid && lane == 0u) {\n    total = shared_totals[lid.x];\n";
  body +=
      splits > 1 ? fmt::format("    {}[i32(split) * {}i + o] = total;\n", module.binding(-1), outputs_) : epilogue(module, "o");
  return module.finish(body + "  }\n", {lanes * tile, 1, 1}, grid->workgroups);
}

Expected<Wgsl> ReducePrinter::print() {
  Wgsl wgsl;
  Expected<WgslStage> first = plan_.lanes == 1 ? print_single(false) : print_shared(false);
  if (!first) return first.error();
  wgsl.stages.push_back(std::move(*first));
  if (plan_.splits > 1) {
    Expected<WgslStage> second = is_packed(kernel_.bindings.back()) ? print_single(true) : print_shared(true);
    if (!second) return second.error();
    wgsl.stages.push_back(std::move(*second));
    wgsl.scratch_bytes = std::uint64_t(plan_.splits) * static_cast<std::uint64_t>(outputs_) * 4;
  }
  return wgsl;
}

}  // namespace

Expected<Wgsl> print_reduce(const Kernel& kernel, const DeviceInfo& info) { return ReducePrinter(kernel, info).print(); }

}  // namespace hearth::ir
