#pragma once
#include <memory>
#include <mutex>
#include <optional>

#include "graph/autodiff.hpp"
#include "graph/eager.hpp"
#include "graph/fusion.hpp"
#include "hearth/device.hpp"
#include "runtime/channel.hpp"

namespace hearth::graph {

/// What a Device is: a client and the stack of executors on it, autodiff(fusion(eager)).
class Context final : public RefCounted {
 public:
  Context(Ref<runtime::Channel> channel, RuntimeOptions options);
  ~Context() override;

  /// Held while a thread works on values of the context. Throws Error(wrong_thread).
  class Guard {
   public:
    explicit Guard(Context& context);

   private:
    std::unique_lock<std::recursive_mutex> lock_;
  };

  [[nodiscard]] const DeviceInfo& info() const noexcept { return info_; }
  [[nodiscard]] const RuntimeOptions& options() const noexcept { return options_; }
  [[nodiscard]] const Client& client() const noexcept { return client_; }
  [[nodiscard]] runtime::Channel& channel() const noexcept { return *client_.channel(); }
  [[nodiscard]] Executor& executor() noexcept { return *autodiff_; }
  [[nodiscard]] Eager& eager() noexcept { return *eager_; }
  [[nodiscard]] Fusion* fusion() noexcept { return fusion_.get(); }
  /// The mutex behind Guard. With a channel of one thread it still protects what tensors do when they die elsewhere.
  [[nodiscard]] std::recursive_mutex& mutex() noexcept { return *mutex_; }
  [[nodiscard]] std::uint64_t next_sequence() noexcept { return ++sequence_; }

  /// What the map of devices knows it by; set by the one who registers it.
  const void* native = nullptr;

 private:
  RuntimeOptions options_;
  Client client_;
  DeviceInfo info_;
  bool one_thread_;
  std::recursive_mutex own_mutex_;
  std::recursive_mutex* mutex_;
  std::uint64_t sequence_ = 0;
  std::unique_ptr<Eager> eager_;
  std::unique_ptr<Fusion> fusion_;
  std::unique_ptr<Autodiff> autodiff_;
};

/// The memory of a tensor, dense and from its start, materialised but not flushed. Null for a tensor without elements.
[[nodiscard]] Handle dense_handle(const Tensor& tensor);
/// A tensor on memory that holds it dense already.
[[nodiscard]] Tensor wrap(const Device& device, Handle memory, const Shape& shape, DType dtype);

}  // namespace hearth::graph
