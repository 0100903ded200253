#include <algorithm>
#include <functional>

#include "runtime/channel_kinds.hpp"

namespace hearth::runtime {

namespace {

/// A server of this thread. The channel may die on another thread: then `alive` tells this one to drop it.
struct Entry {
  std::uint64_t channel = 0;
  std::shared_ptr<std::atomic<bool>> alive;
  Ref<Server> server;
};

std::vector<Entry>& servers() {
  thread_local std::vector<Entry> entries;
  return entries;
}

void drop_dead_servers() {
  std::vector<Entry> dead;  // destroyed after the list is whole again: a server's end may run callbacks
  std::vector<Entry>& entries = servers();
  for (std::size_t i = entries.size(); i-- > 0;) {
    if (entries[i].alive->load(std::memory_order_acquire)) continue;
    dead.push_back(std::move(entries[i]));
    entries.erase(entries.begin() + static_cast<std::ptrdiff_t>(i));
  }
}

/// A server per thread and device, found through a map that belongs to the thread: no other thread ever touches the server, its
/// destruction included.
class ThreadLocalChannel final : public Channel {
 public:
  explicit ThreadLocalChannel(Ref<Server> server) {
    static std::atomic<std::uint64_t> channels{0};
    id_ = ++channels;
    adopt(*server);
    drop_dead_servers();
    servers().push_back({id_, alive_, std::move(server)});
  }
  ~ThreadLocalChannel() override {
    alive_->store(false, std::memory_order_release);
    if (std::this_thread::get_id() == owner_) drop_dead_servers();
  }

  ChannelKind kind() const noexcept override { return ChannelKind::thread_local_; }
  Expected<void> post(Task task) override { return call(task); }
  Expected<void> call(const Task& task) override {
    const Ref<Server> server(inline_server());
    if (!server) return wrong_thread(number_);
    const Ref<Channel> self(this);
    return task(*server);
  }
  Expected<void> with_lock(const std::function<void()>& body) override {
    if (!inline_server()) return wrong_thread(number_);
    body();
    return {};
  }
  Server* inline_server() noexcept override {
    for (const Entry& entry : servers())
      if (entry.channel == id_) return entry.server.get();
    return nullptr;
  }
  Expected<void> check_thread() const override {
    if (std::this_thread::get_id() != owner_) return wrong_thread(number_);
    return {};
  }
  std::recursive_mutex* guard() noexcept override { return nullptr; }

 private:
  void poll_server() override { inline_server()->poll(); }

  std::uint64_t id_ = 0;
  std::shared_ptr<std::atomic<bool>> alive_ = std::make_shared<std::atomic<bool>>(true);
  std::thread::id owner_ = std::this_thread::get_id();
  int number_ = thread_number();
};

}  // namespace

Expected<Ref<Channel>> make_thread_local_channel(const MakeServer& make) {
  Expected<Ref<Server>> server = make();
  if (!server) return server.error();
  return Ref<Channel>(new ThreadLocalChannel(std::move(*server)));
}

}  // namespace hearth::runtime
