#include "ir/matmul_plan.hpp"

#include <algorithm>

#include "ir/wgsl_outputs.hpp"

namespace hearth::ir {
namespace {

bool multiples_of_four(const Shape& strides) {
  return std::all_of(strides.begin(), strides.end(), [](std::int64_t s) { return s % 4 == 0; });
}

struct OperandStrides {
  const Shape& batch;
  std::int64_t offset, free, k;
};

Fetch fetch(const OperandStrides& s, std::int64_t free_size, std::int64_t k_size) {
  if (s.offset % 4 != 0 || !multiples_of_four(s.batch)) return Fetch::scalar;
  if (s.k == 1 && s.free % 4 == 0 && k_size % 4 == 0) return Fetch::along_k;
  if (s.free == 1 && s.k % 4 == 0 && free_size % 4 == 0) return Fetch::along_free;
  return Fetch::scalar;
}

TiledShape tile_of(const Matmul& mm) {
  TiledShape shape;
  shape.interleaved = true;
  shape.k = mm.k;
  shape.groups = mm.k > 8 ? 4 : mm.k > 4 ? 2 : 1;
  shape.pixels = 8;
  shape.quads = mm.n > 32 ? 2 : 1;
  shape.threads_c = mm.n > 64 && mm.m > 64 ? 16 : 8;
  shape.threads_x = mm.m > 64 ? 16 : 8;
  return shape;
}

}  // namespace

bool is_software_device(const DeviceInfo& info) {
  return info.name.find("llvmpipe") != std::string::npos || info.name.find("SwiftShader") != std::string::npos;
}

bool epilogue_reads_operands(const Kernel& kernel) {
  bool reads = false;
  if (kernel.epilogue) visit(kernel.epilogue, [&](const Node& node) { reads |= node.op == Op::load && node.index < 2; });
  return reads;
}

MatmulPlan plan_matmul(const MatmulSource& source, const DeviceInfo& info) {
  const Kernel& kernel = *source.kernel;
  const Matmul& mm = source.matmul;
  MatmulPlan plan;
  if (size_bytes(kernel.bindings.back()) == 1 && kernel.bindings.back() != DType::boolean) {
    plan.kind = MatmulPlan::Kind::one_each;
    return plan;
  }
  if (!epilogue_reads_operands(kernel)) {
    if (loads_by_four(kernel.bindings[static_cast<std::size_t>(source.a)]))
      plan.a = fetch({mm.a_batch, mm.a_offset, mm.a_row, mm.a_column}, mm.m, mm.k);
    if (loads_by_four(kernel.bindings[static_cast<std::size_t>(source.b)]))
      plan.b = fetch({mm.b_batch, mm.b_offset, mm.b_column, mm.b_row}, mm.n, mm.k);
  }
  const bool software = is_software_device(info);
  if (!software && mm.m >= 32 && mm.n >= 16 && mm.batch.elements() * mm.m * mm.n >= 16384) {
    plan.tiled = tile_of(mm);
    if (plan.tiled.workgroup_bytes() <= info.max_workgroup_bytes &&
        plan.tiled.threads() <= static_cast<int>(info.max_workgroup_invocations)) {
      plan.kind = MatmulPlan::Kind::tiled;
      return plan;
    }
  }
  // A load costs a software device about twenty multiplications; larger tiles take the compiler longer than they save.
  std::int64_t rows = software ? 8 : 4, columns = software ? 16 : 4;
  // Small products: rather more invocations than large tiles.
  const std::int64_t wanted = software ? 32 : 4096;
  const auto invocations = [&] { return mm.batch.elements() * ((mm.m + rows - 1) / rows) * ((mm.n + columns - 1) / columns); };
  while (columns > 4 && invocations() < wanted) columns /= 2;
  while (rows > 1 && invocations() < wanted) rows /= 2;
  plan.rows = static_cast<int>(std::min(rows, mm.m));
  plan.columns = static_cast<int>(mm.n < 4 ? mm.n : std::min(columns, mm.n / 4 * 4));
  if (plan.a == Fetch::along_free && plan.rows % 4 != 0) plan.a = Fetch::scalar;
  if (plan.b == Fetch::along_free && plan.columns % 4 != 0) plan.b = Fetch::scalar;
  plan.lanes = std::min({software ? 32u : 64u, info.max_workgroup_invocations, info.max_workgroup_size_x});
  plan.fours = Outputs::can_do_fours(kernel) && plan.columns % 4 == 0;
  return plan;
}

}  // namespace hearth::ir
