#pragma once
#include <atomic>
#include <cstdint>
#include <utility>

namespace hearth {

/// Base of everything that is shared by reference: an intrusive, thread-safe count.
class RefCounted {
 public:
  RefCounted() = default;
  RefCounted(const RefCounted&) = delete;
  RefCounted& operator=(const RefCounted&) = delete;
  virtual ~RefCounted() = default;

  void add_ref() const noexcept { refs_.fetch_add(1, std::memory_order_relaxed); }
  /// Adds a reference unless the last owner is already gone: for maps that do not own.
  [[nodiscard]] bool try_add_ref() const noexcept {
    std::uint32_t count = refs_.load(std::memory_order_relaxed);
    while (count != 0)
      if (refs_.compare_exchange_weak(count, count + 1, std::memory_order_acq_rel)) return true;
    return false;
  }
  void release() noexcept {
    if (refs_.fetch_sub(1, std::memory_order_acq_rel) == 1) destroy();
  }
  /// Number of owners; only a hint while other threads hold references.
  [[nodiscard]] std::uint32_t use_count() const noexcept { return refs_.load(std::memory_order_acquire); }

 protected:
  /// Called when the last owner goes; overridden to recycle instead of delete.
  virtual void destroy() noexcept { delete this; }

 private:
  mutable std::atomic<std::uint32_t> refs_{0};
};

/// Shared handle to a RefCounted object. T may be incomplete where a Ref is only copied or moved.
template <typename T>
class Ref {
 public:
  Ref() = default;
  Ref(std::nullptr_t) noexcept {}  // NOLINT: null mixes freely
  explicit Ref(T* object) noexcept : object_(object) {
    if (object_) object_->add_ref();
  }
  Ref(const Ref& other) noexcept : object_(other.object_) {
    if (object_) object_->add_ref();
  }
  Ref(Ref&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  Ref& operator=(const Ref& other) noexcept {
    Ref(other).swap(*this);
    return *this;
  }
  Ref& operator=(Ref&& other) noexcept {
    Ref(std::move(other)).swap(*this);
    return *this;
  }
  ~Ref() {
    if (object_) object_->release();
  }
  /// Takes over a reference that is counted already.
  [[nodiscard]] static Ref adopt(T* object) noexcept {
    Ref ref;
    ref.object_ = object;
    return ref;
  }

  void swap(Ref& other) noexcept { std::swap(object_, other.object_); }
  [[nodiscard]] T* get() const noexcept { return static_cast<T*>(object_); }
  T* operator->() const noexcept { return get(); }
  T& operator*() const noexcept { return *get(); }
  explicit operator bool() const noexcept { return object_ != nullptr; }
  friend bool operator==(const Ref& a, const Ref& b) noexcept { return a.object_ == b.object_; }

 private:
  RefCounted* object_ = nullptr;
};

template <typename T, typename... Args>
[[nodiscard]] Ref<T> make_ref(Args&&... args) {
  return Ref<T>(new T(std::forward<Args>(args)...));
}

}  // namespace hearth
