#include "runtime/webgpu/upload.hpp"

#include <algorithm>
#include <cstring>

namespace hearth::runtime::webgpu {

namespace {

std::uint64_t round_up(std::uint64_t value, std::uint64_t step) { return (value + step - 1) / step * step; }

/// Chunks grow from the first size to the last, so that one small upload costs little and many cost few buffers.
constexpr std::uint64_t first_chunk = 1u << 14, last_chunk = 1u << 22;

}  // namespace

Expected<Piece> Arena::take(std::uint64_t size, std::uint64_t alignment) {
  if (!chunks_.empty()) {
    Chunk& chunk = chunks_.back();
    const std::uint64_t offset = round_up(chunk.used, alignment);
    if (chunk.data && offset + size <= chunk.size) {
      if (gpu_.is_lost()) return device_lost("upload");  // Dawn has unmapped the memory then
      chunk.used = offset + size;
      return Piece{chunk.buffer.get(), chunk.id, offset, chunk.data + offset};
    }
  }
  if (Expected<void> grown = grow(size); !grown) return grown.error();
  Chunk& chunk = chunks_.back();
  chunk.used = size;
  return Piece{chunk.buffer.get(), chunk.id, 0, chunk.data};
}

Expected<void> Arena::grow(std::uint64_t size) {
  Chunk chunk;
  const std::uint64_t usual = chunks_.empty() ? first_chunk : std::min(chunks_.back().size * 4, last_chunk);
  chunk.size = round_up(std::max(size, usual), 4);
  WGPUBufferDescriptor descriptor = {};
  const std::string label = gpu_.label + " upload";
  descriptor.label = view(label);
  descriptor.usage = WGPUBufferUsage_CopySrc | WGPUBufferUsage_Uniform;
  descriptor.size = chunk.size;
  descriptor.mappedAtCreation = 1;
  ErrorScope scope(gpu_, validation | out_of_memory | internal);
  chunk.buffer = Owned<WGPUBuffer>::adopt(wgpuDeviceCreateBuffer(gpu_.device.get(), &descriptor));
  if (Expected<void> made = scope.close("upload"); !made) return made;
  if (!chunk.buffer) return device_lost("upload");
  chunk.data = static_cast<std::byte*>(wgpuBufferGetMappedRange(chunk.buffer.get(), 0, chunk.size));
  if (!chunk.data) return device_lost("upload");
  chunk.id = gpu_.new_id();
  bytes_ += chunk.size;
  chunks_.push_back(std::move(chunk));
  return {};
}

void Arena::close() noexcept {
  for (Chunk& chunk : chunks_) {
    if (!chunk.data) continue;
    chunk.data = nullptr;
    // Fails on a lost device only, and then says so to nobody.
    ErrorScope scope(gpu_);
    wgpuBufferUnmap(chunk.buffer.get());
  }
}

Expected<Piece> Parameters::add(std::span<const std::uint32_t> words) {
  const std::uint64_t size = words.size_bytes();
  if (size == last_size_ && std::memcmp(bytes_.data() + last_, words.data(), size) == 0)
    return Piece{chunks_[last_ / chunk_bytes].buffer.get(), chunks_[last_ / chunk_bytes].id, last_ % chunk_bytes, nullptr};
  std::uint64_t at = round_up(used_, gpu_.info.uniform_alignment);
  if (at % chunk_bytes + size > chunk_bytes) at = round_up(at, chunk_bytes);
  if (at + size > chunks_.size() * chunk_bytes)
    if (Expected<void> grown = grow(); !grown) return grown.error();
  used_ = at + round_up(size, 16);
  last_ = at;
  last_size_ = size;
  Chunk& chunk = chunks_[at / chunk_bytes];
  if (std::memcmp(bytes_.data() + at, words.data(), size) != 0) {
    std::memcpy(bytes_.data() + at, words.data(), size);
    chunk.changed_begin = std::min(chunk.changed_begin, at % chunk_bytes);
    chunk.changed_end = std::max(chunk.changed_end, at % chunk_bytes + size);
  }
  return Piece{chunk.buffer.get(), chunk.id, at % chunk_bytes, nullptr};
}

Expected<void> Parameters::grow() {
  WGPUBufferDescriptor descriptor = {};
  const std::string label = gpu_.label + " parameters";
  descriptor.label = view(label);
  descriptor.usage = WGPUBufferUsage_Uniform | WGPUBufferUsage_CopyDst;
  descriptor.size = chunk_bytes;
  ErrorScope scope(gpu_, validation | out_of_memory | internal);
  auto buffer = Owned<WGPUBuffer>::adopt(wgpuDeviceCreateBuffer(gpu_.device.get(), &descriptor));
  if (Expected<void> made = scope.close("launch parameters"); !made) return made;
  if (!buffer) return device_lost("launch parameters");
  Chunk& chunk = chunks_.emplace_back();
  chunk.buffer = std::move(buffer);
  chunk.id = gpu_.new_id();
  bytes_.resize(chunks_.size() * chunk_bytes);
  return {};
}

void Parameters::upload() {
  for (std::size_t i = 0; i * chunk_bytes < used_; ++i) {
    Chunk& chunk = chunks_[i];
    if (chunk.changed_begin >= chunk.changed_end) continue;
    wgpuQueueWriteBuffer(gpu_.queue.get(), chunk.buffer.get(), chunk.changed_begin,
                         bytes_.data() + i * chunk_bytes + chunk.changed_begin, chunk.changed_end - chunk.changed_begin);
    chunk.changed_begin = chunk_bytes;
    chunk.changed_end = 0;
  }
  discard();
}

}  // namespace hearth::runtime::webgpu
