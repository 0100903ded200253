#include "runtime/memory.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <thread>

#include "runtime/memory_pool.hpp"

using namespace hearth;
using namespace hearth::runtime;

namespace {

constexpr std::uint64_t mib = 1u << 20;

/// Hands out addresses and keeps count.
struct CountingStorage final : Storage {
  Expected<void*> allocate(std::uint64_t size_bytes) override {
    if (taken + size_bytes > room) return Failure{ErrorCode::out_of_memory, "storage: full."};
    taken += size_bytes;
    void* buffer = reinterpret_cast<void*>(next += 0x1000);
    sizes[buffer] = size_bytes;
    return buffer;
  }
  void free(void* buffer) noexcept override {
    taken -= sizes[buffer];
    sizes.erase(buffer);
  }
  void release_imported(void*) noexcept override { ++imports_released; }

  std::map<void*, std::uint64_t> sizes;
  std::uint64_t taken = 0, room = ~std::uint64_t{0}, next = 0;
  int imports_released = 0;
};

struct Fixture {
  explicit Fixture(MemoryOptions options = {}) : memory(make_ref<Memory>(storage, options)) {}
  Handle placed(std::uint64_t size, bool exclusive = false) {
    Handle handle = memory->make(size);
    memory->place(*handle, exclusive).value();
    return handle;
  }
  std::shared_ptr<CountingStorage> storage = std::make_shared<CountingStorage>();
  Ref<Memory> memory;
};

bool overlap(const Allocation& a, const Allocation& b) {
  return a.block == b.block && a.offset < b.offset + b.reserved && b.offset < a.offset + a.reserved;
}

}  // namespace

TEST_CASE("size classes cover every size, waste less than a fifth and come back to themselves") {
  for (std::uint64_t units = 1; units < 70000; ++units) {
    const std::uint64_t got = class_units(size_class(units));
    if (got < units || (got - units) * 5 > got) FAIL(units, " units take ", got);
    if (size_class(got) != size_class(units)) FAIL(units, " units: the class of ", got, " is another");
  }
}

TEST_CASE("slices are aligned, inside their block and apart from each other") {
  Fixture f;
  std::vector<Handle> handles;
  for (std::uint64_t size : {0, 1, 24, 255, 256, 257, 4096, 5000, 70000, 1000000, 24, 24}) handles.push_back(f.placed(size));
  for (std::size_t i = 0; i < handles.size(); ++i) {
    const Allocation& a = *handles[i];
    CHECK(a.offset % 256 == 0);
    CHECK(a.reserved >= a.size);
    CHECK(a.offset + a.reserved <= a.block->size);
    for (std::size_t j = 0; j < i; ++j) CHECK_FALSE(overlap(a, *handles[j]));
  }
  CHECK(f.memory->blocks_made() == 1);
}

TEST_CASE("memory that was given back last is used first") {
  Fixture f;
  const Handle keep = f.placed(100);
  Handle first = f.placed(1000), second = f.placed(1000);
  const std::uint64_t offset = second->offset;
  first = {};
  second = {};
  CHECK(f.placed(1000)->offset == offset);
}

TEST_CASE("large and exclusive allocations get a block of their own, reused by size") {
  Fixture f;
  const Handle small = f.placed(64);
  Handle own = f.placed(64, true);
  CHECK(own->block != small->block);
  CHECK(own->block->exclusive);
  Handle large = f.placed(3 * mib);
  CHECK(large->block->exclusive);
  const std::uint64_t id = large->block->id;
  large = {};
  CHECK(f.placed(3 * mib - 1000)->block->id == id);
  CHECK(f.placed(mib + 1)->block->id != id);  // would waste two thirds
}

TEST_CASE("move_to_exclusive changes the block and gives the slice back") {
  Fixture f;
  const Handle keep = f.placed(64);
  Handle moved = f.placed(64);
  const std::uint64_t offset = moved->offset;
  f.memory->move_to_exclusive(*moved).value();
  CHECK(moved->block->exclusive);
  CHECK(moved->offset == 0);
  CHECK(f.placed(64)->offset == offset);
}

TEST_CASE("ten thousand temporaries in a chain keep memory flat") {
  Fixture f;
  Handle last = f.placed(256);
  for (int i = 0; i < 10000; ++i) last = f.placed(256);
  CHECK(f.memory->usage().reserved == 8 * mib);
  CHECK(f.memory->usage().in_use == 256);
  CHECK(f.memory->usage().allocations == 1);
  CHECK(f.memory->blocks_made() == 1);
}

TEST_CASE("allocations that never found a place leave nothing behind") {
  Fixture f;
  for (int i = 0; i < 10000; ++i) (void)f.memory->make(1000);
  CHECK(f.memory->usage().allocations == 0);
  CHECK(f.memory->usage().reserved == 0);
}

TEST_CASE("five tensors of 16 MB, made and dropped a thousand times, keep memory flat") {
  Fixture f;
  for (int i = 0; i < 1000; ++i) {
    std::vector<Handle> five;
    for (int j = 0; j < 5; ++j) five.push_back(f.placed(16 * mib));
  }
  CHECK(f.memory->usage().peak == 80 * mib);
  CHECK(f.memory->blocks_made() == 5);
}

TEST_CASE("sizes that drift do not pile up unused buffers") {
  Fixture f;
  for (std::uint64_t i = 0; i < 200; ++i) (void)f.placed(2 * mib + i * 700000);
  CHECK(f.memory->usage().peak < 600 * mib);
}

TEST_CASE("the cap gives a sentence and leaves everything alive") {
  MemoryOptions options;
  options.limit_bytes = 10 * mib;
  Fixture f(options);
  Handle keep = f.placed(6 * mib);
  Handle refused = f.memory->make(5 * mib);
  Expected<void> placed = f.memory->place(*refused);
  REQUIRE_FALSE(placed);
  CHECK(placed.error().code == ErrorCode::out_of_memory);
  CHECK(
      placed.error().message ==
      "memory: 5242880 bytes are asked for while 6291456 bytes are in use and 6291456 bytes are reserved; the limit is 10485760 "
      "bytes.");
  CHECK(refused->block == nullptr);
  CHECK(keep->block != nullptr);
  keep = {};
  CHECK(f.memory->place(*refused));  // unused memory is given back to make room
  CHECK(f.memory->usage().reserved <= options.limit_bytes);
}

TEST_CASE("a small tensor under a cap leaves room for a large one") {
  MemoryOptions options;
  options.limit_bytes = 10 * mib;
  Fixture f(options);
  const Handle small = f.placed(64);
  CHECK(f.memory->place(*f.memory->make(8 * mib)));
}

TEST_CASE("a full device is tried again without unused blocks") {
  Fixture f;
  f.storage->room = 16 * mib;
  Handle first = f.placed(10 * mib);
  first = {};
  CHECK(f.placed(14 * mib)->block != nullptr);
  CHECK(f.memory->place(*f.memory->make(20 * mib)).error().message == "storage: full.");
}

TEST_CASE("more than a buffer may have is unsupported and names the limit") {
  MemoryOptions options;
  options.max_buffer_bytes = 32 * mib;
  Fixture f(options);
  const Handle handle = f.memory->make(33 * mib);
  CHECK(f.memory->place(*handle).error().message ==
        "memory: 34603008 bytes are asked for, but a buffer of this device has at most 33554432 bytes.");
  CHECK(f.memory->place(*handle).error().code == ErrorCode::unsupported);
}

TEST_CASE("memory that an open encoder touched stays out of the pool until its scope is released") {
  Fixture f;
  const Handle keep = f.placed(64);
  Handle scoped = f.placed(64);
  const std::uint64_t offset = scoped->offset;
  scoped->scope = 2;
  scoped = {};
  const Handle other = f.placed(64);
  CHECK(other->offset != offset);
  f.memory->release_scope(2);
  CHECK(f.placed(64)->offset == offset);
  Handle late = f.placed(64);  // touched by a scope that is released already
  late->scope = 2;
  const std::uint64_t late_offset = late->offset;
  late = {};
  CHECK(f.placed(64)->offset == late_offset);
}

TEST_CASE("cleanup gives everything unused back to the device and the observer learns of it") {
  Fixture f;
  std::set<std::uint64_t> freed;
  f.memory->set_observer([&](const Block& block) { CHECK(freed.insert(block.id).second); });
  Handle small = f.placed(64), large = f.placed(3 * mib), keep = f.placed(3 * mib);
  const std::uint64_t kept = keep->block->id;
  small = {};
  large = {};
  f.memory->cleanup();
  CHECK(f.memory->usage().reserved == keep->block->size);
  CHECK(f.storage->taken == keep->block->size);
  CHECK(freed.size() == 2);
  CHECK(freed.count(kept) == 0);
  CHECK(freed.count(f.placed(64)->block->id) == 0);  // ids are never reused
}

TEST_CASE("cleanup while a page is partly used keeps its free slices") {
  Fixture f;
  const Handle keep = f.placed(64);
  Handle gone = f.placed(64);
  const std::uint64_t offset = gone->offset;
  gone = {};
  f.memory->cleanup();
  CHECK(f.placed(64)->offset == offset);
}

TEST_CASE("an imported buffer is given back once, and is no memory of ours") {
  Fixture f;
  Handle handle = f.memory->import(reinterpret_cast<void*>(0x77), 256, 1000);
  CHECK(handle->offset == 256);
  CHECK(f.memory->usage().reserved == 0);
  handle = {};
  f.memory->collect();
  CHECK(f.storage->imports_released == 1);
  CHECK(f.memory->usage().in_use == 0);
}

TEST_CASE("an allocation keeps the memory alive, and the last one frees it all") {
  Fixture f;
  Handle handle = f.placed(1000);
  f.memory = {};
  CHECK(f.storage->taken > 0);
  std::thread([moved = std::move(handle)]() mutable { moved = {}; }).join();
  CHECK(f.storage->taken == 0);
}

TEST_CASE("a lost device takes no more memory and drops what is unused") {
  Fixture f;
  Handle handle = f.placed(2 * mib);
  f.memory->abandon();
  CHECK(f.memory->place(*f.memory->make(8)).error().code == ErrorCode::device_lost);
  CHECK(f.storage->taken > 0);
  handle = {};
  f.memory->collect();
  CHECK(f.storage->taken == 0);
}

TEST_CASE("handles go on many threads while the server places others") {
  Fixture f;
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([memory = f.memory] {
      for (int i = 0; i < 2000; ++i) {
        Handle a = memory->make(static_cast<std::uint64_t>(i));
        Handle b = a;
        a = {};
      }
    });
  }
  std::vector<Handle> window(8);
  for (int i = 0; i < 2000; ++i) {
    Handle next = f.placed(1000);
    if (i % 8 == 0) threads.emplace_back([moved = std::move(window[0])]() mutable { moved = {}; });
    window[static_cast<std::size_t>(i % 8)] = std::move(next);
    if (threads.size() > 8) {
      threads.back().join();
      threads.pop_back();
    }
  }
  for (std::thread& thread : threads) thread.join();
  window.clear();
  f.memory->collect();
  CHECK(f.memory->usage().allocations == 0);
  CHECK(f.memory->usage().in_use == 0);
}

TEST_CASE("any order of sizes, drops, scopes and cleanups keeps live memory apart and bounded") {
  std::mt19937 random(5);
  Fixture f;
  std::vector<Handle> live;
  std::uint64_t scope = 0, highest = 0;
  for (int step = 0; step < 4000; ++step) {
    const auto choice = random() % 100;
    if (choice < 52 || live.empty()) {
      const std::uint64_t size = choice < 40 ? random() % 3000 : choice < 50 ? random() % 400000 : random() % (4 * mib);
      Handle handle = f.placed(size, random() % 20 == 0);
      for (const Handle& other : live)
        if (overlap(*handle, *other)) FAIL("step ", step, ": two live allocations overlap");
      if (scope > 0 && random() % 10 == 0) handle->scope = scope;
      live.push_back(std::move(handle));
    } else if (choice < 98) {
      std::swap(live[random() % live.size()], live.back());
      live.pop_back();
    } else if (choice == 98) {
      if (scope > 0) f.memory->release_scope(scope);
      ++scope;
    } else {
      f.memory->cleanup();
    }
    highest = std::max(highest, f.memory->usage().in_use);
  }
  CHECK(f.memory->usage().peak < 2 * highest + 80 * mib);
  CHECK(f.memory->usage().allocations == live.size());
  live.clear();
  for (std::uint64_t i = 1; i <= scope; ++i) f.memory->release_scope(i);
  f.memory->cleanup();
  CHECK(f.storage->taken == 0);
  CHECK(f.memory->usage().in_use == 0);
}
