#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "runtime/webgpu/server.hpp"

namespace hearth::runtime::webgpu {

namespace {

/// A write of this size is split: wgpu-native makes a staging buffer of the write's own size.
constexpr std::uint64_t largest_write = 64u << 20;
/// Staging of one read is made of buffers of at most this size.
constexpr std::uint64_t largest_read = 64u << 20;
/// Uploads in the open encoder after which it is flushed: they live until then.
constexpr std::uint64_t staged_per_flush = 64u << 20;

WGPUBuffer buffer_of(const Allocation& allocation) { return static_cast<WGPUBuffer>(allocation.block->buffer); }
bool in_words(std::uint64_t a, std::uint64_t b = 0, std::uint64_t c = 0) { return ((a | b | c) & 3) == 0; }

/// Whether an imported buffer lacks a usage; Hearth's own have all that a copy needs.
bool lacks(const Allocation& allocation, WGPUBufferUsage usage) {
  return allocation.block->imported && (wgpuBufferGetUsage(buffer_of(allocation)) & usage) == 0;
}

/// One invocation writes one word of the output, the bytes outside the range stay.
constexpr const char* copy_source = R"(
@group(0) @binding(0) var<storage, read_write> source: array<u32>;
@group(0) @binding(1) var<storage, read_write> target_words: array<u32>;
@group(0) @binding(2) var<uniform> params: array<vec4<u32>, 2>;
@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) wg: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let source_at = params[0].x;
  let target_at = params[0].y;
  let size = params[0].z;
  let word = target_at / 4u + (wg.y * params[0].w + wg.x) * 64u + lane;
  if (word * 4u >= target_at + size) { return; }
  var value = 0u;
  var mask = 0u;
  for (var i = 0u; i < 4u; i++) {
    let at = word * 4u + i;
    if (at >= target_at && at < target_at + size) {
      let byte = source_at + (at - target_at);
      value |= extractBits(source[byte / 4u], (byte & 3u) * 8u, 8u) << (i * 8u);
      mask |= 255u << (i * 8u);
    }
  }
  if (mask == 0xffffffffu) { target_words[word] = value; } else { target_words[word] = (target_words[word] & ~mask) | value; }
}
)";

}  // namespace

Expected<void> WebGpuServer::write(Allocation& to, std::uint64_t offset, std::span<const std::byte> bytes) {
  if (Expected<void> healthy = check_healthy("write"); !healthy) return healthy;
  if (Expected<void> fits = check_writable(to, "write"); !fits) return fits;
  if (Expected<void> placed = place(to); !placed) return placed;
  if (bytes.empty()) return {};
  // The rest of the last word belongs to the allocation and has no meaning, when the write goes to its end.
  const bool to_end = in_words(offset) && offset + bytes.size() == to.size && !to.block->imported;
  Expected<void> written;
  if (lacks(to, WGPUBufferUsage_CopyDst) || (!to_end && !in_words(offset, bytes.size()))) {
    Ref<Allocation> words = memory_->make(bytes.size());
    if (Expected<void> placed = place(*words); !placed) return placed;
    written = write_words(*words, 0, bytes);
    if (written) written = copy_bytes(*words, 0, to, offset, bytes.size());
  } else {
    written = write_words(to, offset, bytes);
  }
  if (!written) return lose(written.error());
  statistics_.bytes_written += bytes.size();
  if (!borrowed_ && own_.uploads.bytes() > staged_per_flush) return flush();
  return {};
}

Expected<void> WebGpuServer::write_words(Allocation& to, std::uint64_t offset, std::span<const std::byte> bytes) {
  // A buffer write acts before the commands of the encoder that is open.
  if (borrowed_ || to.last_use == own_.number) return write_staged(to, offset, bytes);
  const std::uint64_t begin = to.offset + offset;
  const std::uint64_t whole = bytes.size() / 4 * 4;
  ErrorScope scope(*gpu_, validation | out_of_memory);
  for (std::uint64_t done = 0; done < whole; done += largest_write)
    wgpuQueueWriteBuffer(gpu_->queue.get(), buffer_of(to), begin + done, bytes.data() + done,
                         std::min(whole - done, largest_write));
  if (whole != bytes.size()) {
    std::array<std::byte, 4> word = {};
    std::copy(bytes.begin() + static_cast<std::ptrdiff_t>(whole), bytes.end(), word.begin());
    wgpuQueueWriteBuffer(gpu_->queue.get(), buffer_of(to), begin + whole, word.data(), word.size());
  }
  writes_pending_ = true;
  if (Expected<void> written = scope.close("write"); !written) return written;
  if (to.failure) to.failure.reset();
  return {};
}

Expected<void> WebGpuServer::write_staged(Allocation& to, std::uint64_t offset, std::span<const std::byte> bytes) {
  Recording& recording = target();
  Expected<Piece> piece = recording.uploads.take((bytes.size() + 3) / 4 * 4, 4);
  if (!piece) return piece.error();
  std::memcpy(piece->data, bytes.data(), bytes.size());
  Expected<WGPUCommandEncoder> encoder = recording.open_for_copies();
  if (!encoder) return encoder.error();
  ErrorScope scope(*gpu_);
  wgpuCommandEncoderCopyBufferToBuffer(*encoder, piece->buffer, piece->offset, buffer_of(to), to.offset + offset,
                                       (bytes.size() + 3) / 4 * 4);
  if (Expected<void> copied = scope.close("write"); !copied) return copied;
  use_written(to);
  return {};
}

Expected<void> WebGpuServer::copy(Allocation& from, std::uint64_t from_offset, Allocation& to, std::uint64_t to_offset,
                                  std::uint64_t size) {
  if (Expected<void> healthy = check_healthy("copy"); !healthy) return healthy;
  if (from.failure) return *from.failure;
  if (Expected<void> fits = check_scope(from, "copy"); !fits) return fits;
  if (Expected<void> fits = check_writable(to, "copy"); !fits) return fits;
  if (Expected<void> placed = place(from); !placed) return placed;
  if (Expected<void> placed = place(to); !placed) return placed;
  if (size == 0) return {};
  const bool by_kernel = from.block->buffer == to.block->buffer || !in_words(from_offset, to_offset, size) ||
                         lacks(from, WGPUBufferUsage_CopySrc) || lacks(to, WGPUBufferUsage_CopyDst);
  Expected<void> copied;
  if (!by_kernel) {
    copied = copy_buffers(from, from_offset, to, to_offset, size);
  } else if (&from != &to) {
    copied = copy_bytes(from, from_offset, to, to_offset, size);
  } else {  // within one allocation, by way of another
    Ref<Allocation> middle = memory_->make(size);
    if (Expected<void> placed = place(*middle); !placed) return placed;
    copied = copy_bytes(from, from_offset, *middle, 0, size);
    if (copied) copied = copy_bytes(*middle, 0, to, to_offset, size);
  }
  if (!copied) return lose(copied.error());
  return {};
}

Expected<void> WebGpuServer::copy_buffers(Allocation& from, std::uint64_t from_offset, Allocation& to, std::uint64_t to_offset,
                                          std::uint64_t size) {
  Expected<WGPUCommandEncoder> encoder = target().open_for_copies();
  if (!encoder) return encoder.error();
  ErrorScope scope(*gpu_);
  wgpuCommandEncoderCopyBufferToBuffer(*encoder, buffer_of(from), from.offset + from_offset, buffer_of(to), to.offset + to_offset,
                                       size);
  if (Expected<void> copied = scope.close("copy"); !copied) return copied;
  use(from);
  use_written(to);
  return {};
}

Expected<void> WebGpuServer::copy_bytes(Allocation& from, std::uint64_t from_offset, Allocation& to, std::uint64_t to_offset,
                                        std::uint64_t size) {
  constexpr std::uint64_t bytes_per_workgroup = 64 * 4;
  const std::uint64_t words_end = to_offset + size - to_offset / 4 * 4;
  const std::uint64_t workgroups = (words_end + bytes_per_workgroup - 1) / bytes_per_workgroup;
  const std::uint64_t columns = std::min<std::uint64_t>(workgroups, info_.max_workgroups_per_dimension);
  ir::Kernel kernel;
  kernel.label = "copy bytes";
  kernel.form = ir::Form::source;
  kernel.source = copy_source;
  kernel.entry_point = "main";
  kernel.bindings = {DType::u32, DType::u32};
  kernel.parameters.assign(8, DType::u32);
  // Only the grid differs: the pipeline is compiled once.
  if (!copy_kernel_) copy_kernel_ = ir::finish(kernel);
  Expected<const Compiled*> compiled = pipelines_.find(copy_kernel_);
  if (!compiled) return compiled.error();
  const std::array<std::uint32_t, 8> parameters = {static_cast<std::uint32_t>(from_offset), static_cast<std::uint32_t>(to_offset),
                                                   static_cast<std::uint32_t>(size), static_cast<std::uint32_t>(columns)};
  const std::array<Allocation*, 2> bindings = {&from, &to};
  const std::array<std::uint32_t, 3> grid = {static_cast<std::uint32_t>(columns),
                                             static_cast<std::uint32_t>((workgroups + columns - 1) / columns), 1};
  if (Expected<void> recorded = record(**compiled, bindings, nullptr, parameters, &grid); !recorded) return recorded;
  use(from);
  use_written(to);
  return {};
}

Expected<void> WebGpuServer::move_to_exclusive(Allocation& allocation) {
  const WGPUBuffer old = buffer_of(allocation);
  const std::uint64_t old_offset = allocation.offset;
  allocation.last_use = target().number;  // the copy below uses the old place, and goes with it into the pool
  const std::uint64_t old_scope = std::exchange(allocation.scope, scope_);
  if (Expected<void> moved = memory_->move_to_exclusive(allocation); !moved) {
    allocation.scope = old_scope;
    return moved;
  }
  // The old place may be given to the next allocation already: what uses it comes after this copy.
  Expected<WGPUCommandEncoder> encoder = target().open_for_copies();
  if (!encoder) return encoder.error();
  ErrorScope scope(*gpu_);
  wgpuCommandEncoderCopyBufferToBuffer(*encoder, old, old_offset, buffer_of(allocation), allocation.offset,
                                       (allocation.size + 3) / 4 * 4);
  if (Expected<void> copied = scope.close("move"); !copied) return copied;
  use_written(allocation);
  return {};
}

Future<std::vector<std::byte>> WebGpuServer::read(const Handle& from, std::uint64_t offset, std::uint64_t size) {
  using Bytes = std::vector<std::byte>;
  const auto fail = [this](const Failure& failure) { return Future<Bytes>::ready_with(lose(failure)); };
  if (Expected<void> healthy = check_healthy("read"); !healthy) return fail(healthy.error());
  if (from->failure) return fail(*from->failure);
  if (from->scope != 0)
    return fail({ErrorCode::not_submitted, "read: the memory belongs to an encoder of the app that is not submitted yet."});
  if (!from->block)
    if (Expected<void> placed = memory_->place(*from); !placed) return fail(placed.error());

  Handle source = from;
  std::uint64_t begin = offset / 4 * 4;
  if (lacks(*from, WGPUBufferUsage_CopySrc) && !borrowed_) {
    source = memory_->make(size);
    if (Expected<void> placed = memory_->place(*source); !placed) return fail(placed.error());
    if (Expected<void> copied = copy_bytes(*from, offset, *source, 0, size); !copied) return fail(copied.error());
    offset = begin = 0;
  }
  const std::uint64_t end = (offset + size + 3) / 4 * 4;
  auto readback = std::make_shared<Readback>(gpu_, staging_, offset - begin, size);
  if (size != 0) {
    Expected<WGPUCommandEncoder> encoder = own_.open_for_copies();
    if (!encoder) return fail(encoder.error());
    for (std::uint64_t at = begin; at < end; at += largest_read) {
      const std::uint64_t count = std::min(end - at, largest_read);
      Expected<StagingBuffer> staging = staging_->take(count);
      if (!staging) return fail(staging.error());
      ErrorScope scope(*gpu_);
      wgpuCommandEncoderCopyBufferToBuffer(*encoder, buffer_of(*source), source->offset + at, staging->buffer.get(), 0, count);
      readback->add(std::move(*staging), count);
      if (Expected<void> copied = scope.close("read"); !copied) return fail(copied.error());
    }
    source->last_use = own_.number;
  }
  if (Expected<void> flushed = flush(); !flushed) return fail(flushed.error());
  statistics_.bytes_read += size;
  if (size == 0) return Future<Bytes>::ready_with(Bytes{});
  readback->map();
  return future_of(std::move(readback));
}

}  // namespace hearth::runtime::webgpu
