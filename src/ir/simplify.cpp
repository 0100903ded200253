#include "ir/simplify.hpp"

namespace hearth::ir {

Expr simplify(const Expr& e, const Shape&, int) { return e; }
std::optional<Affine> affine(const Expr&, const Shape&, int) { return {}; }

}  // namespace hearth::ir
