#include <fmt/format.h>

#include <algorithm>

#include "base/assert.hpp"
#include "ir/wgsl_helpers.hpp"
#include "ir/wgsl_parts.hpp"

namespace hearth::ir {
namespace {

bool is_number(const Node& node) { return node.op == Op::literal && node.value == node.value; }

std::string convert(WgslModule& module, const std::string& x, DType from, DType to) {
  if (to == DType::boolean) {
    if (from == DType::f32) return fmt::format("!({} == 0.0f)", x);  // NaN is true
    return fmt::format("({} != {})", x, from == DType::i32 ? "0i" : "0u");
  }
  if (from == DType::f32 && to == DType::i32) return fmt::format("{}({})", helper(module, "h_f32_to_i32"), x);
  if (from == DType::f32 && to == DType::u32) return fmt::format("{}({})", helper(module, "h_f32_to_u32"), x);
  return fmt::format("{}({})", wgsl_type(to), x);
}

std::string print_max_min(WgslModule& module, const Node& node, const std::string& a, const std::string& b) {
  const char* name = node.op == Op::max ? "max" : "min";
  if (node.dtype != DType::f32) return fmt::format("{}({}, {})", name, a, b);
  const std::string full = std::string("h_") + name;
  if (is_number(*node.operands[1].node())) return fmt::format("{}({}, {})", helper(module, full + "1"), a, b);
  if (is_number(*node.operands[0].node())) return fmt::format("{}({}, {})", helper(module, full + "1"), b, a);
  return fmt::format("{}({}, {})", helper(module, full), a, b);
}

/// Division, remainder and shifts, which have defined results for every
/// operand.
std::string print_guarded(WgslModule& module, const Node& node, const std::string& a, const std::string& b) {
  const bool constant = node.operands[1].node()->op == Op::literal;  // 0, -1 and wide shifts were folded when the node was built
  const char* type = wgsl_type(node.dtype);
  switch (node.op) {
    case Op::div:
      if (node.dtype == DType::f32 || constant) return fmt::format("{} / {}", a, b);
      return fmt::format("{}({}, {})", helper(module, std::string("h_div_") + type), a, b);
    case Op::rem:
      if (node.dtype == DType::u32 && constant) return fmt::format("{} % {}", a, b);
      // SPIR-V leaves the signed remainder of negative operands open.
      if (node.dtype == DType::i32 && constant) return fmt::format("{} - ({} / {}) * {}", a, a, b, b);
      return fmt::format("{}({}, {})", helper(module, std::string("h_rem_") + type), a, b);
    default: {
      const bool left = node.op == Op::shift_left;
      if (constant)
        return fmt::format("{} {} {}u", a, left ? "<<" : ">>", static_cast<std::uint32_t>(node.operands[1].node()->value));
      return fmt::format("{}({}, {})", helper(module, std::string(left ? "h_shl_" : "h_shr_") + type), a, b);
    }
  }
}

/// Native functions of constants must not be constant expressions: WGSL rejects
/// log(-1.0).
std::string runtime_operand(WgslModule& module, const Node& operand, const std::string& text) {
  if (operand.op != Op::literal) return text;
  module.declare("h_zero", "var<private> h_zero: u32 = 0u;");
  return fmt::format("bitcast<f32>(bitcast<u32>({}) | h_zero)", text);
}

std::string print_native(WgslModule& module, const Node& node, std::span<const std::string> x) {
  const bool one = node.op == Op::native;
  const char* op = one ? node.unary->name : node.binary->name;
  const char* name = one ? node.unary->spec.native.wgsl : node.binary->spec.native.wgsl;
  const char* source = one ? node.unary->spec.native.wgsl_source : node.binary->spec.native.wgsl_source;
  if (!name) {
    module.fail(ErrorCode::unsupported, fmt::format("{}: op '{}' has no WGSL spelling.", module.kernel().label, op));
    return "0.0f";
  }
  if (source) module.declare(name, source);
  std::string text = fmt::format("{}({}", name, runtime_operand(module, *node.operands[0].node(), x[0]));
  if (!one) text += ", " + runtime_operand(module, *node.operands[1].node(), x[1]);
  return text + ")";
}

const char* symbol(Op op) {
  switch (op) {
    case Op::add: return "+";
    case Op::sub: return "-";
    case Op::mul: return "*";
    case Op::less: return "<";
    case Op::less_equal: return "<=";
    case Op::equal: return "==";
    case Op::bit_and: return "&";
    case Op::bit_or: return "|";
    case Op::bit_xor: return "^";
    default: return "";
  }
}

}  // namespace

std::string ExprPrinter::let(const std::string& text) {
  std::string name = fmt::format("{}{}", prefix_, next_++);
  statements += fmt::format("{}let {} = {};\n", indent_, name, text);
  return name;
}

std::string ExprPrinter::print(const Expr& original) {
  const Expr e = expand(original, Target::wgsl);
  std::unordered_map<const Node*, std::string> names;
  for (const Node* node : topological(e)) {
    const Expr held{Ref<Node>(const_cast<Node*>(node))};
    std::string name;
    const auto [first, last] = done_.equal_range(node->hash);
    for (auto it = first; it != last && name.empty(); ++it)
      if (same(it->second.first, held)) name = it->second.second;
    if (name.empty()) {
      std::vector<std::string> operands;
      operands.reserve(node->operands.size());
      for (const Expr& operand : node->operands) operands.push_back(names.at(operand.node().get()));
      name = print_node(*node, operands);
      done_.emplace(node->hash, std::pair{held, name});
    }
    names.emplace(node, std::move(name));
  }
  return names.at(e.node().get());
}

std::string ExprPrinter::print_node(const Node& node, std::span<const std::string> x) {
  if (node.dtype == DType::f64)
    module_.fail(ErrorCode::unsupported,
                 fmt::format("{}: the device has no f64; it exists on the CPU device only.", module_.kernel().label));
  switch (node.op) {
    case Op::literal: return module_.literal(node.value, node.dtype);
    case Op::argument: HEARTH_ASSERT(argument); return argument(node.index);
    case Op::coordinate: HEARTH_ASSERT(coordinate); return coordinate(node.index);
    case Op::parameter: return let(module_.parameter(node.index));
    case Op::load: {
      HEARTH_ASSERT(x.size() == 1);
      return let(load ? load(node.index, x[0]) : module_.load(node.index, x[0]));
    }
    case Op::neg: return let(node.dtype == DType::u32 ? "0u - " + x[0] : "-" + x[0]);
    case Op::bit_not: return let((node.dtype == DType::boolean ? "!" : "~") + x[0]);
    case Op::cast: return let(convert(module_, x[0], node.operands[0].dtype(), node.dtype));
    case Op::bitcast: return let(fmt::format("bitcast<{}>({})", wgsl_type(node.dtype), x[0]));
    case Op::native:
    case Op::native_binary: return let(print_native(module_, node, x));
    case Op::max:
    case Op::min: return let(print_max_min(module_, node, x[0], x[1]));
    case Op::div:
    case Op::rem:
    case Op::shift_left:
    case Op::shift_right: return let(print_guarded(module_, node, x[0], x[1]));
    // Some compilers take an ordered comparison for !=, false with NaN.
    case Op::not_equal: return let(fmt::format("!({} == {})", x[0], x[1]));
    case Op::mul_high: return let(fmt::format("{}({}, {})", helper(module_, "h_mul_high"), x[0], x[1]));
    case Op::select: return let(fmt::format("select({}, {}, {})", x[2], x[1], x[0]));
    case Op::bit_xor:
      if (node.dtype == DType::boolean) return let(fmt::format("{} != {}", x[0], x[1]));
      [[fallthrough]];
    default: return let(fmt::format("{} {} {}", x[0], symbol(node.op), x[1]));
  }
}

std::string to_wgsl(const Expr& e) {
  Kernel kernel;
  for (const Node* node : topological(e)) {
    if (node->op == Op::parameter)
      kernel.parameters.resize(std::max(kernel.parameters.size(), std::size_t(node->index) + 1), DType::f32);
    if (node->op == Op::load) kernel.bindings.resize(std::max(kernel.bindings.size(), std::size_t(node->index) + 1), DType::f32);
  }
  for (const Node* node : topological(e)) {
    if (node->op == Op::parameter) kernel.parameters[static_cast<std::size_t>(node->index)] = node->dtype;
    if (node->op == Op::load) kernel.bindings[static_cast<std::size_t>(node->index)] = node->dtype;
  }
  const DeviceInfo info;
  WgslModule module(kernel, info);
  ExprPrinter printer(module);
  printer.coordinate = [](int axis) { return axis == flat_coordinate ? std::string("i") : fmt::format("i{}", axis); };
  printer.argument = [](int index) { return fmt::format("x{}", index); };
  const std::string result = printer.print(e);
  return printer.statements + "  " + result;
}

}  // namespace hearth::ir
