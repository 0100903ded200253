#pragma once
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "hearth/device.hpp"
#include "hearth/error.hpp"
#include "hearth/ref.hpp"

namespace hearth::runtime {

class Memory;

/// Raw device memory of a backend: a WGPUBuffer, or a host pointer.
class Storage {
 public:
  virtual ~Storage() = default;
  virtual Expected<void*> allocate(std::uint64_t size_bytes) = 0;
  /// Called on the server's thread while the server lives, later on the thread that drops the last handle. Recorded work that is
  /// not submitted yet may still name the buffer.
  virtual void free(void* buffer) noexcept = 0;
  /// Gives up the reference to an imported buffer.
  virtual void release_imported(void* /*buffer*/) noexcept {}
};

/// One buffer of the device: a page that is cut into slices, or an exclusive one.
struct Block {
  void* buffer = nullptr;
  std::uint64_t size = 0;
  bool exclusive = false;
  bool imported = false;  ///< the app's own
  std::uint64_t id = 0;   ///< unique, never reused: key of bind group caches
};

/// A tensor's memory. Made by Memory::make (any thread, no device call), placed in a block by the server at its first use,
/// given back when the last Handle goes (any thread, no device call).
struct Allocation final : RefCounted {
  Memory* owner = nullptr;  ///< kept alive by the allocation, see Memory
  Block* block = nullptr;   ///< null until placed
  std::uint64_t offset = 0;
  std::uint64_t size = 0;      ///< as asked for
  std::uint64_t reserved = 0;  ///< what it takes in the block, a multiple of the alignment
  std::uint64_t scope = 0;     ///< the app's encoder that it belongs to, 0: none
  std::uint64_t last_use =
      0;                ///< the server's submission number that used its memory last, for an allocation before it or for it
  bool pinned = false;  ///< handed out raw: never moved
  std::unique_ptr<Failure> failure;  ///< why it has no value
  Allocation* next = nullptr;        ///< list of the free objects

 protected:
  void destroy() noexcept override;  ///< hands itself to owner->retire
};

struct MemoryOptions {
  std::uint64_t alignment = 256;
  std::uint64_t page_bytes = 8u << 20;  ///< cut to max_buffer_bytes and max_binding_bytes
  std::uint64_t max_buffer_bytes = 268435456;
  std::uint64_t exclusive_from_bytes = 1u << 20;  ///< larger requests get a buffer of their own
  std::uint64_t limit_bytes = 0;                  ///< cap on reserved bytes, 0: none
};

/// How memory is cut on a device: pages that can be bound whole, slices on its alignment.
[[nodiscard]] MemoryOptions memory_options(const DeviceInfo& info, const RuntimeOptions& options);

/// Pools the memory of one device. Slices and exclusive buffers are reused as soon as their last Handle goes: all use is ordered
/// by one queue. What a borrowed encoder touched (Allocation::scope, numbered from 1 on) stays out until `release_scope`.
/// make, retire and usage are thread-safe; the others are called by the server.
class Memory : public RefCounted {
 public:
  Memory(std::shared_ptr<Storage> storage, const MemoryOptions& options);
  ~Memory() override;

  /// An allocation without a place.
  [[nodiscard]] Ref<Allocation> make(std::uint64_t size_bytes);
  /// Finds a place for an allocation that has none. `exclusive`: a buffer of its own. Fails with out_of_memory, naming what was
  /// asked, in use, and the limit; nothing changes then.
  Expected<void> place(Allocation& allocation, bool exclusive = false);
  /// A new place for an allocation, in a buffer of its own; the old place is given back. The caller copies.
  Expected<void> move_to_exclusive(Allocation& allocation);
  /// An allocation on a buffer that somebody else owns, given to Storage::release_imported when its last Handle is gone.
  [[nodiscard]] Ref<Allocation> import(void* buffer, std::uint64_t offset, std::uint64_t size);

  /// Any thread: the last Handle is gone.
  void retire(Allocation* allocation) noexcept;
  /// Puts retired memory back into the pools. Called by `place`; the server may call it at a flush.
  void collect();
  /// Retired memory that belongs to `scope` stays out of the pools until release_scope(scope).
  void release_scope(std::uint64_t scope);
  /// Gives unused pages and exclusive buffers back to the device.
  void cleanup();
  /// The device is gone: `place` fails with device_lost from here on, and unused memory goes to Storage::free at once.
  void abandon();
  /// `observer` learns of every block before it is freed, so that caches keyed by Block::id forget it; null: nobody.
  void set_observer(std::function<void(const Block&)> observer);

  [[nodiscard]] MemoryUsage usage() const noexcept;
  /// Blocks taken from the device so far.
  [[nodiscard]] std::uint64_t blocks_made() const noexcept;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace hearth::runtime
