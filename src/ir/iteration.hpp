#pragma once
#include "ir/kernel.hpp"

namespace hearth::ir {

/// A map or reduce kernel as printers and the interpreter walk it: axes of size
/// 1 are gone, so that the output's and the reduced axes are at most eight
/// together, and the expressions are simplified.
struct Iteration {
  Shape extent;
  Shape reduced;
  Shape sizes;  ///< extent, then reduced
  Expr value;
  Expr epilogue;  ///< null: the total itself
};

[[nodiscard]] Iteration iterate(const Kernel& kernel);

}  // namespace hearth::ir
