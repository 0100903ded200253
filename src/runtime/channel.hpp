#pragma once
#include <functional>
#include <mutex>
#include <thread>

#include "hearth/device.hpp"
#include "runtime/server.hpp"

namespace hearth::runtime {

/// How a call reaches the server of a device.
class Channel : public RefCounted {
 public:
  using Task = std::function<Expected<void>(Server&)>;

  [[nodiscard]] virtual ChannelKind kind() const noexcept = 0;
  /// Runs `task` after everything posted before. May return before it ran (mpsc): its failure is then kept and returned by the
  /// next `call`; else the failure is returned here.
  virtual Expected<void> post(Task task) = 0;
  /// Runs `task` after everything posted before and returns when it has run.
  virtual Expected<void> call(const Task& task) = 0;
  /// The server, for calls made while `guard` is held; null for mpsc, whose calls go through `post`.
  [[nodiscard]] virtual Server* inline_server() noexcept = 0;
  /// An Error(wrong_thread) with both threads' numbers when this thread may not use the device.
  [[nodiscard]] virtual Expected<void> check_thread() const = 0;
  /// What the layers above hold while they change their own state; taken before any other lock. Null for direct, thread_local_.
  [[nodiscard]] virtual std::recursive_mutex* guard() noexcept = 0;
  /// One poll of the device's callbacks from this thread, with the lock of RuntimeOptions where there is one.
  virtual void poll() = 0;
  [[nodiscard]] virtual Memory& memory() noexcept = 0;
  [[nodiscard]] virtual const DeviceInfo& info() const noexcept = 0;
  [[nodiscard]] virtual Statistics statistics() = 0;
};

/// Makes a channel of options.channel to a server that `make` creates (on the server's own thread for mpsc).
[[nodiscard]] Expected<Ref<Channel>> make_channel(const RuntimeOptions& options, std::function<Expected<Ref<Server>>()> make);

}  // namespace hearth::runtime
