#include <fmt/format.h>

#include <cstring>

#include "runtime/check.hpp"
#include "runtime/webgpu/server.hpp"

namespace hearth::runtime::webgpu {

namespace {

/// Dispatches after which a launch flushes: the device has long had enough to begin with, and the encoder's memory stays bounded.
constexpr std::uint32_t dispatches_per_flush = 4096;

}  // namespace

Expected<void> WebGpuServer::launch(const ir::KernelRef& kernel, std::span<Allocation* const> bindings,
                                    std::span<const std::uint32_t> parameters) {
  if (gpu_->was_lost()) return lose(device_lost(kernel->label));
  if (Expected<void> fits = check_launch(*kernel, bindings, parameters.size(), info_); !fits) return fits;
  Expected<const Compiled*> found = pipelines_.find(kernel);
  statistics_.pipelines = pipelines_.made();
  if (!found) return lose(found.error());
  const Compiled& compiled = **found;
  const std::size_t first_output = bindings.size() - static_cast<std::size_t>(kernel->outputs);
  for (std::size_t i = 0; i < bindings.size(); ++i) {
    Expected<void> fits =
        i < first_output ? check_scope(*bindings[i], kernel->label) : check_writable(*bindings[i], kernel->label);
    if (!fits) return fits;
  }
  if (kernel->form == ir::Form::source)
    if (Expected<void> fits = check_source(*kernel, compiled, bindings); !fits) return fits;
  for (Allocation* binding : bindings)
    if (Expected<void> placed = place(*binding); !placed) return placed;
  if (compiled.read_only != 0)
    if (Expected<void> apart = separate(compiled, bindings); !apart) return lose(apart.error());

  Ref<Allocation> scratch;
  if (compiled.scratch_bytes != 0) {
    scratch = memory_->make(compiled.scratch_bytes);
    if (Expected<void> placed = place(*scratch); !placed) return placed;
  }
  // What is compiled serves every grid of a user's source.
  const std::array<std::uint32_t, 3>* grid = kernel->form == ir::Form::source ? &kernel->workgroups : nullptr;
  if (Expected<void> recorded = record(compiled, bindings, scratch.get(), parameters, grid); !recorded)
    return lose(recorded.error());
  for (std::size_t i = 0; i < bindings.size(); ++i) i < first_output ? use(*bindings[i]) : use_written(*bindings[i]);
  if (scratch) use_written(*scratch);
  if (own_.dispatches() >= dispatches_per_flush && !borrowed_) return flush();
  return {};
}

Expected<void> WebGpuServer::record(const Compiled& compiled, std::span<Allocation* const> bindings, Allocation* scratch,
                                    std::span<const std::uint32_t> parameters, const std::array<std::uint32_t, 3>* grid) {
  constexpr std::size_t most_stages = 4;
  std::array<FoundGroup, most_stages> groups;
  const std::size_t stages = compiled.stages.size();
  if (stages > most_stages)
    return Failure{ErrorCode::unsupported,
                   fmt::format("{}: {} dispatches, at most {} are possible.", compiled.kernel->label, stages, most_stages)};
  Piece piece;
  if (!parameters.empty()) {
    Expected<Piece> place = Piece{};
    if (borrowed_) {
      place = borrowed_->uploads.take(compiled.parameter_bytes, info_.uniform_alignment);
      if (place) std::memcpy(place->data, parameters.data(), parameters.size_bytes());
    } else {
      place = parameters_.add(parameters);
    }
    if (!place) return place.error();
    piece = *place;
  }

  for (std::size_t i = 0; i < stages; ++i) {
    const Stage& stage = compiled.stages[i];
    ranges_.clear();
    for (const int index : stage.bindings) {
      const Allocation& memory = index < 0 ? *scratch : *bindings[static_cast<std::size_t>(index)];
      // A binding's size is a multiple of 4, and no empty one.
      const std::uint64_t size = memory.size == 0 ? 4 : (memory.size + 3) & ~std::uint64_t{3};
      ranges_.push_back({static_cast<WGPUBuffer>(memory.block->buffer), memory.block->id, memory.offset, size});
    }
    if (stage.layout->uniform) ranges_.push_back({piece.buffer, piece.id, 0, compiled.parameter_bytes});
    Expected<FoundGroup> group = bind_groups_.find(*stage.layout, ranges_, compiled.kernel->label);
    if (!group) return group.error();
    groups[i] = *group;
  }
  statistics_.bind_groups = bind_groups_.made();

  Recording& recording = target();
  if (Expected<void> opened = recording.open_pass(); !opened) return opened;
  for (std::size_t i = 0; i < stages; ++i) {
    const Stage& stage = compiled.stages[i];
    const bool uniform = stage.layout->uniform;
    recording.dispatch(stage.pipeline.get(), groups[i], uniform, uniform ? static_cast<std::uint32_t>(piece.offset) : 0,
                       grid ? *grid : stage.workgroups);
  }
  return {};
}

Expected<void> WebGpuServer::check_source(const ir::Kernel& kernel, const Compiled& compiled,
                                          std::span<Allocation* const> bindings) {
  for (std::size_t i = 0; i < bindings.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      const bool both_read = (compiled.read_only >> i & 1) && (compiled.read_only >> j & 1);
      if (bindings[i] == bindings[j] && !both_read)
        return Failure{ErrorCode::invalid_argument,
                       fmt::format("{}: bindings {} and {} are one memory, and not both are declared var<storage, read>.",
                                   kernel.label, j, i)};
    }
  }
  return {};
}

Expected<void> WebGpuServer::separate(const Compiled& compiled, std::span<Allocation* const> bindings) {
  for (std::size_t i = 0; i < bindings.size(); ++i) {
    if (!(compiled.read_only >> i & 1)) continue;
    for (std::size_t j = 0; j < bindings.size(); ++j) {
      if (compiled.read_only >> j & 1 || bindings[j]->block->buffer != bindings[i]->block->buffer) continue;
      if (bindings[i]->block->exclusive || bindings[i]->pinned)
        return Failure{
            ErrorCode::invalid_argument,
            fmt::format("{}: bindings {} and {} lie in one buffer, and one is declared var<storage, read>; WebGPU needs "
                        "both as read_write.",
                        compiled.kernel->label, i, j)};
      if (Expected<void> moved = move_to_exclusive(*bindings[i]); !moved) return moved;
      break;
    }
  }
  return {};
}

}  // namespace hearth::runtime::webgpu
