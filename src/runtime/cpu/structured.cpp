#include "runtime/cpu/structured.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <vector>

#include "ir/expr.hpp"
#include "runtime/cpu/conv.hpp"
#include "runtime/cpu/gemm.hpp"
#include "runtime/cpu/generic.hpp"

namespace hearth::runtime::cpu {

namespace {

/// Finishing maps kept; a program has far fewer products.
constexpr std::size_t most_finishing = 1024;

/// Uninitialised memory for one launch.
using Scratch = std::unique_ptr<std::byte[]>;
Scratch scratch(std::int64_t elements, DType dtype) {
  return Scratch(new std::byte[static_cast<std::size_t>(elements) * size_bytes(dtype)]);
}

ir::ParallelFor loop_of(ThreadPool& pool) {
  return [&pool](std::int64_t count, std::int64_t grain, const ThreadPool::Body& body) { pool.parallel_for(count, grain, body); };
}

/// An operand in the accumulator's dtype: as it is, or converted into `memory`.
const void* operand(const HostBinding& binding, DType stored, DType wanted, ThreadPool& pool, Scratch& memory) {
  if (stored == wanted || (stored == DType::boolean && wanted == DType::u32)) return binding.data;
  const auto count = static_cast<std::int64_t>(binding.size / size_bytes(stored));
  memory = scratch(count, wanted);
  ir::Kernel kernel;
  kernel.label = "convert";
  kernel.bindings = {stored, wanted};
  kernel.extent = {count};
  kernel.value = cast(Expr::load(0, compute_dtype(stored), {Expr::coordinate(0)}), wanted);
  const std::array<std::byte*, 2> pointers{binding.data, memory.get()};
  ir::interpret(*ir::finish(std::move(kernel)), pointers, {}, loop_of(pool));
  return memory.get();
}

/// Calls `one` with the offsets of a, b and out for every matrix of the batch.
template <typename F>
void each_matrix(const ir::Matmul& x, F one) {
  const std::int64_t count = x.batch.elements();
  for (std::int64_t i = 0; i < count; ++i) {
    std::int64_t a = x.a_offset, b = x.b_offset, rest = i;
    for (int axis = x.batch.rank() - 1; axis >= 0; --axis) {
      const std::int64_t at = rest % x.batch[axis];
      rest /= x.batch[axis];
      a += at * x.a_batch[axis];
      b += at * x.b_batch[axis];
    }
    one(a, b, i * x.m * x.n);
  }
}

template <typename Problem, typename T>
void multiply_all(const ir::Matmul& x, const T* a, const T* b, T* out, ThreadPool& pool) {
  const auto problem = [&](std::int64_t at_a, std::int64_t at_b, std::int64_t at_out) {
    return Problem{x.m, x.n, x.k, a + at_a, x.a_row, x.a_column, b + at_b, x.b_row, x.b_column, out + at_out};
  };
  const std::int64_t batches = x.batch.elements();
  const double work = 2.0 * static_cast<double>(x.m) * static_cast<double>(x.n) * static_cast<double>(x.k);
  if (batches < pool.size() || work > 1e7) {  // large ones share the threads, small ones take one each
    each_matrix(x, [&](std::int64_t i, std::int64_t j, std::int64_t k) { multiply(problem(i, j, k), pool); });
    return;
  }
  std::vector<Problem> problems;
  each_matrix(x, [&](std::int64_t i, std::int64_t j, std::int64_t k) { problems.push_back(problem(i, j, k)); });
  const auto grain = static_cast<std::int64_t>(1e6 / std::max(work, 1.0)) + 1;
  pool.parallel_for(batches, grain, [&](std::int64_t begin, std::int64_t end) {
    ThreadPool alone(1);
    for (std::int64_t i = begin; i < end; ++i) multiply(problems[static_cast<std::size_t>(i)], alone);
  });
}

}  // namespace

const ir::Kernel* Structured::finish_of(const ir::KernelRef& kernel, DType total) {
  if (!kernel->epilogue && kernel->bindings.back() == total) return nullptr;
  if (finishing_.size() >= most_finishing) finishing_.clear();
  Finishing& entry = finishing_[kernel.get()];
  if (entry.map) return entry.map.get();
  ir::Kernel map;
  map.label = kernel->label;
  map.bindings = {total};
  map.bindings.insert(map.bindings.end(), kernel->bindings.begin() + 2, kernel->bindings.end());
  map.parameters = kernel->parameters;
  map.extent = kernel->extent;
  const Expr sum = Expr::load(0, total, {Expr::coordinate(ir::flat_coordinate)});
  map.value =
      !kernel->epilogue ? sum : ir::rewrite(kernel->epilogue, [&](const ir::Node& node, std::span<const Expr> operands) -> Expr {
        if (node.op == ir::Op::argument) return sum;
        // The total stands in the place of the two operands.
        if (node.op == ir::Op::load) return Expr::load(node.index - 1, node.dtype, operands);
        return {};
      });
  if (map.value.dtype() != compute_dtype(kernel->bindings.back()))
    map.value = cast(map.value, compute_dtype(kernel->bindings.back()));
  entry = {kernel, ir::finish(std::move(map))};
  return entry.map.get();
}

void Structured::run(const ir::KernelRef& kernel, std::span<const HostBinding> bindings,
                     std::span<const std::uint32_t> parameters) {
  if (kernel->extent.elements() == 0) return;
  DType total = promote(compute_dtype(kernel->bindings[0]), compute_dtype(kernel->bindings[1]));
  if (total == DType::boolean) total = DType::u32;
  Scratch memory_a, memory_b, memory_total;
  const void* a = operand(bindings[0], kernel->bindings[0], total, pool_, memory_a);
  const void* b = operand(bindings[1], kernel->bindings[1], total, pool_, memory_b);
  const ir::Kernel* finish = finish_of(kernel, total);
  std::byte* out = bindings.back().data;
  std::byte* sums = out;
  if (kernel->bindings.back() != total) {
    memory_total = scratch(kernel->extent.elements(), total);
    sums = memory_total.get();
  }

  // The epilogue runs in place where the dtypes allow it: each element reads no other.
  std::vector<std::byte*> pointers{sums};
  for (std::size_t i = 2; i < bindings.size(); ++i) pointers.push_back(bindings[i].data);
  const bool matmul = kernel->form == ir::Form::matmul;
  switch (total) {
    case DType::f32:
      if (matmul) {
        multiply_all<Gemm>(kernel->matmul, static_cast<const float*>(a), static_cast<const float*>(b),
                           reinterpret_cast<float*>(sums), pool_);
      } else {
        convolve(kernel->conv2d, static_cast<const float*>(a), static_cast<const float*>(b), reinterpret_cast<float*>(sums),
                 pool_, nullptr);
      }
      break;
    case DType::f64:
      if (matmul) {
        multiply_all<Matrices<double>>(kernel->matmul, static_cast<const double*>(a), static_cast<const double*>(b),
                                       reinterpret_cast<double*>(sums), pool_);
      } else {
        convolve(kernel->conv2d, static_cast<const double*>(a), static_cast<const double*>(b), reinterpret_cast<double*>(sums),
                 pool_);
      }
      break;
    default: {
      using Word = std::uint32_t;
      if (matmul) {
        multiply_all<Matrices<Word>>(kernel->matmul, static_cast<const Word*>(a), static_cast<const Word*>(b),
                                     reinterpret_cast<Word*>(sums), pool_);
      } else {
        convolve(kernel->conv2d, static_cast<const Word*>(a), static_cast<const Word*>(b), reinterpret_cast<Word*>(sums), pool_);
      }
    }
  }
  if (finish) ir::interpret(*finish, pointers, parameters, loop_of(pool_));
}

}  // namespace hearth::runtime::cpu
