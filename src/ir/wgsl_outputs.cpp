#include "ir/wgsl_outputs.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "ir/simplify.hpp"
#include "ir/wgsl_coordinates.hpp"

namespace hearth::ir {
namespace {

constexpr const char* components[] = {"x", "y", "z", "w"};

int output_index(const Kernel& kernel) { return static_cast<int>(kernel.bindings.size()) - 1; }

DType stored(const Kernel& kernel) { return kernel.bindings.back(); }

/// The value in the compute dtype of the output, where there is no epilogue that says so.
std::string converted(const Kernel& kernel, DType value, const std::string& text) {
  const DType wanted = compute_dtype(stored(kernel));
  if (value == wanted) return text;
  if (wanted == DType::boolean) return fmt::format("({} != {}(0))", text, wgsl_type(value));
  return fmt::format("{}({})", wgsl_type(wanted), text);
}

}  // namespace

bool Outputs::can_do_fours(const Kernel& kernel) {
  return kernel.extent.rank() > 0 && kernel.extent.back() % 4 == 0 && size_bytes(stored(kernel)) >= 2 &&
         stored(kernel) != DType::boolean;
}

Outputs::Outputs(WgslModule& module, bool fours)
    : module_(module),
      kernel_(module.kernel()),
      epilogue_(kernel_.epilogue ? simplify(kernel_.epilogue, kernel_.extent, kernel_.extent.rank()) : Expr()),
      fours_(fours) {
  if (fours_) {
    const int last = kernel_.extent.rank() - 1;
    std::set<int> other;
    if (epilogue_) {
      visit(epilogue_, [&](const Node& node) {
        if (node.op != Op::load) return;
        const Node& index = *node.operands[0].node();
        const bool whole = index.op == Op::coordinate && index.index == flat_coordinate;
        const bool along = index.op == Op::coordinate && index.index == last;
        (whole ? flat_ : along ? last_ : other).insert(node.index);
      });
    }
    const auto drop = [&](std::set<int>& from, const std::set<int>& a, const std::set<int>& b) {
      std::erase_if(from, [&](int i) {
        return a.count(i) || b.count(i) || i < 2 || size_bytes(kernel_.bindings[static_cast<std::size_t>(i)]) < 2 ||
               kernel_.bindings[static_cast<std::size_t>(i)] == DType::boolean;
      });
    };
    const std::set<int> flat = flat_;
    drop(flat_, last_, other);
    drop(last_, flat, other);
    flat_.erase(output_index(kernel_));
    last_.erase(output_index(kernel_));
    for (int i : flat_) module_.vectorise(i);
    for (int i : last_) module_.vectorise(i);
    module_.vectorise(output_index(kernel_));
  }
  declare_finish();
}

void Outputs::declare_finish() {
  const int last = kernel_.extent.rank() - 1;
  ExprPrinter printer(module_);
  Coordinates coordinates(printer, kernel_.extent, "o");
  printer.coordinate = [&](int axis) {
    if (axis == flat_coordinate) return std::string("o");
    return axis == last ? std::string("last") : coordinates(axis);
  };
  printer.argument = [](int) { return std::string("total"); };
  printer.load = [&](int binding, const std::string& index) {
    if (flat_.count(binding) || last_.count(binding)) return fmt::format("x{}", binding);
    return module_.load(binding, index);
  };
  const DType type = accumulator(kernel_);
  std::string result = epilogue_ ? printer.print(epilogue_) : std::string("total");
  result = converted(kernel_, epilogue_ ? epilogue_.dtype() : type, result);
  std::string parameters = fmt::format("o: i32, last: i32, total: {}", wgsl_type(type));
  std::string loads, lanes[4];
  for (const std::set<int>* set : {&flat_, &last_}) {
    for (int binding : *set) {
      const DType dtype = kernel_.bindings[static_cast<std::size_t>(binding)];
      const char* compute = wgsl_type(dtype);
      parameters += fmt::format(", x{}: {}", binding, compute);
      loads += fmt::format("  let x{} = vec4<{}>({}[u32({}) / 4u]);\n", binding, compute, module_.binding(binding),
                           set == &flat_ ? "o" : "last");
      for (int lane = 0; lane < 4; ++lane) lanes[lane] += fmt::format(", x{}.{}", binding, components[lane]);
    }
  }
  const char* compute = wgsl_type(stored(kernel_));
  module_.declare("h_finish",
                  fmt::format("fn h_finish({}) -> {} {{\n{}  return {};\n}}", parameters, compute, printer.statements, result));
  if (!fours_) return;
  std::string calls;
  for (int lane = 0; lane < 4; ++lane)
    calls +=
        fmt::format("{}h_finish(o + {}i, last + {}i, total.{}{})", lane ? ", " : "", lane, lane, components[lane], lanes[lane]);
  module_.declare("h_finish4",
                  fmt::format("fn h_finish4(o: i32, last: i32, total: vec4<{}>) -> vec4<{}> {{\n{}  return vec4<{}>({});\n}}",
                              wgsl_type(type), compute, loads, compute, calls));
}

std::string Outputs::one(const std::string& o, const std::string& last, const std::string& total) {
  return fmt::format("h_finish({}, {}, {})", o, last, total);
}

std::string Outputs::four(const std::string& o, const std::string& last, const std::string& total) {
  return fmt::format("h_finish4({}, {}, {})", o, last, total);
}

std::string Outputs::store_one(const std::string& o, const std::string& value) {
  return module_.store(output_index(kernel_), o, value);
}

std::string Outputs::store_four(const std::string& o, const std::string& value) {
  const std::string name = module_.binding(output_index(kernel_));
  const std::string converted = stored(kernel_) == DType::f16 ? "vec4<f16>(" + value + ")" : value;
  return fmt::format("{}[u32({}) / 4u] = {};", name, o, converted);
}

Expected<Wgsl> print_one_each(WgslModule& module, const std::string& total) {
  const Kernel& kernel = module.kernel();
  const DeviceInfo& info = module.info();
  Outputs outputs(module, false);
  const bool packed = is_packed(stored(kernel));
  const std::int64_t count = kernel.extent.elements();
  const std::int64_t items = packed ? (count + 3) / 4 : count;
  const std::uint32_t size = std::min({64u, info.max_workgroup_invocations, info.max_workgroup_size_x});
  Expected<Grid> grid = fold_grid(static_cast<std::uint64_t>((items + size - 1) / size), info, kernel.label);
  if (!grid) return grid.error();
  std::int64_t width = kernel.extent.rank() ? kernel.extent.back() : 1;
  module.declare("h_element", fmt::format("fn h_element(o: i32) -> {} {{\n  return {};\n}}", wgsl_type(stored(kernel)),
                                          outputs.one("o", fmt::format("i32(u32(o) % {}u)", width), total)));
  std::string body = fmt::format("  let n = {} * {}u + lid.x;\n  if (n >= {}u) {{ return; }}\n", grid->linear, size, items);
  if (!packed) {
    body += "  let o = i32(n);\n  " + module.store(output_index(kernel), "o", "h_element(o)") + "\n";
  } else {
    const auto word = [&](int lanes) {
      std::vector<std::string> values;
      for (int lane = 0; lane < lanes; ++lane) values.push_back(fmt::format("h_element(i32(n) * 4i + {}i)", lane));
      return module.store_packed(output_index(kernel), "n", values, lanes);
    };
    const int rest = static_cast<int>(count % 4);
    if (rest) body += fmt::format("  if (n == {}u) {{\n    {}\n    return;\n  }}\n", count / 4, word(rest));
    if (count >= 4) body += "  " + word(4) + "\n";
  }
  Expected<WgslStage> stage = module.finish(body, {size, 1, 1}, grid->workgroups);
  if (!stage) return stage.error();
  Wgsl wgsl;
  wgsl.stages.push_back(std::move(*stage));
  return wgsl;
}

}  // namespace hearth::ir
