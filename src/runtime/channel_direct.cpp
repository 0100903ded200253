#include "runtime/channel_kinds.hpp"

#include <functional>

namespace hearth::runtime {

namespace {

/// One thread, no lock.
class DirectChannel final : public Channel {
 public:
  explicit DirectChannel(Ref<Server> server) : server_(std::move(server)) { adopt(*server_); }

  ChannelKind kind() const noexcept override { return ChannelKind::direct; }
  Expected<void> post(Task task) override { return call(task); }
  Expected<void> call(const Task& task) override {
    if (!is_owner()) return wrong_thread(number_);
    const Ref<Channel> self(this);
    return task(*server_);
  }
  Expected<void> with_lock(const std::function<void()>& body) override {
    if (!is_owner()) return wrong_thread(number_);
    body();
    return {};
  }
  Server* inline_server() noexcept override { return server_.get(); }
  Expected<void> check_thread() const override {
    if (!is_owner()) return wrong_thread(number_);
    return {};
  }
  std::recursive_mutex* guard() noexcept override { return nullptr; }

 private:
  bool is_owner() const noexcept { return std::this_thread::get_id() == owner_; }
  void poll_server() override { server_->poll(); }

  Ref<Server> server_;
  std::thread::id owner_ = std::this_thread::get_id();
  int number_ = thread_number();
};

}  // namespace

Expected<Ref<Channel>> make_direct_channel(const MakeServer& make) {
  Expected<Ref<Server>> server = make();
  if (!server) return server.error();
  return Ref<Channel>(new DirectChannel(std::move(*server)));
}

}  // namespace hearth::runtime
