#include <doctest/doctest.h>

#include <atomic>
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

TEST_CASE("completing inside the poll of a chain keeps the chain alive") {
  Future<int> chained;
  {
    auto promise = std::make_shared<Promise<int>>();
    promise->set_drive([weak = std::weak_ptr(promise)] {});
    chained = promise->future().then([](int x) { return x + 1; });
    auto owner = promise;
    promise->set_drive([owner] { owner->complete(1); });  // the state owns its promise until it completes
  }
  CHECK(chained.get() == 2);
}

TEST_CASE("driven runs every poll through its gate, whose failure completes the future") {
  Promise<int> promise;
  promise.set_drive([&] { promise.complete(5); });
  int entered = 0;
  Future<int> future = promise.future().driven([&](const std::function<void()>& poll) -> Expected<void> {
    ++entered;
    poll();
    return {};
  });
  CHECK(future.get() == 5);
  CHECK(entered == 1);

  Promise<int> never;
  Future<int> refused = never.future().driven([](const std::function<void()>&) -> Expected<void> {
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
