#pragma once
#include <vector>

#include "graph/eager.hpp"
#include "graph/node.hpp"

namespace hearth::graph {

/// Pending operations that become one kernel.
struct Group {
  std::vector<Node*> members;   ///< the root first, every member after its consumers
  std::vector<Operand> leaves;  ///< what they read from memory, then (after `wire`) their numbers
  std::size_t numbers = 0;
  int core = -1;  ///< the member that is no map: a reduction, a product, a convolution
  /// For every member its operands in order: >= 0 a member, else leaf -1 - k.
  std::vector<std::vector<int>> wires;

  /// Fixes leaves and wires while the nodes' scratch is valid.
  void wire();
  /// Everything that `compose` depends on.
  void add_to(Key& key) const;
};

struct ComposedBody : Body {
  std::uint64_t number = 0;  ///< stands for the body in keys
};

/// The body of the whole group: argument(k) and load(k) are leaf k (in an epilogue k + 1).
[[nodiscard]] Body compose(const Group& group);

}  // namespace hearth::graph
