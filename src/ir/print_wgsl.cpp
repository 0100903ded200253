#include "ir/print_wgsl.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "ir/wgsl_parts.hpp"

namespace hearth::ir {
namespace {

/// A user's source is taken as it is; its bindings and uniform were declared by
/// the user.
Expected<Wgsl> print_source(const Kernel& kernel, const DeviceInfo& info) {
  if (kernel.bindings.size() > info.max_storage_buffers)
    return Failure{ErrorCode::unsupported, fmt::format("{}: the kernel needs {} storage buffers; the "
                                                       "device has {} a stage.",
                                                       kernel.label, kernel.bindings.size(), info.max_storage_buffers)};
  WgslStage stage;
  stage.source = kernel.source;
  stage.entry_point = kernel.entry_point;
  stage.workgroups = kernel.workgroups;
  for (int i = 0; i < static_cast<int>(kernel.bindings.size()); ++i) stage.bindings.push_back(i);
  stage.parameters = !kernel.parameters.empty();
  Wgsl wgsl;
  wgsl.stages.push_back(std::move(stage));
  return wgsl;
}

}  // namespace

Expected<Wgsl> print_wgsl(const Kernel& kernel, const DeviceInfo& info) {
  // Elements are counted in i32: larger tensors need more bindings than one.
  constexpr std::int64_t limit = std::int64_t(1) << 31;
  if (kernel.form != Form::source && (kernel.extent.elements() >= limit || kernel.reduced.elements() >= limit))
    return Failure{ErrorCode::unsupported, fmt::format("{}: {} elements exceed the limit of {} in a kernel.", kernel.label,
                                                       std::max(kernel.extent.elements(), kernel.reduced.elements()), limit - 1)};
  switch (kernel.form) {
    case Form::map: return print_map(kernel, info);
    case Form::reduce: return print_reduce(kernel, info);
    case Form::matmul: return print_matmul(kernel, info);
    case Form::conv2d: return print_conv2d(kernel, info);
    case Form::source: break;
  }
  return print_source(kernel, info);
}

}  // namespace hearth::ir
