#include "runtime/channel.hpp"

#include <functional>

#include "runtime/channel_kinds.hpp"

namespace hearth::runtime {

int thread_number() noexcept {
  static std::atomic<int> threads{0};
  thread_local const int number = ++threads;
  return number;
}

Failure wrong_thread(int owner) {
  return {ErrorCode::wrong_thread, "device: it belongs to thread " + std::to_string(owner) + ", but thread " +
                                       std::to_string(thread_number()) +
                                       " uses it; a device of several threads needs the channel mutex or mpsc."};
}

void Channel::adopt(Server& server) {
  memory_ = Ref<Memory>(&server.memory());
  info_ = server.info();
}

void Channel::poll() {
  const Ref<Channel> self(this);  // a callback may drop the last other reference
  (void)with_lock([this] { poll_server(); });
}

Statistics Channel::statistics() {
  Statistics result;
  (void)call([&result](Server& server) -> Expected<void> {
    result = server.statistics();
    return {};
  });
  return result;
}

void Channel::destroy() noexcept {
  if (!poller_ || poller_->stop()) RefCounted::destroy();
}

Expected<void> Channel::start_poller() {
  poller_ = std::make_unique<Poller>(*this);
  Expected<void> started = poller_->start();
  if (!started) poller_ = nullptr;
  return started;
}

namespace {

Expected<Ref<Channel>> make_kind(const RuntimeOptions& options, std::function<Expected<Ref<Server>>()> make) {
  switch (options.channel) {
    case ChannelKind::direct: return make_direct_channel(make);
    case ChannelKind::mutex: return make_mutex_channel(options, make);
    case ChannelKind::mpsc: return make_mpsc_channel(options, std::move(make));
    case ChannelKind::thread_local_: return make_thread_local_channel(make);
  }
  return Failure{ErrorCode::invalid_argument, "RuntimeOptions: the channel has no known kind."};
}

}  // namespace

Expected<Ref<Channel>> make_channel(const RuntimeOptions& options, std::function<Expected<Ref<Server>>()> make) {
  if (options.poll && (options.channel == ChannelKind::direct || options.channel == ChannelKind::thread_local_))
    return Failure{
        ErrorCode::invalid_argument,
        "RuntimeOptions: poll is a second thread, which needs the channel mutex or mpsc; with direct and thread_local_ a "
        "device belongs to one."};
  Expected<Ref<Channel>> made = make_kind(options, std::move(make));
  if (made && options.poll)
    if (Expected<void> started = (*made)->start_poller(); !started) return started.error();
  return made;
}

}  // namespace hearth::runtime
