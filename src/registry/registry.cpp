// The only file that lists the ops: the blocks of ops/ add themselves when this is defined.
#define HEARTH_REGISTER_OPS
#include "hearth/op.hpp"

namespace hearth::detail {

OpRegistry& mutable_registry() {
  static OpRegistry registry;
  return registry;
}

}  // namespace hearth::detail

#include "hearth/ops.hpp"

namespace hearth {

const OpRegistry& OpRegistry::all() { return detail::mutable_registry(); }

}  // namespace hearth
