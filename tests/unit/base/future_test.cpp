#include <doctest/doctest.h>

#include <atomic>
#include <functional>
#include <optional>
#include <thread>

#include "hearth/future.hpp"

using namespace hearth;

TEST_CASE("a future is driven by ready and get only, and its value arrives once") {
  Promise<int> promise;
  int polls = 0;
  promise.set_drive([&] {
    if (++polls == 3) promise.complete(7);
  });
  Future<int> future = promise.future();
  CHECK_FALSE(future.is_complete());
  CHECK(polls == 0);
  CHECK_FALSE(future.ready());
  CHECK(future.get() == 7);
  CHECK(polls == 3);
}

TEST_CASE("then chains through values, failures and thrown Errors") {
  Promise<int> promise;
  Future<int> doubled = promise.future().then([](int x) { return 2 * x; }).then([](int x) {
    if (x > 10) throw Error(ErrorCode::unsupported, "too large");
    return x;
  });
  promise.complete(21);
  Expected<int> result = doubled.result();
  REQUIRE_FALSE(result);
  CHECK(result.error().message == "too large");

  bool called = false;
  Future<void> skipped = Future<int>::ready_with(Failure{ErrorCode::device_lost, "gone"}).then([&](int) { called = true; });
  CHECK(skipped.result().error().code == ErrorCode::device_lost);
  CHECK_FALSE(called);
}

TEST_CASE("a chain polls its source, and completing inside that poll keeps the chain alive") {
  std::optional<Promise<int>> producer(std::in_place);
  producer->set_drive([&] {
    const Promise<int> last = *producer;
    producer.reset();
    last.complete(1);
  });
  Future<int> chained = producer->future().then([](int x) { return x + 1; }).then([](int x) { return x + 1; });
  CHECK(chained.get() == 3);
}

TEST_CASE("functions of a dropped chain still run when the value comes") {
  Promise<int> promise;
  int seen = 0;
  (void)promise.future().then([](int x) { return x + 1; }).then([&](int x) { seen = x; });
  promise.complete(1);
  CHECK(seen == 2);
}

TEST_CASE("a future whose producer is gone fails instead of waiting for ever") {
  std::optional<Promise<int>> promise(std::in_place);
  Future<int> future = promise->future().then([](int x) { return x; });
  promise.reset();
  CHECK(future.result().error().message == "future: what computes its value is gone.");
}

TEST_CASE("driven runs every poll through its gate, whose failure completes the future") {
  Promise<int> promise;
  promise.set_drive([&] { promise.complete(5); });
  int entered = 0;
  Future<int> future = promise.future().driven(nullptr, [&](const std::function<void()>& poll) -> Expected<void> {
    ++entered;
    poll();
    return {};
  });
  CHECK(future.get() == 5);
  CHECK(entered == 1);

  Promise<int> never;
  Future<int> refused = never.future().driven(nullptr, [](const std::function<void()>&) -> Expected<void> {
    return Failure{ErrorCode::wrong_thread, "not here"};
  });
  CHECK(refused.result().error().code == ErrorCode::wrong_thread);
}

TEST_CASE("a future completes on one thread while another waits for it") {
  for (int i = 0; i < 50; ++i) {
    Promise<int> promise;
    std::thread worker([promise, i] { promise.complete(i); });
    CHECK(promise.future().then([](int x) { return x * 2; }).get() == 2 * i);
    worker.join();
  }
}

namespace {
struct Coroutine {
  struct promise_type {
    Coroutine get_return_object() { return {}; }
    std::suspend_never initial_suspend() { return {}; }
    std::suspend_never final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() { std::terminate(); }
  };
};
Coroutine await_into(Future<int> future, int& result) { result = co_await future; }
}  // namespace

TEST_CASE("co_await resumes when the future completes") {
  Promise<int> promise;
  int result = 0;
  await_into(promise.future(), result);
  CHECK(result == 0);
  promise.complete(4);
  CHECK(result == 4);
}
