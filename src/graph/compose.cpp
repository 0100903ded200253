#include "graph/compose.hpp"

#include <unordered_map>

#include "base/assert.hpp"
#include "base/hash.hpp"
#include "graph/lower.hpp"

namespace hearth::graph {

void Group::wire() {
  // A product's operands come first.
  if (core >= 0) {
    const ir::Form form = members[static_cast<std::size_t>(core)]
                              ->operation.definition->lower(members[static_cast<std::size_t>(core)]->operation)
                              .form;
    if (form == ir::Form::matmul || form == ir::Form::conv2d) {
      const auto& operands = members[static_cast<std::size_t>(core)]->operation.inputs;
      std::vector<Operand> ordered{operands[0]};
      if (!(operands[1].node == operands[0].node)) ordered.push_back(operands[1]);
      HEARTH_ASSERT(ordered.size() == 2);
      for (const Operand& leaf : leaves)
        if (!(leaf.node == operands[0].node) && !(leaf.node == operands[1].node)) ordered.push_back(leaf);
      leaves = std::move(ordered);
    }
  }
  for (std::size_t k = 0; k < leaves.size(); ++k) leaves[k].node->member = -1 - static_cast<int>(k);
  for (std::size_t m = 0; m < members.size(); ++m) members[m]->member = static_cast<int>(m);
  wires.resize(members.size());
  for (std::size_t m = 0; m < members.size(); ++m)
    for (const Operand& input : members[m]->operation.inputs) {
      if (input.is_number()) {
        leaves.push_back(input);
        wires[m].push_back(-static_cast<int>(leaves.size()));
      } else {
        wires[m].push_back(input.node->member);
      }
    }
}

void Group::add_to(Key& key) const {
  key.add(static_cast<std::uint64_t>(core + 1) | members.size() << 8 | leaves.size() << 32);
  for (std::size_t m = 0; m < members.size(); ++m) {
    key.add(members[m]->operation);
    for (int wire : wires[m]) key.add(static_cast<std::uint64_t>(static_cast<std::int64_t>(wire)));
  }
  for (const Operand& leaf : leaves) {
    key.add(static_cast<std::uint64_t>(leaf.is_number()) << 8 |
            static_cast<std::uint64_t>(leaf.is_number() ? leaf.dtype : leaf.node->dtype));
    if (!leaf.is_number()) key.add(leaf.node->shape);
  }
}

namespace {

using Coordinates = std::vector<Expr>;  // empty with `own`: the output's own

/// Writes members' bodies into one expression. A member is asked for its value at some coordinates; asked twice for the same
/// ones it gives the same node.
class Composer {
 public:
  explicit Composer(const Group& group) : group_(group) {
    for (const Node* member : group.members) bodies_.push_back(member->operation.definition->lower(member->operation));
    root_shape_ = group.members[0]->shape;
    for (int axis = 0; axis < root_shape_.rank(); ++axis) own_.push_back(Expr::coordinate(axis));
  }

  Body run() {
    Body out;
    const std::size_t core = static_cast<std::size_t>(group_.core);
    if (group_.core < 0) {
      out.value = member(0, own_, true);
      return out;
    }
    out = bodies_[core];
    out.view = false;
    if (out.form == ir::Form::reduce) out.value = rewrite(core, bodies_[core].value, own_, true);
    // argument(0) of an epilogue is the total; the leaves follow.
    shift_ = 1;
    values_.clear();
    Expr total = Expr::argument(0, accumulator(core));
    if (bodies_[core].epilogue) total = bodies_[core].epilogue;  // of argument(0) alone
    if (core == 0) {
      out.epilogue = bodies_[core].epilogue;
      return out;
    }
    core_value_ = cast(total, compute_dtype(group_.members[core]->dtype));
    out.epilogue = member(0, own_, true);
    return out;
  }

 private:
  [[nodiscard]] DType accumulator(std::size_t core) const {
    return bodies_[core].form == ir::Form::reduce ? bodies_[core].value.dtype() : compute_dtype(group_.members[core]->dtype);
  }

  /// The value of operand `wire` (shape `shape`) at `at`; `own`: at the output's own coordinates.
  Expr operand(int wire, const Coordinates& at, bool own) {
    if (wire >= 0) return member(static_cast<std::size_t>(wire), at, own);
    const int leaf = -1 - wire;
    const Operand& operand = group_.leaves[static_cast<std::size_t>(leaf)];
    const DType dtype = compute_dtype(operand.is_number() ? operand.dtype : operand.node->dtype);
    if (operand.is_number() || own) return Expr::argument(leaf + shift_, dtype);
    return Expr::load(leaf + shift_, dtype, at);
  }

  Expr member(std::size_t m, const Coordinates& at, bool own) {
    if (core_value_ && static_cast<int>(m) == group_.core) return core_value_;
    std::uint64_t key = base::hash_combine(m, static_cast<std::uint64_t>(own));
    if (!own)
      for (const Expr& coordinate : at) key = base::hash_combine(key, ir::hash(coordinate));
    if (auto found = values_.find(key); found != values_.end()) return found->second;
    Expr value = rewrite(m, bodies_[m].value, at, own);
    value = cast(value, compute_dtype(group_.members[m]->dtype));
    values_.emplace(key, value);
    return value;
  }

  [[nodiscard]] const Shape& shape_of(int wire) const {
    static const Shape scalar;
    if (wire >= 0) return group_.members[static_cast<std::size_t>(wire)]->shape;
    const Operand& leaf = group_.leaves[static_cast<std::size_t>(-1 - wire)];
    return leaf.is_number() ? scalar : leaf.node->shape;
  }

  Expr rewrite(std::size_t m, const Expr& body, const Coordinates& at, bool own) {
    const Shape& shape = group_.members[m]->shape;
    return ir::rewrite(body, [&](const ir::Node& node, std::span<const Expr> operands) -> Expr {
      switch (node.op) {
        case ir::Op::argument: {
          const int wire = group_.wires[m][static_cast<std::size_t>(node.index)];
          const Shape& input = shape_of(wire);
          if (own && input == shape) return operand(wire, at, true);
          if (wire < 0 && own && shape == root_shape_) return operand(wire, at, true);  // a leaf broadcasts by itself
          Coordinates inner;
          const int missing = shape.rank() - input.rank();
          for (int axis = 0; axis < input.rank(); ++axis)
            inner.push_back(input[axis] == 1 ? Expr::constant(0, DType::i32) : at[static_cast<std::size_t>(axis + missing)]);
          return operand(wire, inner, false);
        }
        case ir::Op::load:
          return operand(group_.wires[m][static_cast<std::size_t>(node.index)], Coordinates(operands.begin(), operands.end()),
                         false);
        case ir::Op::coordinate:
          if (node.index == ir::flat_coordinate) return own ? Expr{} : flat_index(at, row_major_strides(shape));
          // Reduced axes follow the output's: only the core has them.
          return node.index < shape.rank() ? at[static_cast<std::size_t>(node.index)] : Expr{};
        default: return {};
      }
    });
  }

  const Group& group_;
  std::vector<Body> bodies_;
  Shape root_shape_;
  Coordinates own_;
  int shift_ = 0;
  Expr core_value_;
  std::unordered_map<std::uint64_t, Expr> values_;
};

}  // namespace

Body compose(const Group& group) { return Composer(group).run(); }

}  // namespace hearth::graph
