#include "ir/kernel.hpp"

#include <initializer_list>

#include "base/hash.hpp"
#include "ir/expr.hpp"

namespace hearth::ir {
namespace {

class Hasher {
 public:
  void add(std::uint64_t value) { hash_ = base::hash_combine(hash_, value); }
  void add(std::initializer_list<std::int64_t> values) {
    for (std::int64_t value : values) add(static_cast<std::uint64_t>(value));
  }
  void add(const Shape& shape) {
    add(static_cast<std::uint64_t>(shape.rank()));
    for (std::int64_t dim : shape) add(static_cast<std::uint64_t>(dim));
  }
  void add(const std::vector<DType>& dtypes) {
    add(dtypes.size());
    for (DType dtype : dtypes) add(static_cast<std::uint64_t>(dtype));
  }
  [[nodiscard]] std::uint64_t value() const { return hash_; }

 private:
  std::uint64_t hash_ = 0x68656172'7468ull;
};

bool same(const Matmul& a, const Matmul& b) {
  return a.batch == b.batch && a.a_batch == b.a_batch && a.b_batch == b.b_batch && a.m == b.m && a.n == b.n && a.k == b.k &&
         a.a_offset == b.a_offset && a.a_row == b.a_row && a.a_column == b.a_column && a.b_offset == b.b_offset &&
         a.b_row == b.b_row && a.b_column == b.b_column;
}

bool same(const Conv2d& a, const Conv2d& b) {
  return a.nhwc == b.nhwc && a.n == b.n && a.h == b.h && a.w == b.w && a.in_channels == b.in_channels &&
         a.out_channels == b.out_channels && a.kh == b.kh && a.kw == b.kw && a.oh == b.oh && a.ow == b.ow &&
         a.groups == b.groups && a.stride == b.stride && a.padding == b.padding && a.dilation == b.dilation;
}

}  // namespace

KernelRef finish(Kernel kernel) {
  Hasher h;
  h.add(static_cast<std::uint64_t>(kernel.form));
  h.add(kernel.bindings);
  h.add(static_cast<std::uint64_t>(kernel.outputs));
  h.add(kernel.parameters);
  h.add(kernel.extent);
  h.add(kernel.reduced);
  h.add(static_cast<std::uint64_t>(kernel.combine));
  h.add(hash(kernel.value));
  h.add(hash(kernel.epilogue));
  if (kernel.form == Form::matmul) {
    const Matmul& m = kernel.matmul;
    h.add(m.batch);
    h.add(m.a_batch);
    h.add(m.b_batch);
    h.add({m.m, m.n, m.k, m.a_offset, m.a_row, m.a_column, m.b_offset, m.b_row, m.b_column});
  }
  if (kernel.form == Form::conv2d) {
    const Conv2d& c = kernel.conv2d;
    h.add({c.nhwc, c.n, c.h, c.w, c.in_channels, c.out_channels, c.kh, c.kw, c.oh, c.ow, c.groups});
    h.add({c.stride[0], c.stride[1], c.padding[0], c.padding[1], c.dilation[0], c.dilation[1]});
  }
  if (kernel.form == Form::source) {
    h.add(base::hash_text(kernel.source));
    h.add(base::hash_text(kernel.entry_point));
  }
  kernel.hash = h.value();
  kernel.interpreted = std::make_shared<InterpretedSlot>();
  return std::make_shared<const Kernel>(std::move(kernel));
}

bool same(const Kernel& a, const Kernel& b) {
  return a.hash == b.hash && a.form == b.form && a.bindings == b.bindings && a.outputs == b.outputs &&
         a.parameters == b.parameters && a.extent == b.extent && a.reduced == b.reduced && a.combine == b.combine &&
         same(a.value, b.value) && same(a.epilogue, b.epilogue) && same(a.matmul, b.matmul) && same(a.conv2d, b.conv2d) &&
         a.source == b.source && a.entry_point == b.entry_point;
}

}  // namespace hearth::ir
