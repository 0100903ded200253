#pragma once
#include <cstdint>
#include <functional>
#include <string>

#include "ir/matmul_plan.hpp"
#include "ir/wgsl_coordinates.hpp"
#include "ir/wgsl_outputs.hpp"

/// What the printers of matrix products and convolutions share.
namespace hearth::ir {

/// Text of the flat index (i32) where the matrix of the batch at hand begins.
[[nodiscard]] std::string matmul_base(std::int64_t offset, const Shape& strides, Coordinates& batch);

/// Where an accumulator goes: flat index and coordinate along the last axis (i32 texts) of its first element, and the condition
/// under which it is inside the output (empty: always). Lane `lane` of a vector that is stored by elements has its own.
struct TilePlace {
  std::string o, last, inside;
};

/// A tile of outputs in registers: c<i>_<j>, a vec4 for every four columns where there are that many, else scalars.
class TileText {
 public:
  TileText(DType type, int rows, int columns) : type_(type), rows_(rows), columns_(columns) {}
  [[nodiscard]] bool vectors() const { return columns_ % 4 == 0; }
  [[nodiscard]] std::string accumulators() const;
  /// Adds the product of one column of `a` (text of row i) and one row of `b` (text of column j, or of the four from j on).
  [[nodiscard]] std::string multiply(const std::string& indent, const std::function<std::string(int)>& a,
                                     const std::function<std::string(int)>& b) const;
  /// Finishes and stores every accumulator; `fours`: a vector at once, else by elements.
  [[nodiscard]] std::string stores(Outputs& outputs, bool fours, const std::function<TilePlace(int i, int j)>& place) const;

 private:
  DType type_;
  int rows_, columns_;
};

[[nodiscard]] Expected<Wgsl> print_product(const MatmulSource& source, const DeviceInfo& info);

}  // namespace hearth::ir
