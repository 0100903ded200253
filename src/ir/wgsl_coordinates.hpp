#pragma once
#include <map>
#include <string>

#include "hearth/shape.hpp"
#include "ir/wgsl_parts.hpp"

namespace hearth::ir {

/// Decodes row-major coordinates (i32) from a flat index, as they are asked
/// for: one division an axis.
class Coordinates {
 public:
  /// `flat`: text of the index, i32 and never negative.
  Coordinates(ExprPrinter& printer, const Shape& sizes, std::string flat)
      : printer_(printer), sizes_(sizes), flat_(std::move(flat)) {}
  std::string operator()(int axis);

 private:
  /// flat / (product of the sizes after `axis`).
  std::string quotient(int axis);

  ExprPrinter& printer_;
  Shape sizes_;
  std::string flat_;
  std::map<int, std::string> quotients_;
};

}  // namespace hearth::ir
