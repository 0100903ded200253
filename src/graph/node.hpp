#pragma once
#include <cstdint>
#include <memory>

#include "graph/operation.hpp"
#include "hearth/ref.hpp"
#include "runtime/memory.hpp"

namespace hearth::graph {

/// A value: either still to be computed (`pending`) or in memory, possibly as a strided view of a larger allocation.
/// Guarded by its context.
struct Node final : RefCounted {
  Node(Ref<Context> c, const Shape& s, DType d) : context(std::move(c)), shape(s), dtype(d) {}

  Ref<Context> context;
  Shape shape;
  DType dtype;

  Handle memory;  ///< null while pending, and for tensors without elements
  Shape strides;  ///< in elements
  std::int64_t offset = 0;
  bool dense = true;        ///< row-major without gaps (the offset may be anything)
  bool handed_out = false;  ///< its buffer was given to the app as this tensor's

  bool pending = false;
  Operation operation;         ///< while pending
  std::int32_t consumers = 0;  ///< operands of pending operations that are this node
  std::uint64_t sequence = 0;  ///< creation order within the context
  // Scratch of one fusion pass.
  std::int32_t uses = 0;
  std::int32_t member = -1;
  std::uint64_t mark = 0;
  std::uint8_t in_memory = 0;  ///< what its consumers ask: 1 views may be computed in place, 2 nothing may

  [[nodiscard]] bool ready() const noexcept { return !pending; }
  [[nodiscard]] std::int64_t elements() const noexcept { return shape.elements(); }
  [[nodiscard]] std::uint64_t bytes() const noexcept { return static_cast<std::uint64_t>(elements()) * size_bytes(dtype); }

 protected:
  void destroy() noexcept override;  ///< leaves the list of pending nodes
};

/// The history of a value: the operation that made it, or a leaf of differentiation.
struct Tape final : RefCounted {
  Operation operation;  ///< with its inputs' tapes; no definition for a leaf
  Ref<Node> output;
  std::uint64_t sequence = 0;
  [[nodiscard]] bool leaf() const noexcept { return operation.definition == nullptr; }

 protected:
  void destroy() noexcept override;  ///< without recursion: histories are long
};

}  // namespace hearth::graph
