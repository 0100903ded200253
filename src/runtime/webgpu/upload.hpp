#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "runtime/webgpu/gpu.hpp"

namespace hearth::runtime::webgpu {

/// Part of a buffer that the host has filled or may fill.
struct Piece {
  WGPUBuffer buffer = nullptr;
  std::uint64_t id = 0;  ///< of the buffer, in keys of bind groups
  std::uint64_t offset = 0;
  std::byte* data = nullptr;  ///< of a piece that is mapped
};

/// Uploads that commands of one encoder copy or bind: buffers mapped at their creation, filled, unmapped by `close`. Never waits
/// for the device. The buffers are released with the encoder's end, not destroyed: its commands still need them.
class Arena {
 public:
  explicit Arena(Gpu& gpu) : gpu_(gpu) {}
  Arena(Arena&&) = default;

  Expected<Piece> take(std::uint64_t size, std::uint64_t alignment);
  /// Unmaps everything: before the encoder is submitted.
  void close() noexcept;
  /// Calls `forget` with the id of every buffer, then releases them all.
  template <typename F>
  void clear(F forget) {
    close();
    for (const Chunk& chunk : chunks_) forget(chunk.id);
    chunks_.clear();
    bytes_ = 0;
  }
  /// What the buffers take, in bytes.
  [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }

 private:
  struct Chunk {
    Owned<WGPUBuffer> buffer;
    std::uint64_t id = 0;
    std::uint64_t size = 0;
    std::uint64_t used = 0;
    std::byte* data = nullptr;  ///< null once unmapped
  };
  Expected<void> grow(std::uint64_t size);

  Gpu& gpu_;
  std::vector<Chunk> chunks_;
  std::uint64_t bytes_ = 0;
};

/// The launch parameters of the encoder that is open: packed into host memory, uploaded by one write for each uniform buffer
/// before the submit. Writes are ordered by the queue, so the next encoder may use the same buffers again; what they hold already
/// from an earlier one is not written again: a loop with equal parameters saves the write, which costs as much as a submit.
class Parameters {
 public:
  explicit Parameters(Gpu& gpu) : gpu_(gpu) {}

  /// Where a launch finds `words`; equal parameters in a row share a place.
  Expected<Piece> add(std::span<const std::uint32_t> words);
  [[nodiscard]] bool empty() const noexcept { return used_ == 0; }
  /// Writes the parameters of all launches so far and begins anew; called inside an error scope.
  void upload();
  /// Forgets the launches. What was to be written for them stays to be written.
  void discard() noexcept { used_ = last_size_ = 0; }

 private:
  /// 1,024 launches with the usual alignment of 256 bytes.
  static constexpr std::uint64_t chunk_bytes = 1u << 18;
  struct Chunk {
    Owned<WGPUBuffer> buffer;
    std::uint64_t id = 0;
    /// Where `bytes_` differs from the buffer; empty where begin >= end.
    std::uint64_t changed_begin = chunk_bytes, changed_end = 0;
  };
  Expected<void> grow();

  Gpu& gpu_;
  std::vector<Chunk> chunks_;
  std::vector<std::byte> bytes_;  ///< what the buffers hold after the next upload; zeros at first, as theirs are
  std::uint64_t used_ = 0;        ///< in bytes_, over all chunks
  std::uint64_t last_ = 0, last_size_ = 0;
};

}  // namespace hearth::runtime::webgpu
