#include "runtime/check.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace hearth::runtime {

namespace {

template <typename... Args>
Failure fail(ErrorCode code, const ir::Kernel& kernel, fmt::format_string<Args...> format, Args&&... args) {
  return {code, fmt::format("{}: {}", kernel.label.empty() ? "kernel" : kernel.label,
                            fmt::format(format, std::forward<Args>(args)...))};
}

/// Ranges of one buffer that touch; imports of one buffer are different blocks.
bool overlap(const Allocation& a, const Allocation& b) {
  if (!a.block || !b.block || a.block->buffer != b.block->buffer) return false;
  return a.offset < b.offset + b.size && b.offset < a.offset + a.size;
}

Expected<void> check_dtypes(const ir::Kernel& kernel, const DeviceInfo& info) {
  for (const DType dtype : kernel.bindings) {
    if (dtype == DType::f64 && !info.f64)
      return fail(ErrorCode::unsupported, kernel, "this device has no f64, only the CPU device has.");
    if (dtype == DType::f16 && !info.f16)
      return fail(ErrorCode::unsupported, kernel, "this device lacks the feature shader-f16.");
  }
  return {};
}

}  // namespace

Expected<void> check_launch(const ir::Kernel& kernel, std::span<Allocation* const> bindings, std::size_t parameter_words,
                            const DeviceInfo& info) {
  if (bindings.size() != kernel.bindings.size()) {
    return fail(ErrorCode::invalid_argument, kernel, "{} bindings are given, the kernel takes {}.", bindings.size(),
                kernel.bindings.size());
  }
  std::size_t words = 0;
  for (const DType dtype : kernel.parameters) words += dtype == DType::f64 ? 2 : 1;
  if (parameter_words != words) {
    return fail(ErrorCode::invalid_argument, kernel, "{} words of parameters are given, the kernel takes {}.", parameter_words,
                words);
  }
  if (Expected<void> dtypes = check_dtypes(kernel, info); !dtypes) return dtypes;

  const std::size_t first_output = bindings.size() - std::min(bindings.size(), static_cast<std::size_t>(kernel.outputs));
  std::uint32_t distinct = 0;
  for (std::size_t i = 0; i < bindings.size(); ++i) {
    const Allocation& binding = *bindings[i];
    if (i < first_output && binding.failure) return *binding.failure;
    if (binding.size > info.max_binding_bytes) {
      return fail(ErrorCode::unsupported, kernel,
                  "binding {} has {} bytes, this device binds at most {} bytes (maxStorageBufferBindingSize).", i, binding.size,
                  info.max_binding_bytes);
    }
    bool seen = false;
    for (std::size_t j = 0; j < i; ++j) {
      if (bindings[j] == &binding) {
        seen = true;
        if (i >= first_output) return fail(ErrorCode::invalid_argument, kernel, "the output is bound as input {} too.", j);
      } else if (overlap(*bindings[j], binding)) {
        return fail(ErrorCode::invalid_argument, kernel, "bindings {} and {} overlap in one buffer.", j, i);
      }
    }
    if (!seen) ++distinct;
  }
  if (distinct > info.max_storage_buffers) {
    return fail(ErrorCode::unsupported, kernel,
                "it binds {} buffers, this device binds at most {} (maxStorageBuffersPerShaderStage).", distinct,
                info.max_storage_buffers);
  }
  if (kernel.form == ir::Form::source) {
    for (const std::uint32_t count : kernel.workgroups) {
      if (count > info.max_workgroups_per_dimension) {
        return fail(ErrorCode::unsupported, kernel,
                    "[{}, {}, {}] workgroups are asked for, this device runs at most {} a dimension.", kernel.workgroups[0],
                    kernel.workgroups[1], kernel.workgroups[2], info.max_workgroups_per_dimension);
      }
    }
    return {};
  }
  const std::uint64_t needed = static_cast<std::uint64_t>(kernel.extent.elements()) * size_bytes(kernel.bindings.back());
  if (bindings.back()->size < needed) {
    return fail(ErrorCode::invalid_argument, kernel, "the output has {} bytes, the kernel writes {}.", bindings.back()->size,
                needed);
  }
  return {};
}

}  // namespace hearth::runtime
