#include "runtime/memory.hpp"

#include <algorithm>
#include <functional>
#include <thread>

#include "base/assert.hpp"
#include "runtime/memory_pool.hpp"

namespace hearth::runtime {

namespace {

/// Held for a few instructions only: a mutex would cost as much as everything else in `make`.
class SpinLock {
 public:
  void lock() noexcept {
    while (flag_.test_and_set(std::memory_order_acquire)) std::this_thread::yield();
  }
  void unlock() noexcept { flag_.clear(std::memory_order_release); }

 private:
  std::atomic_flag flag_ = ATOMIC_FLAG_INIT;
};

/// Memory of an app's encoder that has no owner any more.
struct Held {
  std::uint64_t scope = 0;
  Slice slice;
};

Slice slice_of(const Allocation& allocation) {
  auto* page = static_cast<Page*>(allocation.block);
  return {page, allocation.offset, allocation.reserved, page->generation, allocation.last_use};
}

}  // namespace

struct Memory::State {
  State(std::shared_ptr<Storage> storage, const MemoryOptions& options) : pool(std::move(storage), options) {}

  // Any thread.
  std::atomic<Allocation*> retired{nullptr};
  std::atomic<std::uint64_t> in_use{0}, reserved{0}, peak{0}, alive{0}, blocks{0};
  SpinLock lock;  ///< of `objects`
  Allocation* objects = nullptr;

  // The server.
  Pool pool;
  std::vector<Held> held;
  std::uint64_t released_up_to = 0;  ///< every scope up to here is released, and those of `released`
  std::vector<std::uint64_t> released;
  bool abandoned = false;

  bool is_released(std::uint64_t scope) const {
    return scope <= released_up_to || std::find(released.begin(), released.end(), scope) != released.end();
  }
  void give_back(const Slice& slice, std::uint64_t scope) {
    if (is_released(scope)) {
      pool.give_back(slice);
    } else {
      held.push_back({scope, slice});
    }
  }
  void recycle(Allocation* first, Allocation* last) noexcept {
    std::scoped_lock guard(lock);
    last->next = objects;
    objects = first;
  }
  void publish() {
    reserved.store(pool.reserved(), std::memory_order_relaxed);
    blocks.store(pool.blocks_made(), std::memory_order_relaxed);
    if (pool.reserved() > peak.load(std::memory_order_relaxed)) peak.store(pool.reserved(), std::memory_order_relaxed);
  }
};

MemoryOptions memory_options(const DeviceInfo& info, const RuntimeOptions& options) {
  MemoryOptions memory;
  memory.alignment = info.storage_alignment;
  memory.page_bytes = std::min(memory.page_bytes, info.max_binding_bytes);
  memory.max_buffer_bytes = info.max_buffer_bytes;
  memory.limit_bytes = options.memory_limit_bytes;
  return memory;
}

void Allocation::destroy() noexcept {
  Memory* memory = owner;  // the reference that `make` took, given up only after `retire` is done with the memory
  memory->retire(this);
  memory->release();
}

Memory::Memory(std::shared_ptr<Storage> storage, const MemoryOptions& options)
    : state_(std::make_unique<State>(std::move(storage), options)) {}

Memory::~Memory() {
  // No allocation is alive: each holds a reference to this. What is still retired needs no place in the pools.
  state_->pool.observer = nullptr;
  for (Allocation* list : {state_->retired.exchange(nullptr), state_->objects}) {
    while (list) delete std::exchange(list, list->next);
  }
}

Ref<Allocation> Memory::make(std::uint64_t size_bytes) {
  Allocation* allocation = nullptr;
  {
    std::scoped_lock guard(state_->lock);
    allocation = state_->objects;
    if (allocation) state_->objects = allocation->next;
  }
  if (!allocation) allocation = new Allocation;
  allocation->owner = this;
  allocation->size = size_bytes;
  allocation->next = nullptr;
  add_ref();
  state_->alive.fetch_add(1, std::memory_order_relaxed);
  return Ref<Allocation>(allocation);
}

void Memory::retire(Allocation* allocation) noexcept {
  State& state = *state_;
  state.alive.fetch_sub(1, std::memory_order_relaxed);
  allocation->failure.reset();
  if (!allocation->block) {
    allocation->scope = 0;
    allocation->pinned = false;
    allocation->last_use = 0;
    state.recycle(allocation, allocation);
    return;
  }
  if (!allocation->block->imported) state.in_use.fetch_sub(allocation->reserved, std::memory_order_relaxed);
  Allocation* head = state.retired.load(std::memory_order_relaxed);
  do {
    allocation->next = head;
  } while (!state.retired.compare_exchange_weak(head, allocation, std::memory_order_release, std::memory_order_relaxed));
}

void Memory::collect() {
  State& state = *state_;
  if (!state.retired.load(std::memory_order_relaxed)) return;
  Allocation* stack = state.retired.exchange(nullptr, std::memory_order_acquire);
  Allocation* queue = nullptr;  // oldest first, so that the memory used last is reused first
  while (stack) {
    Allocation* next = stack->next;
    stack->next = queue;
    queue = stack;
    stack = next;
  }
  Allocation* const first = queue;
  Allocation* last = nullptr;
  for (; queue; queue = queue->next) {
    state.give_back(slice_of(*queue), queue->scope);
    queue->block = nullptr;
    queue->offset = queue->reserved = 0;
    queue->scope = queue->last_use = 0;
    queue->pinned = false;
    last = queue;
  }
  state.recycle(first, last);
  if (state.abandoned) state.pool.trim();
  state.publish();
}

Expected<void> Memory::place(Allocation& allocation, bool exclusive) {
  State& state = *state_;
  if (allocation.block) return {};
  if (state.abandoned) return Failure{ErrorCode::device_lost, "memory: the device is lost, it has no memory any more."};
  collect();
  Expected<Slice> slice = state.pool.take(allocation.size, exclusive, state.in_use.load(std::memory_order_relaxed));
  if (!slice) return slice.error();
  allocation.block = slice->page;
  allocation.offset = slice->offset;
  allocation.reserved = slice->size;
  allocation.last_use = slice->last_use;
  state.in_use.fetch_add(slice->size, std::memory_order_relaxed);
  if (state.pool.reserved() != state.reserved.load(std::memory_order_relaxed)) state.publish();
  return {};
}

Expected<void> Memory::move_to_exclusive(Allocation& allocation) {
  HEARTH_ASSERT(allocation.block && !allocation.block->imported);
  const Slice old = slice_of(allocation);
  allocation.block = nullptr;
  Expected<void> placed = place(allocation, true);
  if (!placed) {
    allocation.block = old.page;
    return placed;
  }
  state_->in_use.fetch_sub(old.size, std::memory_order_relaxed);
  state_->give_back(old, allocation.scope);
  return {};
}

Ref<Allocation> Memory::import(void* buffer, std::uint64_t offset, std::uint64_t size) {
  Ref<Allocation> allocation = make(size);
  allocation->block = state_->pool.import(buffer, offset + size);
  allocation->offset = offset;
  allocation->reserved = size;
  allocation->pinned = true;
  return allocation;
}

void Memory::release_scope(std::uint64_t scope) {
  State& state = *state_;
  if (scope == 0 || state.is_released(scope)) return;
  state.released.push_back(scope);
  for (auto next = state.released.begin(); next != state.released.end();) {
    next = std::find(state.released.begin(), state.released.end(), state.released_up_to + 1);
    if (next != state.released.end()) {
      ++state.released_up_to;
      state.released.erase(next);
      next = state.released.begin();
    }
  }
  collect();
  std::erase_if(state.held, [&](const Held& held) {
    if (held.scope != scope) return false;
    state.pool.give_back(held.slice);
    return true;
  });
  if (state.abandoned) state.pool.trim();
  state.publish();
}

void Memory::cleanup() {
  collect();
  state_->pool.trim();
  state_->publish();
}

void Memory::abandon() {
  state_->abandoned = true;
  cleanup();
}

void Memory::set_observer(std::function<void(const Block&)> observer) { state_->pool.observer = std::move(observer); }

MemoryUsage Memory::usage() const noexcept {
  const State& state = *state_;
  return {state.in_use.load(std::memory_order_relaxed), state.reserved.load(std::memory_order_relaxed),
          state.peak.load(std::memory_order_relaxed), state.alive.load(std::memory_order_relaxed)};
}

std::uint64_t Memory::blocks_made() const noexcept { return state_->blocks.load(std::memory_order_relaxed); }

}  // namespace hearth::runtime
