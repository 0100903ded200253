#include "ir/expr.hpp"

#include <cmath>
#include <cstring>

#include "base/assert.hpp"
#include "base/hash.hpp"
#include "ir/scalar.hpp"

namespace hearth {
namespace ir {
namespace {

Ref<Node> make(Op op, DType dtype, std::vector<Expr> operands = {}) {
  auto node = make_ref<Node>();
  node->op = op;
  node->dtype = dtype;
  node->operands = std::move(operands);
  return node;
}

Expr seal(Ref<Node> node) {
  std::uint64_t h = base::hash_combine(std::uint64_t(node->op), std::uint64_t(node->dtype));
  h = base::hash_combine(h, static_cast<std::uint64_t>(static_cast<std::uint32_t>(node->index)));
  if (node->op == Op::literal) h = base::hash_combine(h, node->value);
  if (node->unary) h = base::hash_combine(h, base::hash_text(node->unary->name));
  if (node->binary) h = base::hash_combine(h, base::hash_text(node->binary->name));
  for (const Expr& operand : node->operands) h = base::hash_combine(h, hash(operand));
  node->hash = h;
  return Expr(std::move(node));
}

bool is_literal(const Expr& e) { return e.node()->op == Op::literal; }
bool is_weak(const Expr& e) { return e.node()->weak; }
bool is_value(const Expr& e, double value) { return is_literal(e) && e.node()->value == value; }

Expr literal(double value, DType dtype, bool weak) {
  auto node = make(Op::literal, dtype);
  node->value = dtype == DType::f32 && !weak ? double(static_cast<float>(value)) : value;
  node->weak = weak;
  return seal(std::move(node));
}

Expr leaf(Op op, int index, DType dtype) {
  auto node = make(op, dtype);
  node->index = index;
  return seal(std::move(node));
}

/// A literal that is not weak any more.
Expr settled(const Expr& e) { return is_weak(e) ? literal(e.node()->value, e.dtype(), false) : e; }

/// A weak literal takes its partner's dtype, unless it cannot hold the value: a
/// fraction with an integer gives f32.
DType common(const Expr& a, const Expr& b) {
  if (is_weak(a) == is_weak(b)) return a.dtype() == b.dtype() ? a.dtype() : compute_dtype(promote(a.dtype(), b.dtype()));
  const Expr& number = is_weak(a) ? a : b;
  const DType partner = (is_weak(a) ? b : a).dtype();
  const double value = number.node()->value;
  if (is_float(partner)) return partner;
  const bool whole = value == std::trunc(value) && std::abs(value) < 4294967296.0;
  if (!whole) return DType::f32;
  if (partner == DType::boolean && value != 0 && value != 1) return number.dtype();
  return partner;
}

Expr to(const Expr& e, DType dtype) {
  if (e.dtype() == dtype) return settled(e);
  if (is_literal(e)) return literal(convert_scalar(e.node()->value, e.dtype(), dtype), dtype, false);
  return seal(make(Op::cast, dtype, {e}));
}

/// Weak floats are folded in f64, so that 1 / 3.0 keeps its digits for an f64
/// partner.
Expr fold(Op op, DType type, DType result, bool weak, const Expr& a, const Expr& b) {
  const auto wide = [&](DType t) { return weak && t == DType::f32 ? DType::f64 : t; };
  const double value = apply_scalar(op, wide(type), wide(result), a.node()->value, b ? b.node()->value : 0);
  return literal(value, result, weak);
}

Expr unary(Op op, const Expr& x);
Expr binary(Op op, const Expr& a, const Expr& b);

bool is_comparison(Op op) { return op == Op::less || op == Op::less_equal || op == Op::equal || op == Op::not_equal; }
bool is_bitwise(Op op) { return op == Op::bit_and || op == Op::bit_or || op == Op::bit_xor; }

/// Neutral and absorbing operands; null when there is none. Floats: only what
/// keeps NaN and the sign of zero.
Expr neutral(Op op, DType type, const Expr& a, const Expr& b) {
  const bool integer = !is_float(type);
  switch (op) {
    case Op::add:
      if (integer && is_value(a, 0)) return b;
      if (integer && is_value(b, 0)) return a;
      break;
    case Op::sub:
      if (is_value(b, 0) && !std::signbit(b.node()->value)) return a;
      break;
    case Op::mul:
      if (is_value(a, 1)) return b;
      if (is_value(b, 1)) return a;
      if (integer && is_value(a, 0)) return a;
      if (integer && is_value(b, 0)) return b;
      break;
    case Op::div:
      if (is_value(b, 1)) return a;
      if (integer && is_value(b, 0)) return b;
      if (type == DType::i32 && is_value(b, -1)) return unary(Op::neg, a);
      break;
    case Op::rem:
      if (integer && (is_value(b, 1) || is_value(b, 0) || is_value(b, -1))) return literal(0, type, false);
      break;
    case Op::bit_and:
      if (is_value(a, 0) || (type == DType::boolean && is_value(b, 1))) return a;
      if (is_value(b, 0) || (type == DType::boolean && is_value(a, 1))) return b;
      break;
    case Op::bit_or:
    case Op::bit_xor:
      if (is_value(a, 0)) return b;
      if (is_value(b, 0)) return a;
      if (op == Op::bit_or && type == DType::boolean && is_value(a, 1)) return a;
      if (op == Op::bit_or && type == DType::boolean && is_value(b, 1)) return b;
      break;
    case Op::shift_left:
    case Op::shift_right:
      if (is_value(b, 0)) return a;
      if (is_literal(b) && (b.node()->value < 0 || b.node()->value > 31)) {
        if (op == Op::shift_left || type == DType::u32) return literal(0, type, false);
        return binary(op, a, literal(31, type, false));
      }
      break;
    default: break;
  }
  return {};
}

Expr binary(Op op, const Expr& a, const Expr& b) {
  HEARTH_ASSERT(a && b);
  DType type = common(a, b);
  const bool weak = is_weak(a) && is_weak(b);
  if (type == DType::boolean) {
    if (op == Op::max) op = Op::bit_or;
    if (op == Op::min) op = Op::bit_and;
    if (!is_bitwise(op) && op != Op::equal && op != Op::not_equal) type = DType::i32;
  }
  if (is_bitwise(op) && is_float(type)) type = DType::i32;
  if (op == Op::mul_high) type = DType::u32;
  const DType result = is_comparison(op) ? DType::boolean : type;
  if (weak) {
    if (is_comparison(op)) return fold(op, type, result, false, a, b);
    return fold(op, type, result, true, a, b);
  }
  const Expr x = to(a, type);
  const Expr y = to(b, type);
  if (is_literal(x) && is_literal(y)) return fold(op, type, result, false, x, y);
  if (Expr simple = neutral(op, type, x, y)) return simple;
  return seal(make(op, result, {x, y}));
}

Expr unary(Op op, const Expr& x) {
  HEARTH_ASSERT(x);
  const DType type = op == Op::neg && x.dtype() == DType::boolean ? DType::i32 : x.dtype();
  const Expr a = is_weak(x) && type == x.dtype() ? x : to(x, type);
  if (is_literal(a)) return fold(op, type, type, is_weak(a), a, {});
  if (a.node()->op == op) return a.node()->operands[0];  // -(-x), !(!x)
  return seal(make(op, type, {a}));
}

bool takes_floats(OpDTypes dtypes) { return dtypes == OpDTypes::floats || dtypes == OpDTypes::float_predicate; }
/// An integer or boolean as f32; a weak literal stays weak.
Expr float_operand(const Expr& x) {
  if (is_float(x.dtype())) return x;
  return is_weak(x) ? Expr(x.node()->value) : to(x, DType::f32);
}

}  // namespace

void Node::destroy() noexcept {
  // Operands that nobody else holds are taken over and freed in this loop
  // instead of by recursion.
  std::vector<Expr> doomed = std::move(operands);
  operands.clear();
  while (!doomed.empty()) {
    const Expr last = std::move(doomed.back());
    doomed.pop_back();
    if (!last.node() || last.node()->use_count() != 1) continue;
    for (Expr& operand : last.node()->operands) doomed.push_back(std::move(operand));
    last.node()->operands.clear();
  }
  delete this;
}

Expr rebuild(const Node& node, std::span<const Expr> x) {
  switch (node.op) {
    case Op::literal: return literal(node.value, node.dtype, node.weak);
    case Op::argument:
    case Op::coordinate:
    case Op::parameter: return leaf(node.op, node.index, node.dtype);
    case Op::load: return Expr::load(node.index, node.dtype, x);
    case Op::neg:
    case Op::bit_not: return unary(node.op, x[0]);
    case Op::cast: return cast(x[0], node.dtype);
    case Op::bitcast: return bitcast(x[0], node.dtype);
    case Op::native: return Expr::native(*node.unary, x[0]);
    case Op::native_binary: return Expr::native(*node.binary, x[0], x[1]);
    case Op::select: return select(x[0], x[1], x[2]);
    default: return binary(node.op, x[0], x[1]);
  }
}

bool is_composite(const Node& node) {
  if (node.op == Op::native) return node.unary->spec.forward && !node.unary->spec.native.wgsl && !node.unary->spec.native.f32;
  if (node.op == Op::native_binary)
    return node.binary->spec.forward && !node.binary->spec.native.wgsl && !node.binary->spec.native.f32;
  return false;
}

}  // namespace ir

using ir::Op;

Expr::Expr(double literal) : Expr(ir::literal(literal, DType::f32, true)) {}
Expr::Expr(int literal) : Expr(ir::literal(literal, DType::i32, true)) {}
Expr::Expr(std::uint32_t literal) : Expr(ir::literal(literal, DType::u32, false)) {}

Expr Expr::constant(double value, DType dtype) {
  const DType type = compute_dtype(dtype);
  return ir::literal(is_float(type) ? value : ir::convert_scalar(value, DType::f64, type), type, false);
}
Expr Expr::argument(int input, DType dtype) { return ir::leaf(Op::argument, input, compute_dtype(dtype)); }
Expr Expr::load(int input, DType dtype, std::span<const Expr> coordinates) {
  std::vector<Expr> operands;
  operands.reserve(coordinates.size());
  for (const Expr& c : coordinates) operands.push_back(ir::to(c, DType::i32));
  auto node = ir::make(Op::load, compute_dtype(dtype), std::move(operands));
  node->index = input;
  return ir::seal(std::move(node));
}
Expr Expr::coordinate(int axis) { return ir::leaf(Op::coordinate, axis, DType::i32); }
Expr Expr::parameter(int index, DType dtype) { return ir::leaf(Op::parameter, index, compute_dtype(dtype)); }

Expr Expr::native(const UnaryOp& op, Expr x) {
  auto node = ir::make(Op::native, DType::f32);
  node->unary = &op;
  const bool composite = ir::is_composite(*node);
  node->operands = {composite || is_float(x.dtype()) ? ir::settled(x) : ir::to(x, DType::f32)};
  node->dtype = node->operands[0].dtype();
  if (composite) node->dtype = op.spec.forward(argument(0, node->dtype)).dtype();
  return ir::seal(std::move(node));
}

Expr Expr::native(const BinaryOp& op, Expr a, Expr b) {
  auto node = ir::make(Op::native_binary, DType::f32);
  node->binary = &op;
  const bool composite = ir::is_composite(*node);
  DType type = ir::common(a, b);
  if (!composite && !is_float(type)) type = DType::f32;
  node->operands = {ir::to(a, type), ir::to(b, type)};
  node->dtype = composite ? op.spec.forward(argument(0, type), argument(1, type)).dtype() : type;
  return ir::seal(std::move(node));
}

DType Expr::dtype() const { return node_ ? node_->dtype : DType::f32; }

Expr operator+(Expr a, Expr b) { return ir::binary(Op::add, a, b); }
Expr operator-(Expr a, Expr b) { return ir::binary(Op::sub, a, b); }
Expr operator*(Expr a, Expr b) { return ir::binary(Op::mul, a, b); }
Expr operator/(Expr a, Expr b) { return ir::binary(Op::div, a, b); }
Expr operator%(Expr a, Expr b) { return ir::binary(Op::rem, a, b); }
Expr operator-(Expr a) { return ir::unary(Op::neg, a); }
Expr operator<(Expr a, Expr b) { return ir::binary(Op::less, a, b); }
Expr operator<=(Expr a, Expr b) { return ir::binary(Op::less_equal, a, b); }
Expr operator==(Expr a, Expr b) { return ir::binary(Op::equal, a, b); }
Expr operator!=(Expr a, Expr b) { return ir::binary(Op::not_equal, a, b); }
Expr operator&(Expr a, Expr b) { return ir::binary(Op::bit_and, a, b); }
Expr operator|(Expr a, Expr b) { return ir::binary(Op::bit_or, a, b); }
Expr operator^(Expr a, Expr b) { return ir::binary(Op::bit_xor, a, b); }
Expr operator<<(Expr a, Expr b) { return ir::binary(Op::shift_left, a, b); }
Expr operator>>(Expr a, Expr b) { return ir::binary(Op::shift_right, a, b); }
Expr operator~(Expr a) { return ir::unary(Op::bit_not, a); }

Expr max(Expr a, Expr b) { return ir::binary(Op::max, a, b); }
Expr min(Expr a, Expr b) { return ir::binary(Op::min, a, b); }
Expr mul_high(Expr a, Expr b) { return ir::binary(Op::mul_high, a, b); }

Expr select(Expr condition, Expr if_true, Expr if_false) {
  const Expr test = ir::to(condition, DType::boolean);
  const DType type = ir::common(if_true, if_false);
  const bool weak = ir::is_weak(if_true) && ir::is_weak(if_false);
  const Expr yes = weak && if_true.dtype() == type ? if_true : ir::to(if_true, type);
  const Expr no = weak && if_false.dtype() == type ? if_false : ir::to(if_false, type);
  if (ir::is_literal(test)) return test.node()->value != 0 ? yes : no;
  if (ir::same(yes, no)) return ir::settled(yes);
  return ir::seal(ir::make(Op::select, type, {test, ir::settled(yes), ir::settled(no)}));
}

Expr cast(Expr x, DType dtype) {
  const DType type = compute_dtype(dtype);
  if (dtype == type || dtype == DType::f16) return ir::to(x, type);
  // Narrow integers are stored by their low byte; here they get the values that
  // will be stored.
  const bool byte = dtype == DType::u8;
  if (is_float(x.dtype())) return ir::to(min(max(ir::to(x, DType::i32), byte ? 0 : -128), byte ? 255 : 127), type);
  const Expr word = ir::to(x, type);
  return byte ? (word & Expr(255)) : ((word << Expr(24)) >> Expr(24));
}

Expr bitcast(Expr x, DType dtype) {
  Expr a = ir::settled(x);
  if (a.dtype() == DType::boolean) a = ir::to(a, DType::u32);
  if (a.dtype() == dtype) return a;
  if (ir::is_literal(a)) return ir::fold(Op::bitcast, a.dtype(), dtype, false, a, {});
  if (a.node()->op == Op::bitcast && a.node()->operands[0].dtype() == dtype) return a.node()->operands[0];
  return ir::seal(ir::make(Op::bitcast, dtype, {a}));
}

Expr UnaryOp::operator()(Expr x) const {
  const bool native = spec.native.wgsl || spec.native.f32;
  if (ir::takes_floats(spec.dtypes)) x = ir::float_operand(x);
  return spec.forward && !spec.grad && !native ? spec.forward(x) : Expr::native(*this, x);
}

Expr BinaryOp::operator()(Expr a, Expr b) const {
  const bool native = spec.native.wgsl || spec.native.f32;
  if (ir::takes_floats(spec.dtypes) && !is_float(ir::common(a, b))) {
    a = ir::float_operand(a);
    b = ir::float_operand(b);
  }
  return spec.forward && !spec.grad_a && !spec.grad_b && !native ? spec.forward(a, b) : Expr::native(*this, a, b);
}

}  // namespace hearth
