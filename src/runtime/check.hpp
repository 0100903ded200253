#pragma once
#include <cstddef>
#include <span>

#include "hearth/device.hpp"
#include "ir/kernel.hpp"
#include "runtime/memory.hpp"

namespace hearth::runtime {

/// What every server asks before it records a launch. The implementation underneath may not ask (wgpu-native does not check that
/// two bindings overlap), or may end the process.
/// Fails with: invalid_argument for wrong counts, an output smaller than the kernel writes, or memory bound twice; unsupported
/// naming the limit or feature of `info`; the failure that an input carries. `outputs` and inputs may be without a place.
/// Whether an input belongs to an encoder that is not submitted is the server's own question.
[[nodiscard]] Expected<void> check_launch(const ir::Kernel& kernel, std::span<Allocation* const> bindings,
                                          std::size_t parameter_words, const DeviceInfo& info);

}  // namespace hearth::runtime
