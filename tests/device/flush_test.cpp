#include "device/fixture.hpp"

namespace hearth::test {

TEST_CASE("a flush with nothing pending submits nothing") {
  const Fixture f;
  (void)f.run(fill(4), {}, {1});
  f.flush();
  const Statistics before = f.statistics();
  for (int i = 0; i < 100; ++i) f.flush();
  CHECK(f.statistics() == before);
}

TEST_CASE("a flush is no wait, a wait is counted once") {
  const Fixture f;
  for (int i = 0; i < 10; ++i) {
    (void)f.run(fill(4), {}, {1});
    f.flush();
  }
  CHECK(f.statistics().submits == 10);
  CHECK(f.statistics().waits == 0);
  (void)f.run(fill(4), {}, {1});
  f.client.sync(SyncType::wait);
  CHECK(f.statistics().waits == 1);
  CHECK(f.statistics().submits == 11);
}

TEST_CASE("work flushed is seen by what the app submits later") {
  const Fixture f;
  const Handle x = f.run(affine(64), {f.make(range(64))}, {2, 1});
  const RawResource raw = f.client.get_resource(x);
  CHECK(f.app.read(static_cast<WGPUBuffer>(raw.buffer), raw.offset, 64) == range(64, 1, 2));
  CHECK(f.statistics().waits == 0);
  CHECK(f.statistics().bytes_read == 0);
}

TEST_CASE("sync_async completes when the device has finished, and flushes at the call") {
  const Fixture f;
  (void)f.run(fill(1 << 20), {}, {1});
  Future<void> done = f.client.sync_async();
  CHECK(f.statistics().submits == 1);
  done.get();
  CHECK(f.statistics().submits == 1);
}

TEST_CASE("a bound on flushes in flight makes a flush wait, and only then") {
  const Fixture f({.max_flushes_in_flight = 2});
  Handle x = f.make(std::vector<float>(1 << 20, 0));
  const ir::KernelRef kernel = affine(1 << 20);
  for (int i = 0; i < 30; ++i) {
    x = f.run(kernel, {x}, {1, 1});
    f.flush();
  }
  CHECK(f.statistics().submits == 30);
  CHECK(f.read(x)[5] == 30);
  const Statistics idle = f.statistics();
  f.client.sync(SyncType::wait);
  f.flush();
  CHECK((f.statistics() - idle).waits <= 1);
}

TEST_CASE("ten thousand launches that never wait stay in bounded memory and give the same values") {
  const Fixture f;
  const ir::KernelRef kernel = affine(64);
  Handle x = f.make(std::vector<float>(64, 0));
  for (int i = 0; i < 10000; ++i) x = f.run(kernel, {x}, {1, 1});
  CHECK(f.statistics().waits == 0);
  CHECK(f.channel->memory().usage().peak < (32u << 20));
  CHECK(f.read(x) == std::vector<float>(64, 10000));
}

}  // namespace hearth::test
