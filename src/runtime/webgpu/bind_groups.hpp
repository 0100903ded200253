#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "runtime/webgpu/gpu.hpp"

namespace hearth::runtime::webgpu {

/// An explicit layout of group 0: storage buffers, then perhaps a uniform with a dynamic offset. Bind groups made for it serve
/// every pipeline that has it.
struct Layout {
  std::uint32_t storage = 0;    ///< number of storage buffers
  std::uint32_t read_only = 0;  ///< bit i: binding i is declared `read`
  bool uniform = false;
  Owned<WGPUBindGroupLayout> group;
  Owned<WGPUPipelineLayout> pipeline;
};

/// Part of a buffer that a binding shows. `id` is never reused, other than the address of a buffer.
struct BoundRange {
  WGPUBuffer buffer = nullptr;
  std::uint64_t id = 0;
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
};

/// A group, and a number that no other group has: an address may come back.
struct FoundGroup {
  WGPUBindGroup group = nullptr;
  std::uint64_t serial = 0;
};

/// Bind groups by layout and ranges. A launch on memory that was used before finds its group here.
class BindGroups {
 public:
  explicit BindGroups(Gpu& gpu) : gpu_(gpu) { rehash(1024); }

  /// `label` names the group and its failure. The group stays valid until `forget`, or until many more are made.
  Expected<FoundGroup> find(const Layout& layout, std::span<const BoundRange> ranges, std::string_view label);
  /// Drops the groups that show a buffer.
  void forget(std::uint64_t id);
  /// Groups made so far.
  [[nodiscard]] std::uint64_t made() const noexcept { return made_; }
  /// For a group that was made elsewhere and is used once.
  [[nodiscard]] std::uint64_t new_serial() noexcept { return ++last_serial_; }
  [[nodiscard]] std::size_t size() const noexcept { return entries_.size() - free_.size(); }

  /// Bindings of one group, the uniform included.
  static constexpr std::size_t most_bindings = 64;
  /// A program that keeps more groups in use makes some again.
  static constexpr std::size_t capacity = 8192;

 private:
  struct Entry {
    std::uint64_t hash = 0;
    std::vector<std::uint64_t> key;
    Owned<WGPUBindGroup> group;
    std::uint64_t serial = 0;
    std::uint32_t next = none;  ///< in the chain of its bucket
  };
  static constexpr std::uint32_t none = ~std::uint32_t{0};

  [[nodiscard]] static bool matches(const Entry& entry, const Layout& layout, std::span<const BoundRange> ranges);
  void clear();
  void remove(std::uint32_t index);
  void rehash(std::size_t buckets);

  Gpu& gpu_;
  std::vector<std::uint32_t> buckets_;
  std::vector<Entry> entries_;
  std::vector<Entry> cleared_;  ///< the entries before the last `clear`: one launch may hold some still
  std::vector<std::uint32_t> free_;
  std::uint64_t made_ = 0, last_serial_ = 0;
};

}  // namespace hearth::runtime::webgpu
