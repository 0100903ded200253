#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "ir/iteration.hpp"
#include "ir/wgsl_coordinates.hpp"
#include "ir/wgsl_parts.hpp"

namespace hearth::ir {
namespace {

bool is_flat(const Expr& index) { return index.node()->op == Op::coordinate && index.node()->index == flat_coordinate; }

/// Which bindings are read at the flat coordinate only, and whether anything is
/// read elsewhere.
struct Reads {
  std::set<int> flat, other;
};

Reads find_reads(const Expr& value) {
  Reads reads;
  visit(value, [&](const Node& node) {
    if (node.op == Op::load) (is_flat(node.operands[0]) ? reads.flat : reads.other).insert(node.index);
  });
  for (int binding : reads.other) reads.flat.erase(binding);
  return reads;
}

constexpr const char* components[] = {"x", "y", "z", "w"};

class MapPrinter {
 public:
  MapPrinter(const Kernel& kernel, const DeviceInfo& info)
      : kernel_(kernel),
        info_(info),
        module_(kernel, info),
        iteration_(iterate(kernel)),
        value_(iteration_.value),
        reads_(find_reads(value_)),
        count_(kernel.extent.elements()),
        output_(static_cast<int>(kernel.bindings.size()) - 1),
        stored_(kernel.bindings.back()) {}

  Expected<Wgsl> print();

 private:
  /// Four neighbours an invocation: loads and stores of 16 bytes where the data
  /// lies in the output's order.
  [[nodiscard]] bool by_four() const;
  /// Declares `fn h_value(i, x<binding>...)`, one element; the arguments are
  /// the elements of vectorised bindings.
  void declare_value();
  std::string call(const std::string& index, int lane) const;
  std::string one_body();
  std::string vector_body();
  std::string packed_body();

  const Kernel& kernel_;
  const DeviceInfo& info_;
  WgslModule module_;
  Iteration iteration_;
  Expr value_;
  Reads reads_;
  std::int64_t count_;
  int output_;
  DType stored_;
  std::vector<int> vectors_;
};

bool MapPrinter::by_four() const {
  // Below this many elements a device has more lanes than work.
  constexpr std::int64_t smallest = 16384;
  constexpr int largest_body = 200;  // nodes; beyond it four copies cost more registers than they save
  if (count_ % 4 != 0 || count_ < smallest || size_bytes(stored_) < 2 || stored_ == DType::boolean) return false;
  if (reads_.flat.count(output_) || reads_.other.count(output_) || node_count(value_) > largest_body) return false;
  return !reads_.flat.empty() || reads_.other.empty();
}

void MapPrinter::declare_value() {
  ExprPrinter printer(module_);
  Coordinates coordinates(printer, iteration_.extent, "i");
  printer.coordinate = [&](int axis) { return axis == flat_coordinate ? std::string("i") : coordinates(axis); };
  printer.load = [&](int binding, const std::string& index) {
    if (std::find(vectors_.begin(), vectors_.end(), binding) == vectors_.end()) return module_.load(binding, index);
    return fmt::format("x{}", binding);
  };
  const std::string result = printer.print(value_);
  std::string parameters = "i: i32";
  for (int binding : vectors_)
    parameters += fmt::format(", x{}: {}", binding, wgsl_type(kernel_.bindings[static_cast<std::size_t>(binding)]));
  module_.declare("h_value", fmt::format("fn h_value({}) -> {} {{\n{}  return {};\n}}", parameters, wgsl_type(value_.dtype()),
                                         printer.statements, result));
}

std::string MapPrinter::call(const std::string& index, int lane) const {
  std::string arguments = index;
  for (int binding : vectors_) {
    const DType dtype = kernel_.bindings[static_cast<std::size_t>(binding)];
    const std::string element = fmt::format("x{}.{}", binding, components[lane]);
    arguments += ", " + (dtype == DType::f16       ? "f32(" + element + ")"
                         : dtype == DType::boolean ? "(" + element + " != 0u)"
                                                   : element);
  }
  return fmt::format("h_value({})", arguments);
}

std::string MapPrinter::one_body() {
  ExprPrinter printer(module_);
  Coordinates coordinates(printer, iteration_.extent, "i");
  printer.coordinate = [&](int axis) { return axis == flat_coordinate ? std::string("i") : coordinates(axis); };
  const std::string result = printer.print(value_);
  return "  let i = i32(n);\n" + printer.statements + "  " + module_.store(output_, "i", result) + "\n";
}

std::string MapPrinter::vector_body() {
  for (int binding : reads_.flat)
    if (!is_packed(kernel_.bindings[static_cast<std::size_t>(binding)])) vectors_.push_back(binding);
  for (int binding : vectors_) module_.vectorise(binding);
  module_.vectorise(output_);
  declare_value();
  std::string body = "  let i = i32(n) * 4i;\n";
  for (int binding : vectors_) body += fmt::format("  let x{} = {}[n];\n", binding, module_.binding(binding));
  std::string values;
  const char* type = wgsl_storage_type(stored_);
  for (int lane = 0; lane < 4; ++lane) {
    const std::string value = call(lane ? fmt::format("i + {}i", lane) : "i", lane);
    values += (lane ? ", " : "") + (stored_ == DType::f16 ? "f16(" + value + ")" : value);
  }
  return body + fmt::format("  {}[n] = vec4<{}>({});\n", module_.binding(output_), type, values);
}

std::string MapPrinter::packed_body() {
  declare_value();
  const auto word = [&](int count) {
    std::vector<std::string> values;
    for (int lane = 0; lane < count; ++lane) values.push_back(call(lane ? fmt::format("i + {}i", lane) : "i", lane));
    return module_.store_packed(output_, "n", values, count);
  };
  const int rest = static_cast<int>(count_ % 4);
  std::string body = "  let i = i32(n) * 4i;\n";
  if (rest == 0) return body + "  " + word(4) + "\n";
  if (count_ < 4) return body + "  " + word(rest) + "\n";
  return body + fmt::format("  if (n == {}u) {{\n    {}\n  }} else {{\n    {}\n  }}\n", count_ / 4, word(rest), word(4));
}

Expected<Wgsl> MapPrinter::print() {
  const bool packed = is_packed(stored_);
  const bool vector = !packed && by_four();
  const std::int64_t items = packed || vector ? (count_ + 3) / 4 : count_;
  const std::string body = packed ? packed_body() : vector ? vector_body() : one_body();

  std::uint32_t size = items < 4096 ? 64 : 256;
  size = std::min({size, info_.max_workgroup_invocations, info_.max_workgroup_size_x});
  const auto groups = static_cast<std::uint64_t>((items + size - 1) / size);
  Expected<Grid> grid = fold_grid(groups, info_, kernel_.label);
  if (!grid) return grid.error();
  const std::uint64_t launched = std::uint64_t(grid->workgroups[0]) * grid->workgroups[1] * grid->workgroups[2] * size;
  std::string head = fmt::format("  let n = {} * {}u + lid.x;\n", grid->linear, size);
  if (launched != static_cast<std::uint64_t>(items)) head += fmt::format("  if (n >= {}u) {{ return; }}\n", items);
  Expected<WgslStage> stage = module_.finish(head + body, {size, 1, 1}, grid->workgroups);
  if (!stage) return stage.error();
  Wgsl wgsl;
  wgsl.stages.push_back(std::move(*stage));
  return wgsl;
}

}  // namespace

Expected<Wgsl> print_map(const Kernel& kernel, const DeviceInfo& info) { return MapPrinter(kernel, info).print(); }

}  // namespace hearth::ir
