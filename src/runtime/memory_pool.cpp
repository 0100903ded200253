#include "runtime/memory_pool.hpp"

#include <algorithm>
#include <bit>

#include "base/assert.hpp"

namespace hearth::runtime {

namespace {

constexpr int steps_per_octave = 4;
/// Exclusive buffers come in multiples of this, so that tensors of nearly the same size share a pool entry.
constexpr std::uint64_t exclusive_step = 1u << 16;

std::uint64_t round_up(std::uint64_t value, std::uint64_t step) { return (value + step - 1) / step * step; }

}  // namespace

int size_class(std::uint64_t units) noexcept {
  if (units <= 2 * steps_per_octave) return static_cast<int>(units) - 1;
  const int octave = static_cast<int>(std::bit_width(units - 1)) - 1;  // 2^octave < units <= 2^(octave + 1)
  const std::uint64_t step = std::uint64_t{1} << (octave - 2);
  const std::uint64_t within = (units - 1) / step;  // 4..7
  return static_cast<int>(within) + (octave - 2) * steps_per_octave;
}

std::uint64_t class_units(int index) noexcept {
  if (index < 2 * steps_per_octave) return static_cast<std::uint64_t>(index) + 1;
  const int octave = index / steps_per_octave - 1;
  const int within = index % steps_per_octave + steps_per_octave;
  return static_cast<std::uint64_t>(within + 1) << octave;
}

Pool::Pool(std::shared_ptr<Storage> storage, const MemoryOptions& options) : storage_(std::move(storage)), options_(options) {
  options_.page_bytes = std::min(options_.page_bytes, options_.max_buffer_bytes);
  // Under a cap pages are small beside it, so that one half-empty page does not take the room of a large tensor.
  if (options_.limit_bytes != 0)
    options_.page_bytes = std::min(options_.page_bytes, std::max(options_.limit_bytes / 16, 16 * options_.alignment));
  options_.exclusive_from_bytes = std::min(options_.exclusive_from_bytes, options_.page_bytes / 2);
  const std::uint64_t largest = options_.exclusive_from_bytes / options_.alignment + 1;
  free_slices_.resize(static_cast<std::size_t>(size_class(largest)) + 1);
}

Pool::~Pool() {
  while (!pages_.empty()) free_block(pages_.back().get());
}

Expected<Slice> Pool::take(std::uint64_t size, bool exclusive, std::uint64_t in_use) {
  if (size > options_.max_buffer_bytes) {
    return Failure{ErrorCode::unsupported, "memory: " + std::to_string(size) +
                                               " bytes are asked for, but a buffer of this device has at most " +
                                               std::to_string(options_.max_buffer_bytes) + " bytes."};
  }
  return exclusive || size > options_.exclusive_from_bytes ? take_exclusive(size, in_use) : take_slice(size, in_use);
}

Expected<Slice> Pool::take_slice(std::uint64_t size, std::uint64_t in_use) {
  const std::uint64_t units = std::max<std::uint64_t>(1, (size + options_.alignment - 1) / options_.alignment);
  const int wanted = size_class(units);
  Slice slice;
  if (pop(wanted, slice)) return slice;
  const std::uint64_t reserve = class_units(wanted) * options_.alignment;
  if (current_ && current_->bump + reserve <= current_->size) return cut(*current_, reserve);
  if (Page* page = page_with_room(reserve)) {
    current_ = page;
    return cut(*page, reserve);
  }
  // Rather a slice of up to twice the size than another page.
  const int last = std::min(wanted + steps_per_octave, static_cast<int>(free_slices_.size()) - 1);
  for (int larger = wanted + 1; larger <= last; ++larger)
    if (pop(larger, slice)) return slice;
  Expected<Page*> page = make_block(page_size(reserve), false, in_use);
  if (!page) return page.error();
  current_ = *page;
  return cut(*current_, reserve);
}

bool Pool::pop(int size_class, Slice& slice) {
  std::vector<Slice>& list = free_slices_[static_cast<std::size_t>(size_class)];
  while (!list.empty()) {
    slice = list.back();
    list.pop_back();
    if (slice.generation == slice.page->generation) {
      ++slice.page->live;
      return true;
    }
  }
  return false;
}

Page* Pool::page_with_room(std::uint64_t size) {
  for (const auto& page : pages_)
    if (!page->exclusive && page->bump + size <= page->size) return page.get();
  return nullptr;
}

std::uint64_t Pool::page_size(std::uint64_t size) const {
  std::uint64_t bytes = options_.page_bytes;
  if (options_.limit_bytes != 0) {  // under a cap, a smaller page where a whole one does not fit
    const std::uint64_t left = options_.limit_bytes > reserved_ ? options_.limit_bytes - reserved_ : 0;
    bytes = std::min(bytes, left / options_.alignment * options_.alignment);
  }
  return std::max(bytes, size);
}

Slice Pool::cut(Page& page, std::uint64_t size) {
  Slice slice{&page, page.bump, size, page.generation, page.start_use};
  page.bump += size;
  ++page.live;
  return slice;
}

Expected<Slice> Pool::take_exclusive(std::uint64_t size, std::uint64_t in_use) {
  const std::uint64_t least = std::max(round_up(size, options_.alignment), options_.alignment);
  const auto found = free_exclusive_.lower_bound(least);
  if (found != free_exclusive_.end() && found->first <= least + least / 4 + exclusive_step / 4) {
    Page* page = found->second;
    free_exclusive_.erase(found);
    unused_exclusive_ -= page->size;
    page->live = 1;
    return Slice{page, 0, page->size, page->generation, page->last_use};
  }
  std::uint64_t reserve = least;
  if (least > options_.exclusive_from_bytes) reserve = round_up(least, exclusive_step);
  if (options_.limit_bytes != 0 && reserved_ + reserve > options_.limit_bytes) reserve = least;
  if (reserve > options_.max_buffer_bytes) reserve = round_up(size, 4);
  limit_unused();
  Expected<Page*> page = make_block(reserve, true, in_use);
  if (!page) return page.error();
  (*page)->live = 1;
  return Slice{*page, 0, reserve, 0, 0};
}

void Pool::limit_unused() {
  // Half of what is reserved may wait for reuse: a program whose sizes drift does not pile up old ones.
  while (unused_exclusive_ > reserved_ - unused_exclusive_ + (std::uint64_t{64} << 20)) {
    const auto oldest = std::min_element(free_exclusive_.begin(), free_exclusive_.end(),
                                         [](const auto& a, const auto& b) { return a.second->freed_at < b.second->freed_at; });
    Page* page = oldest->second;
    unused_exclusive_ -= page->size;
    free_exclusive_.erase(oldest);
    free_block(page);
  }
}

Expected<Page*> Pool::make_block(std::uint64_t size, bool exclusive, std::uint64_t in_use) {
  const auto fits = [&] { return options_.limit_bytes == 0 || reserved_ + size <= options_.limit_bytes; };
  if (!fits()) trim();
  if (!fits()) {
    return Failure{ErrorCode::out_of_memory, "memory: " + std::to_string(size) + " bytes are asked for while " +
                                                 std::to_string(in_use) + " bytes are in use and " + std::to_string(reserved_) +
                                                 " bytes are reserved; the limit is " + std::to_string(options_.limit_bytes) +
                                                 " bytes."};
  }
  Expected<void*> buffer = storage_->allocate(size);
  if (!buffer && buffer.error().code == ErrorCode::out_of_memory) {
    trim();
    buffer = storage_->allocate(size);
  }
  if (!buffer) return buffer.error();
  auto page = std::make_unique<Page>();
  page->buffer = *buffer;
  page->size = size;
  page->exclusive = exclusive;
  page->id = next_id_++;
  page->index = pages_.size();
  reserved_ += size;
  ++blocks_made_;
  pages_.push_back(std::move(page));
  return pages_.back().get();
}

Page* Pool::import(void* buffer, std::uint64_t size) {
  auto page = std::make_unique<Page>();
  page->buffer = buffer;
  page->size = size;
  page->exclusive = true;
  page->imported = true;
  page->live = 1;
  page->id = next_id_++;
  page->index = pages_.size();
  pages_.push_back(std::move(page));
  return pages_.back().get();
}

void Pool::give_back(const Slice& slice) {
  Page& page = *slice.page;
  HEARTH_ASSERT(page.live > 0);
  if (page.imported) return free_block(&page);
  page.last_use = std::max(page.last_use, slice.last_use);
  if (page.exclusive) {
    page.live = 0;
    page.freed_at = ++clock_;
    unused_exclusive_ += page.size;
    free_exclusive_.emplace_hint(free_exclusive_.lower_bound(page.size), page.size, &page);
    return;
  }
  if (--page.live == 0) {
    ++page.generation;
    page.bump = 0;
    page.start_use = page.last_use;
    return;
  }
  const auto units = slice.size / options_.alignment;
  free_slices_[static_cast<std::size_t>(size_class(units))].push_back(slice);
}

void Pool::trim() {
  for (auto& list : free_slices_) std::erase_if(list, [](const Slice& slice) { return slice.page->live == 0; });
  free_exclusive_.clear();
  unused_exclusive_ = 0;
  for (std::size_t i = pages_.size(); i-- > 0;)
    if (pages_[i]->live == 0) free_block(pages_[i].get());
}

void Pool::free_block(Page* page) {
  if (observer) observer(*page);
  if (page->imported) {
    storage_->release_imported(page->buffer);
  } else {
    storage_->free(page->buffer);
    reserved_ -= page->size;
  }
  if (current_ == page) current_ = nullptr;
  const std::size_t index = page->index;
  if (index + 1 != pages_.size()) {
    std::swap(pages_[index], pages_.back());
    pages_[index]->index = index;
  }
  pages_.pop_back();
}

}  // namespace hearth::runtime
