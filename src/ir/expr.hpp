#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "hearth/expr.hpp"
#include "hearth/op.hpp"

/// The graph behind hearth::Expr.
namespace hearth::ir {

enum class Op : std::uint8_t {
  literal,
  argument,
  load,
  coordinate,
  parameter,  // leaves (load has its coordinates as operands)
  neg,
  bit_not,
  cast,
  bitcast,
  native,  // one operand
  add,
  sub,
  mul,
  div,
  rem,
  max,
  min,
  less,
  less_equal,
  equal,
  not_equal,
  bit_and,
  bit_or,
  bit_xor,
  shift_left,
  shift_right,
  mul_high,
  native_binary,  // two
  select,         // condition, if_true, if_false
};

struct Node final : RefCounted {
  Op op = Op::literal;
  DType dtype = DType::f32;  ///< compute dtype
  bool weak = false;         ///< a literal that takes its partner's dtype
  std::int32_t index = 0;    ///< input, axis (flat_coordinate: the row-major index
                             ///< of the output element) or parameter
  double value = 0;          ///< literal
  const UnaryOp* unary = nullptr;
  const BinaryOp* binary = nullptr;
  std::vector<Expr> operands;
  std::uint64_t hash = 0;  ///< structural

 protected:
  void destroy() noexcept override;  ///< without recursion: chains may be very deep
};

/// coordinate(flat_coordinate) is the row-major index of the output element.
inline constexpr int flat_coordinate = -1;

[[nodiscard]] inline std::uint64_t hash(const Expr& e) { return e.node() ? e.node()->hash : 0; }
/// Structural equality.
[[nodiscard]] bool same(const Expr& a, const Expr& b);

/// Replaces leaves: `leaf` is called once for each distinct argument, load (its
/// coordinates already rewritten), coordinate and parameter node; a null result
/// keeps the node.
[[nodiscard]] Expr rewrite(const Expr& e, const std::function<Expr(const Node&, std::span<const Expr> operands)>& leaf);
/// Number of distinct nodes.
[[nodiscard]] int node_count(const Expr& e);
/// Calls `visit` once for every distinct node, operands first.
void visit(const Expr& e, const std::function<void(const Node&)>& visit);

/// Distinct nodes, operands before their users; the root is the last.
[[nodiscard]] std::vector<const Node*> topological(const Expr& e);
/// The node with new operands, typed and folded like a new expression.
[[nodiscard]] Expr rebuild(const Node& node, std::span<const Expr> operands);
/// Whether a native node has no spelling at all but its op's `forward`.
[[nodiscard]] bool is_composite(const Node& node);
/// Who computes an expression; decides which native nodes it can spell.
enum class Target : std::uint8_t { wgsl, cpu };
/// Replaces the native nodes that `target` cannot spell by their op's
/// `forward`, where there is one.
[[nodiscard]] Expr expand(const Expr& e, Target target);

/// Values of the leaves for `evaluate`.
struct Values {
  std::span<const double> arguments{};
  std::span<const double> coordinates{};
  std::span<const double> parameters{};
  double flat = 0;  ///< coordinate(flat_coordinate)
  std::function<double(int input, std::span<const double> coordinates)> load{};
};
/// Evaluates with floats in double precision and integers exactly: the oracle
/// of the tests.
class Evaluator {
 public:
  explicit Evaluator(const Expr& e);
  [[nodiscard]] double operator()(const Values& values);

 private:
  Expr expanded_;
  std::vector<const Node*> order_;
  std::vector<int> operands_;  ///< places in the order, of all nodes one after another
  std::vector<double> done_;
};
[[nodiscard]] double evaluate(const Expr& e, const Values& values);
[[nodiscard]] double evaluate(const Expr& e, std::span<const double> arguments);

}  // namespace hearth::ir
