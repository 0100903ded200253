#include "ir/matmul_printer.hpp"

#include <functional>

#include <fmt/format.h>

namespace hearth::ir {

std::string matmul_base(std::int64_t offset, const Shape& strides, Coordinates& batch) {
  std::string text = fmt::format("{}i", offset);
  for (int axis = 0; axis < strides.rank(); ++axis)
    if (strides[axis] != 0) text += fmt::format(" + {} * {}i", batch(axis), strides[axis]);
  return text;
}

std::string TileText::accumulators() const {
  std::string text;
  const std::string type = vectors() ? fmt::format("vec4<{}>", wgsl_type(type_)) : wgsl_type(type_);
  for (int i = 0; i < rows_; ++i)
    for (int j = 0; j < columns_; j += vectors() ? 4 : 1) text += fmt::format("  var c{}_{} = {}();\n", i, j, type);
  return text;
}

std::string TileText::multiply(const std::string& indent, const std::function<std::string(int)>& a,
                               const std::function<std::string(int)>& b) const {
  std::string text;
  for (int i = 0; i < rows_; ++i) {
    for (int j = 0; j < columns_; j += vectors() ? 4 : 1) {
      const std::string left = vectors() ? fmt::format("vec4<{}>({})", wgsl_type(type_), a(i)) : a(i);
      text += type_ == DType::f32 ? fmt::format("{0}c{1}_{2} = fma({3}, {4}, c{1}_{2});\n", indent, i, j, left, b(j))
                                  : fmt::format("{0}c{1}_{2} += {3} * {4};\n", indent, i, j, left, b(j));
    }
  }
  return text;
}

std::string TileText::stores(Outputs& outputs, bool fours, const std::function<TilePlace(int i, int j)>& place) const {
  const int step = vectors() && fours ? 4 : 1;
  std::string values, stores, guarded;
  for (int i = 0; i < rows_; ++i) {
    for (int j = 0; j < columns_; j += step) {
      const TilePlace at = place(i, j);
      const std::string total =
          vectors() && !fours ? fmt::format("c{}_{}.{}", i, j / 4 * 4, "xyzw"[j % 4]) : fmt::format("c{}_{}", i, j);
      const std::string name = fmt::format("f{}_{}", i, j), o = fmt::format("o{}_{}", i, j);
      const std::string value = fmt::format("  let {} = {};\n  let {} = {};\n", o, at.o, name,
                                            step == 4 ? outputs.four(o, at.last, total) : outputs.one(o, at.last, total));
      const std::string store = "  " + (step == 4 ? outputs.store_four(o, name) : outputs.store_one(o, name)) + "\n";
      if (at.inside.empty()) {
        // First all values, then all stores: as far as a compiler knows, a store changes what the next load gives.
        values += value;
        stores += store;
      } else {
        guarded += fmt::format("  if ({}) {{\n{}{}  }}\n", at.inside, value, store);
      }
    }
  }
  return values + stores + guarded;
}

}  // namespace hearth::ir
