#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "runtime/memory.hpp"

/// The book-keeping of Memory that only the server's side touches.
namespace hearth::runtime {

/// A buffer of the device. Slices are cut from its start on (`bump`); when the last of them is free it begins again, and a new
/// `generation` makes the entries of the free lists that point into it stale.
struct Page : Block {
  std::uint64_t bump = 0;
  std::uint32_t live = 0;
  std::uint32_t generation = 0;
  std::uint64_t freed_at = 0;   ///< exclusive: when it went into the pool
  std::uint64_t last_use = 0;   ///< Allocation::last_use of what was here, the latest
  std::uint64_t start_use = 0;  ///< the same at the start of this generation: of what is cut from `bump` on
  std::size_t index = 0;        ///< in Pool::pages_
};

/// Part of a block that nothing uses.
struct Slice {
  Page* page = nullptr;
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
  std::uint32_t generation = 0;
  std::uint64_t last_use = 0;  ///< by the allocation that was here
};

/// Sizes in units of the alignment, four steps an octave: a slice wastes less than a fifth of itself.
[[nodiscard]] int size_class(std::uint64_t units) noexcept;
[[nodiscard]] std::uint64_t class_units(int index) noexcept;

/// Blocks of one device and their free parts. Not thread-safe.
class Pool {
 public:
  Pool(std::shared_ptr<Storage> storage, const MemoryOptions& options);
  ~Pool();

  /// A place of at least `size` bytes. Tries the pools, then the device, then the device again without unused blocks.
  Expected<Slice> take(std::uint64_t size, bool exclusive, std::uint64_t in_use);
  void give_back(const Slice& slice);
  [[nodiscard]] Page* import(void* buffer, std::uint64_t size);
  /// Frees every block without a live slice.
  void trim();

  [[nodiscard]] std::uint64_t reserved() const noexcept { return reserved_; }
  [[nodiscard]] std::uint64_t blocks_made() const noexcept { return blocks_made_; }

  std::function<void(const Block&)> observer;

 private:
  Expected<Slice> take_slice(std::uint64_t size, std::uint64_t in_use);
  Expected<Slice> take_exclusive(std::uint64_t size, std::uint64_t in_use);
  [[nodiscard]] bool pop(int size_class, Slice& slice);
  [[nodiscard]] Page* page_with_room(std::uint64_t size);
  [[nodiscard]] std::uint64_t page_size(std::uint64_t size) const;
  Expected<Page*> make_block(std::uint64_t size, bool exclusive, std::uint64_t in_use);
  [[nodiscard]] Slice cut(Page& page, std::uint64_t size);
  void limit_unused();
  void free_block(Page* page);

  std::shared_ptr<Storage> storage_;
  MemoryOptions options_;
  std::vector<std::unique_ptr<Page>> pages_;
  std::vector<std::vector<Slice>> free_slices_;  ///< by size class, last in first out
  std::multimap<std::uint64_t, Page*> free_exclusive_;
  Page* current_ = nullptr;  ///< where slices are cut next
  std::uint64_t reserved_ = 0;
  std::uint64_t unused_exclusive_ = 0;
  std::uint64_t blocks_made_ = 0;
  std::uint64_t next_id_ = 1;
  std::uint64_t clock_ = 0;
};

}  // namespace hearth::runtime
