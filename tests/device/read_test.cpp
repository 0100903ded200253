#include <thread>

#include "device/fixture.hpp"

namespace hearth::test {

TEST_CASE("reads in flight at once get their own bytes, in any order of waiting") {
  const Fixture f;
  std::vector<Future<std::vector<std::byte>>> reads;
  const ir::KernelRef kernel = fill(100);
  for (int i = 0; i < 20; ++i) {
    const Handle x = f.run(kernel, {}, {static_cast<float>(i)});
    reads.push_back(f.client.read(x, 0, 400));
  }
  for (int i = 19; i >= 0; --i)
    CHECK(floats(reads[static_cast<std::size_t>(i)].get()) == std::vector<float>(100, static_cast<float>(i)));
}

TEST_CASE("a read sees the value at its call, not later writes") {
  const Fixture f;
  const Handle x = f.make(range(64));
  Future<std::vector<std::byte>> first = f.client.read(x, 0, 256);
  f.client.write(x, 0, bytes_of(range(64, 500))).value();
  Future<std::vector<std::byte>> second = f.client.read(x, 0, 256);
  CHECK(floats(second.get()) == range(64, 500));
  CHECK(floats(first.get()) == range(64));
}

TEST_CASE("a read outlives the client, the channel and the app's references") {
  Future<std::vector<std::byte>> read;
  {
    const Fixture f;
    read = f.client.read(f.run(fill(8), {}, {3}), 0, 32);
  }
  CHECK(floats(read.get()) == std::vector<float>(8, 3));
}

TEST_CASE("a read that nobody waits for takes nothing down with it") {
  Fixture f;
  for (int i = 0; i < 5; ++i) (void)f.client.read(f.make(range(64)), 0, 256);
  CHECK(f.read(f.make(range(4))) == range(4));
}

TEST_CASE("a read may be waited for on another thread while this one goes on") {
  const Fixture f;
  const ir::KernelRef kernel = affine(64);
  Handle x = f.make(std::vector<float>(64, 0));
  for (int round = 0; round < 10; ++round) {
    x = f.run(kernel, {x}, {1, 1});
    Future<std::vector<std::byte>> future = f.client.read(x, 0, 256);
    std::vector<float> got;
    std::thread waiter([&got, moved = std::move(future)]() mutable { got = floats(moved.get()); });
    for (int i = 0; i < 50; ++i) (void)f.run(kernel, {x}, {2, 0});
    waiter.join();
    CHECK(got == std::vector<float>(64, static_cast<float>(round + 1)));
  }
}

TEST_CASE("a continuation runs on the thread whose poll completes the read") {
  const Fixture f;
  const std::thread::id here = std::this_thread::get_id();
  Future<int> length = f.client.read(f.make(range(5)), 0, 20).then([here](const std::vector<std::byte>& bytes) {
    CHECK(std::this_thread::get_id() == here);
    return static_cast<int>(bytes.size());
  });
  CHECK(length.get() == 20);
}

TEST_CASE("bytes outside the memory are refused, none are fine") {
  const Fixture f;
  const Handle x = f.make(range(4));
  CHECK(f.client.read(x, 0, 0).get().empty());
  const Expected<std::vector<std::byte>> beyond = f.client.read(x, 12, 8).result();
  REQUIRE(!beyond);
  CHECK(beyond.error().code == ErrorCode::invalid_argument);
}

TEST_CASE("memory in the staging pool is used again") {
  const Fixture f;
  const Handle x = f.make(range(1000));
  for (int i = 0; i < 200; ++i) CHECK(f.read(x)[999] == 999);
  CHECK(f.statistics().bytes_read == 200u * 4000u);
}

}  // namespace hearth::test
