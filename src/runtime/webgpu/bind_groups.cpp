#include "runtime/webgpu/bind_groups.hpp"

#include <array>

namespace hearth::runtime::webgpu {

namespace {

std::uint64_t mix(std::uint64_t hash, std::uint64_t word) {
  hash = (hash ^ word) * 0x9e3779b97f4a7c15ull;  // 2^64 divided by the golden ratio
  return hash ^ (hash >> 32);
}

std::uint64_t address(const Layout& layout) { return reinterpret_cast<std::uintptr_t>(&layout); }

}  // namespace

bool BindGroups::matches(const Entry& entry, const Layout& layout, std::span<const BoundRange> ranges) {
  if (entry.key.size() != 1 + 3 * ranges.size() || entry.key[0] != address(layout)) return false;
  const std::uint64_t* word = entry.key.data() + 1;
  for (const BoundRange& range : ranges) {
    if (word[0] != range.id || word[1] != range.offset || word[2] != range.size) return false;
    word += 3;
  }
  return true;
}

Expected<FoundGroup> BindGroups::find(const Layout& layout, std::span<const BoundRange> ranges, std::string_view label) {
  std::uint64_t hash = address(layout);
  for (const BoundRange& range : ranges) hash = mix(mix(mix(hash, range.id), range.offset), range.size);
  for (std::uint32_t i = buckets_[hash & (buckets_.size() - 1)]; i != none; i = entries_[i].next)
    if (entries_[i].hash == hash && matches(entries_[i], layout, ranges))
      return FoundGroup{entries_[i].group.get(), entries_[i].serial};

  std::array<WGPUBindGroupEntry, most_bindings> bindings = {};
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    bindings[i].binding = static_cast<std::uint32_t>(i);
    bindings[i].buffer = ranges[i].buffer;
    bindings[i].offset = ranges[i].offset;
    bindings[i].size = ranges[i].size;
  }
  WGPUBindGroupDescriptor descriptor = {};
  descriptor.label = view(label);
  descriptor.layout = layout.group.get();
  descriptor.entryCount = ranges.size();
  descriptor.entries = bindings.data();
  ErrorScope scope(gpu_);
  auto group = Owned<WGPUBindGroup>::adopt(wgpuDeviceCreateBindGroup(gpu_.device.get(), &descriptor));
  if (Expected<void> made = scope.close(label); !made) return made.error();
  if (!group) return device_lost(label);
  ++made_;

  if (size() >= capacity) clear();
  if (entries_.size() >= buckets_.size()) rehash(buckets_.size() * 4);
  std::uint32_t index = 0;
  if (free_.empty()) {
    index = static_cast<std::uint32_t>(entries_.size());
    entries_.emplace_back();
  } else {
    index = free_.back();
    free_.pop_back();
  }
  Entry& entry = entries_[index];
  entry.hash = hash;
  entry.key.clear();
  entry.key.push_back(address(layout));
  for (const BoundRange& range : ranges) entry.key.insert(entry.key.end(), {range.id, range.offset, range.size});
  entry.group = std::move(group);
  entry.serial = new_serial();
  std::uint32_t& bucket = buckets_[hash & (buckets_.size() - 1)];
  entry.next = bucket;
  bucket = index;
  return FoundGroup{entry.group.get(), entry.serial};
}

void BindGroups::forget(std::uint64_t id) {
  cleared_.clear();
  for (std::uint32_t i = 0; i < entries_.size(); ++i) {
    const std::vector<std::uint64_t>& key = entries_[i].key;
    for (std::size_t word = 1; word < key.size(); word += 3) {
      if (key[word] != id) continue;
      remove(i);
      break;
    }
  }
}

void BindGroups::remove(std::uint32_t index) {
  Entry& entry = entries_[index];
  std::uint32_t* link = &buckets_[entry.hash & (buckets_.size() - 1)];
  while (*link != index) link = &entries_[*link].next;
  *link = entry.next;
  entry.key.clear();
  entry.group.reset();
  entry.next = none;
  free_.push_back(index);
}

void BindGroups::clear() {
  cleared_ = std::exchange(entries_, {});
  free_.clear();
  buckets_.assign(buckets_.size(), none);
}

void BindGroups::rehash(std::size_t buckets) {
  buckets_.assign(buckets, none);
  for (std::uint32_t i = 0; i < entries_.size(); ++i) {
    if (!entries_[i].group) continue;
    std::uint32_t& bucket = buckets_[entries_[i].hash & (buckets - 1)];
    entries_[i].next = bucket;
    bucket = i;
  }
}

}  // namespace hearth::runtime::webgpu
