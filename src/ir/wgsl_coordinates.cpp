#include "ir/wgsl_coordinates.hpp"

#include <fmt/format.h>

namespace hearth::ir {

std::string Coordinates::quotient(int axis) {
  std::int64_t divisor = 1;
  for (int a = axis + 1; a < sizes_.rank(); ++a) divisor *= sizes_[a];
  if (divisor == 1) return flat_;
  const auto [place, fresh] = quotients_.try_emplace(axis);
  // Unsigned division by a constant is cheaper than signed.
  if (fresh) place->second = printer_.let(fmt::format("i32(u32({}) / {}u)", flat_, divisor));
  return place->second;
}

std::string Coordinates::operator()(int axis) {
  if (sizes_[axis] == 1) return "0i";
  const std::string mine = quotient(axis);
  std::int64_t outer = 1;
  for (int a = 0; a < axis; ++a) outer *= sizes_[a];
  if (outer == 1) return mine;
  return printer_.let(fmt::format("{} - {} * {}i", mine, quotient(axis - 1), sizes_[axis]));
}

}  // namespace hearth::ir
