#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>

#include "ir/interpret.hpp"
#include "ir/kernel.hpp"
#include "runtime/cpu/thread_pool.hpp"

namespace hearth::runtime::cpu {

/// A binding in host memory.
struct HostBinding {
  std::byte* data = nullptr;
  std::uint64_t size = 0;
};

/// Runs kernels of Form::matmul and Form::conv2d: operands in the accumulator's dtype, the product, then the epilogue as a map.
class Structured {
 public:
  explicit Structured(ThreadPool& pool) : pool_(pool) {}
  void run(const ir::KernelRef& kernel, std::span<const HostBinding> bindings, std::span<const std::uint32_t> parameters);

 private:
  /// What follows the product: a map over the output whose first binding is the total. Null when there is nothing to do.
  const ir::Kernel* finish_of(const ir::KernelRef& kernel, DType total);

  struct Finishing {
    ir::KernelRef product;  ///< kept, so that its address stays its own
    ir::KernelRef map;
  };
  ThreadPool& pool_;
  std::unordered_map<const ir::Kernel*, Finishing> finishing_;
};

}  // namespace hearth::runtime::cpu
