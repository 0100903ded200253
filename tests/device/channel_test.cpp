#include <atomic>
#include <thread>

#include "device/fixture.hpp"

namespace hearth::test {

namespace {

constexpr ChannelKind kinds[] = {ChannelKind::direct, ChannelKind::mutex, ChannelKind::mpsc, ChannelKind::thread_local_};

RuntimeOptions with(ChannelKind kind, std::recursive_mutex& lock) { return {.channel = kind, .lock = &lock}; }

}  // namespace

TEST_CASE("every channel gives the same values, order and counters") {
  for (const ChannelKind kind : kinds) {
    CAPTURE(static_cast<int>(kind));
    std::recursive_mutex lock;
    const Fixture f(with(kind, lock));
    const ir::KernelRef kernel = affine(64);
    Handle x = f.make(range(64));
    for (int i = 0; i < 100; ++i) x = f.run(kernel, {x}, {1, 1});
    f.client.write(x, 0, bytes_of(range(4, -1))).value();
    f.flush();
    CHECK(f.statistics().submits == 1);
    CHECK(f.statistics().waits == 0);
    std::vector<float> expected = range(64, 100);
    for (int i = 0; i < 4; ++i) expected[static_cast<std::size_t>(i)] = static_cast<float>(i - 1);
    CHECK(f.read(x) == expected);
  }
}

TEST_CASE("threads share a device through mutex and mpsc, and the app draws meanwhile") {
  for (const ChannelKind kind : {ChannelKind::mutex, ChannelKind::mpsc}) {
    std::recursive_mutex lock;
    const Fixture f(with(kind, lock));
    std::atomic<bool> drawing = true;
    std::thread app([&] {
      while (drawing) {
        const std::scoped_lock guard(lock);
        f.app.submit(f.app.make_encoder());
      }
    });
    constexpr int count = 4;
    std::vector<std::vector<float>> got(count);
    std::vector<std::thread> threads;
    for (int t = 0; t < count; ++t)
      threads.emplace_back([&f, &got, t] {
        const ir::KernelRef kernel = affine(32);
        Handle x = f.make(std::vector<float>(32, static_cast<float>(t)));
        for (int i = 0; i < 50; ++i) {
          x = f.run(kernel, {x}, {1, 1});
          if (i % 10 == 0) f.flush();
        }
        got[static_cast<std::size_t>(t)] = f.read(x);
      });
    for (std::thread& thread : threads) thread.join();
    drawing = false;
    app.join();
    for (int t = 0; t < count; ++t) CHECK(got[static_cast<std::size_t>(t)] == std::vector<float>(32, static_cast<float>(t) + 50));
  }
}

TEST_CASE("a device of one thread refuses the others, and a future there fails instead of hanging") {
  for (const ChannelKind kind : {ChannelKind::direct, ChannelKind::thread_local_}) {
    const Fixture f({.channel = kind});
    Handle x = f.make(range(64));
    Future<std::vector<std::byte>> read = f.client.read(f.run(fill(1 << 20), {}, {1}), 0, 4 << 20);
    Expected<void> written;
    Expected<std::vector<std::byte>> got = std::vector<std::byte>{};
    std::thread other([&] {
      written = f.client.write(x, 0, bytes_of(range(4)));
      if (!read.is_complete()) got = read.result();
    });
    other.join();
    REQUIRE(!written);
    CHECK(written.error().code == ErrorCode::wrong_thread);
    if (!got) CHECK(got.error().code == ErrorCode::wrong_thread);
    CHECK(f.read(x) == range(64));
  }
}

TEST_CASE("mpsc without a lock works where the device can be called from two threads, else opening it says what to do") {
  const App app;
  const Expected<Ref<runtime::Channel>> opened = runtime::open_webgpu(app.native(), {.channel = ChannelKind::mpsc});
  if (opened) {
    const Client client(*opened);
    CHECK(floats(client.read(client.create(bytes_of(range(4))).value(), 0, 16).get()) == range(4));
  } else {
    CHECK(opened.error().code == ErrorCode::invalid_argument);
    CHECK(opened.error().message.find("RuntimeOptions::lock") != std::string::npos);
  }
}

}  // namespace hearth::test
