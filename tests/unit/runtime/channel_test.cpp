#include "runtime/channel.hpp"

#include <doctest/doctest.h>

#include "fake_server.hpp"

using namespace hearth;
using namespace hearth::runtime;
using namespace hearth::runtime::test;

namespace {

Expected<void> nothing(Server&) { return {}; }

}  // namespace

TEST_CASE("every channel runs posts and calls in order, and call returns when its task has run") {
  for (const ChannelKind kind : all_kinds) {
    const Ref<Channel> channel = fake_channel(kind, std::make_shared<Trace>());
    CHECK(channel->kind() == kind);
    std::vector<int> order;
    for (int i = 0; i < 100; ++i) {
      const auto task = [&order, i](Server&) -> Expected<void> {
        order.push_back(i);
        return {};
      };
      if (i % 10 == 9) {
        CHECK(channel->call(task));
        CHECK(order.size() == static_cast<std::size_t>(i) + 1);
      } else {
        CHECK(channel->post(task));
      }
    }
    for (int i = 0; i < 100; ++i) CHECK(order[static_cast<std::size_t>(i)] == i);
  }
}

TEST_CASE("mutex and mpsc take work of many threads, each thread's in its order") {
  for (const ChannelKind kind : {ChannelKind::mutex, ChannelKind::mpsc}) {
    const Ref<Channel> channel = fake_channel(kind, std::make_shared<Trace>());
    std::vector<std::vector<int>> seen(4);
    std::vector<std::thread> threads;
    for (std::size_t t = 0; t < seen.size(); ++t) {
      threads.emplace_back([&channel, &mine = seen[t]] {
        for (int i = 0; i < 300; ++i) {
          (void)channel->post([&mine, i](Server&) -> Expected<void> {
            mine.push_back(i);
            return {};
          });
          if (i % 50 == 0) (void)channel->call(nothing);
        }
        (void)channel->call(nothing);
      });
    }
    for (std::thread& thread : threads) thread.join();
    for (const auto& mine : seen) {
      REQUIRE(mine.size() == 300);
      for (int i = 0; i < 300; ++i) CHECK(mine[static_cast<std::size_t>(i)] == i);
    }
  }
}

TEST_CASE("direct and thread_local_ name both threads when another one uses the device") {
  for (const ChannelKind kind : {ChannelKind::direct, ChannelKind::thread_local_}) {
    const Ref<Channel> channel = fake_channel(kind, std::make_shared<Trace>());
    CHECK(channel->check_thread());
    std::thread([&] {
      bool ran = false;
      for (const Expected<void>& result :
           {channel->check_thread(), channel->call(nothing), channel->post(nothing), channel->with_lock([&] { ran = true; })}) {
        REQUIRE_FALSE(result);
        CHECK(result.error().code == ErrorCode::wrong_thread);
        CHECK(result.error().message.find("belongs to thread ") != std::string::npos);
        CHECK(result.error().message.find(", but thread ") != std::string::npos);
      }
      CHECK_FALSE(ran);
    }).join();
    CHECK(channel->call(nothing));
  }
}

TEST_CASE("the server of a thread_local_ channel is found on its thread only") {
  const Ref<Channel> channel = fake_channel(ChannelKind::thread_local_, std::make_shared<Trace>());
  CHECK(channel->inline_server() != nullptr);
  std::thread([&] { CHECK(channel->inline_server() == nullptr); }).join();
}

TEST_CASE("a thread_local_ channel that dies elsewhere leaves its server to its own thread") {
  auto trace = std::make_shared<Trace>();
  Ref<Channel> channel = fake_channel(ChannelKind::thread_local_, trace);
  std::thread([moved = std::move(channel)]() mutable { moved = {}; }).join();
  CHECK_FALSE(trace->destroyed.load());
  (void)fake_channel(ChannelKind::thread_local_, std::make_shared<Trace>());
  CHECK(trace->destroyed.load());
  CHECK(trace->destroyed_on.load() == std::this_thread::get_id());
}

TEST_CASE("a thread's servers end with the thread, the channel stays safe to ask") {
  auto trace = std::make_shared<Trace>();
  Ref<Channel> channel;
  std::thread([&] { channel = fake_channel(ChannelKind::thread_local_, trace); }).join();
  CHECK(trace->destroyed.load());
  CHECK(trace->destroyed_on.load() == trace->made_on.load());
  CHECK(channel->call(nothing).error().code == ErrorCode::wrong_thread);
}

TEST_CASE("mpsc keeps the first failure of posts for take_failure and gives call its own") {
  const Ref<Channel> channel = fake_channel(ChannelKind::mpsc, std::make_shared<Trace>());
  (void)channel->post([](Server&) -> Expected<void> { return Failure{ErrorCode::validation, "first"}; });
  (void)channel->post([](Server&) -> Expected<void> { return Failure{ErrorCode::validation, "second"}; });
  CHECK(channel->call(nothing));
  CHECK(channel->call([](Server&) -> Expected<void> { return Failure{ErrorCode::io, "own"}; }).error().message == "own");
  CHECK(channel->take_failure().error().message == "first");
  CHECK(channel->take_failure());
}

TEST_CASE("the lock of the app is held around tasks and polls, and the guard of mutex is that lock") {
  for (const ChannelKind kind : {ChannelKind::mutex, ChannelKind::mpsc}) {
    std::recursive_mutex lock;
    RuntimeOptions options;
    options.channel = kind;
    options.lock = &lock;
    auto trace = std::make_shared<Trace>();
    Ref<Channel> channel = fake_channel(options, trace);
    // Only another thread can tell whether a recursive lock is held.
    const auto is_free = [&lock] {
      bool free = false;
      std::thread([&] {
        free = lock.try_lock();
        if (free) lock.unlock();
      }).join();
      return free;
    };
    bool free_in_task = true, free_in_poll = true;
    (void)channel->call([&](Server&) -> Expected<void> {
      free_in_task = is_free();
      return {};
    });
    trace->on_poll = [&] { free_in_poll = is_free(); };
    channel->poll();
    CHECK_FALSE(free_in_task);
    CHECK_FALSE(free_in_poll);
    CHECK(is_free());
    CHECK((channel->guard() == &lock) == (kind == ChannelKind::mutex));
    trace->on_poll = nullptr;
  }
}

TEST_CASE("a callback that runs in a poll may post, call and read on its own device") {
  for (const ChannelKind kind : all_kinds) {
    auto trace = std::make_shared<Trace>();
    const Ref<Channel> channel = fake_channel(kind, trace);
    std::vector<int> order;
    const auto push = [&order](int i) {
      return [&order, i](Server&) -> Expected<void> {
        order.push_back(i);
        return {};
      };
    };
    trace->on_poll = [&] {
      (void)channel->post(push(1));
      (void)channel->call(push(2));
      (void)channel->post(push(3));
    };
    channel->poll();
    trace->on_poll = nullptr;
    (void)channel->call(push(4));
    CHECK(order == std::vector<int>{1, 2, 3, 4});
  }
}

TEST_CASE("a callback that runs inside a task may call: what is pending runs first") {
  const Ref<Channel> channel = fake_channel(ChannelKind::mpsc, std::make_shared<Trace>());
  std::vector<int> order;
  (void)channel->call([&](Server&) -> Expected<void> {
    (void)channel->post([&](Server&) -> Expected<void> {
      order.push_back(1);
      return {};
    });
    return channel->call([&](Server&) -> Expected<void> {
      order.push_back(2);
      return {};
    });
  });
  CHECK(order == std::vector<int>{1, 2});
}

TEST_CASE("polls of one thread and calls of others do not wait for each other") {
  auto trace = std::make_shared<Trace>();
  const Ref<Channel> channel = fake_channel(ChannelKind::mpsc, trace);
  std::atomic<int> ran{0};
  trace->on_poll = [&] {
    (void)channel->call([&](Server&) -> Expected<void> {
      ++ran;
      return {};
    });
  };
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 100; ++i) {
        channel->poll();
        (void)channel->call(nothing);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(ran == 300);
  trace->on_poll = nullptr;
}

TEST_CASE("posted tasks still run when the channel goes, and its server with it") {
  for (const ChannelKind kind : all_kinds) {
    auto trace = std::make_shared<Trace>();
    std::atomic<int> ran{0};
    {
      const Ref<Channel> channel = fake_channel(kind, trace);
      for (int i = 0; i < 50; ++i) {
        (void)channel->post([&ran](Server&) -> Expected<void> {
          ++ran;
          return {};
        });
      }
    }
    CHECK(ran == 50);
    CHECK(trace->destroyed.load());
  }
}

TEST_CASE("the last reference may go inside a task or a poll") {
  for (const ChannelKind kind : all_kinds) {
    auto trace = std::make_shared<Trace>();
    auto owner = std::make_shared<Ref<Channel>>(fake_channel(kind, trace));
    (void)(*owner)->post([owner](Server&) -> Expected<void> {
      *owner = {};
      return {};
    });
    owner.reset();
    while (!trace->destroyed) std::this_thread::yield();

    auto second = std::make_shared<Trace>();
    Ref<Channel> polled = fake_channel(kind, second);
    second->on_poll = [&polled] { polled = {}; };
    polled->poll();
    CHECK_FALSE(polled);
    CHECK(second->destroyed.load());
  }
}

TEST_CASE("the server of mpsc is made and destroyed on its own thread") {
  auto trace = std::make_shared<Trace>();
  { const Ref<Channel> channel = fake_channel(ChannelKind::mpsc, trace); }
  CHECK(trace->made_on.load() != std::this_thread::get_id());
  CHECK(trace->destroyed_on.load() == trace->made_on.load());
}

TEST_CASE("a server that cannot be made is the failure of make_channel") {
  for (const ChannelKind kind : all_kinds) {
    RuntimeOptions options;
    options.channel = kind;
    Expected<Ref<Channel>> channel = make_channel(options, []() -> Expected<Ref<Server>> {
      return Failure{ErrorCode::no_adapter, "none"};
    });
    REQUIRE_FALSE(channel);
    CHECK(channel.error().code == ErrorCode::no_adapter);
  }
}
