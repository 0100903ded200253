#include <doctest/doctest.h>

#include <chrono>
#include <future>

#include "fake_server.hpp"

using namespace hearth;
using namespace hearth::runtime;
using namespace hearth::runtime::test;

namespace {

constexpr ChannelKind kinds[] = {ChannelKind::mutex, ChannelKind::mpsc};
constexpr std::chrono::seconds long_enough{60};

RuntimeOptions polling(ChannelKind kind, std::recursive_mutex* lock = nullptr) {
  RuntimeOptions options;
  options.channel = kind;
  options.lock = lock;
  options.poll = true;
  return options;
}

Future<std::vector<std::byte>> start_read(const Ref<Channel>& channel) {
  const Client client(channel);
  return client.read(client.create(std::vector<std::byte>(16)).value(), 0, 16);
}

}  // namespace

TEST_CASE("with poll a future completes, and runs its function without a lock, though nobody asks for it") {
  for (const ChannelKind kind : kinds) {
    CAPTURE(static_cast<int>(kind));
    std::recursive_mutex lock;
    const Ref<Channel> channel = fake_channel(polling(kind, &lock), std::make_shared<Trace>());
    std::promise<std::thread::id> ran;
    std::promise<bool> free;
    const Future<std::size_t> size = start_read(channel).then([&](std::vector<std::byte> bytes) {
      std::thread([&] {
        const bool got = lock.try_lock();
        if (got) lock.unlock();
        free.set_value(got);
      }).join();
      ran.set_value(std::this_thread::get_id());
      return bytes.size();
    });
    std::future<std::thread::id> where = ran.get_future();
    REQUIRE(where.wait_for(long_enough) == std::future_status::ready);
    CHECK(where.get() != std::this_thread::get_id());
    CHECK(free.get_future().get());
  }
}

TEST_CASE("with poll the app's callbacks run though nothing of Hearth's is pending, under the app's lock, and may call Hearth") {
  for (const ChannelKind kind : kinds) {
    std::recursive_mutex lock;
    auto trace = std::make_shared<Trace>();
    const Ref<Channel> channel = fake_channel(polling(kind, &lock), trace);
    std::promise<bool> held;
    std::atomic<bool> once{false};
    {
      const std::scoped_lock guard(lock);
      trace->on_poll = [&] {
        if (once.exchange(true)) return;
        bool free = true;
        std::thread([&] {
          free = lock.try_lock();
          if (free) lock.unlock();
        }).join();
        int ran = 0;
        (void)channel->call([&ran](Server&) -> Expected<void> {
          ++ran;
          return {};
        });
        held.set_value(!free && ran == 1);
      };
    }
    std::future<bool> was = held.get_future();
    REQUIRE(was.wait_for(long_enough) == std::future_status::ready);
    CHECK(was.get());
    const std::scoped_lock guard(lock);
    trace->on_poll = nullptr;
  }
}

TEST_CASE("without poll nothing polls by itself") {
  auto trace = std::make_shared<Trace>();
  const Ref<Channel> channel = fake_channel(ChannelKind::mutex, trace);
  Future<std::vector<std::byte>> read = start_read(channel);
  for (int i = 0; i < 1000; ++i) std::this_thread::yield();
  CHECK(trace->polls == 0);
  CHECK(read.get().size() == 16);
}

TEST_CASE("a consumer and the polling thread share a future") {
  for (const ChannelKind kind : kinds) {
    const Ref<Channel> channel = fake_channel(polling(kind), std::make_shared<Trace>());
    for (int i = 0; i < 500; ++i) {
      Future<std::vector<std::byte>> first = start_read(channel), second = start_read(channel);
      CHECK(first.get().size() == 16);
      if (i % 2 == 0) CHECK(second.get().size() == 16);
    }
  }
}

TEST_CASE("the polling thread ends with its channel, whatever goes first: when the last reference is gone so is every poll") {
  for (const ChannelKind kind : kinds) {
    for (int order = 0; order < 4; ++order) {
      for (int i = 0; i < 50; ++i) {
        auto lock = std::make_unique<std::recursive_mutex>();
        auto trace = std::make_shared<Trace>();
        Ref<Channel> channel = fake_channel(polling(kind, lock.get()), trace);
        Future<std::vector<std::byte>> read = start_read(channel);
        switch (order) {
          case 0: read = {}; break;
          case 1: (void)read.get(); break;
          case 2: channel = {}; break;  // the future keeps it
          case 3: (void)start_read(channel).then([](const std::vector<std::byte>&) {}); break;
        }
        channel = {};
        if (read.valid() && order != 1) CHECK_FALSE(trace->destroyed.load());
        read = {};
        CHECK(trace->destroyed.load());
        lock = nullptr;  // a poll that still ran would use it
      }
    }
  }
}

TEST_CASE("the last reference may go while this thread holds the app's lock") {
  for (const ChannelKind kind : {ChannelKind::mutex}) {  // mpsc ends on its own thread, which needs the lock
    for (int i = 0; i < 50; ++i) {
      std::recursive_mutex lock;
      auto trace = std::make_shared<Trace>();
      Ref<Channel> channel = fake_channel(polling(kind, &lock), trace);
      const Future<std::vector<std::byte>> dropped = start_read(channel);
      const std::scoped_lock guard(lock);
      channel = {};
    }
  }
}

TEST_CASE("the last reference may go on the polling thread, in a callback or in a function of a future") {
  for (const ChannelKind kind : kinds) {
    for (const bool in_poll : {true, false}) {
      auto trace = std::make_shared<Trace>();
      auto owner = std::make_shared<Ref<Channel>>(fake_channel(polling(kind), trace));
      if (in_poll) {
        (void)(*owner)->with_lock([&] {
          trace->on_poll = [owner, done = std::make_shared<std::once_flag>()] { std::call_once(*done, [&] { *owner = {}; }); };
        });
      } else {
        // The future is dropped inside its own function, and with it what kept the channel.
        auto held = std::make_shared<Future<void>>();
        const Ref<Channel> alive = *owner;
        (void)alive->with_lock([&] {
          *held = start_read(*owner).then([owner, held](const std::vector<std::byte>&) {
            *owner = {};
            *held = {};
          });
        });
      }
      owner.reset();
      while (!trace->destroyed) std::this_thread::yield();
      trace->on_poll = nullptr;
    }
  }
}

TEST_CASE("poll with a channel of one thread is refused") {
  for (const ChannelKind kind : {ChannelKind::direct, ChannelKind::thread_local_}) {
    const auto make = []() -> Expected<Ref<Server>> { return Ref<Server>(new FakeServer(std::make_shared<Trace>())); };
    const Expected<Ref<Channel>> made = make_channel(polling(kind), make);
    REQUIRE_FALSE(made);
    CHECK(made.error().code == ErrorCode::invalid_argument);
    CHECK(
        made.error().message ==
        "RuntimeOptions: poll is a second thread, which needs the channel mutex or mpsc; with direct and thread_local_ a device "
        "belongs to one.");
  }
}
