#include <thread>

#include "device/fixture.hpp"

namespace hearth::test {

namespace {

void check_lost(const Expected<void>& result) {
  REQUIRE(!result);
  CHECK(result.error().code == ErrorCode::device_lost);
}

/// After a loss every call fails in order, and nothing ends the process.
void check_all_lost(const Fixture& f, const Handle& x) {
  CHECK_THROWS_AS(f.client.sync(SyncType::wait), Error);
  CHECK_THROWS_AS(f.flush(), Error);
  const Expected<std::vector<std::byte>> read = f.client.read(x, 0, 16).result();
  REQUIRE(!read);
  CHECK(read.error().code == ErrorCode::device_lost);
  const Handle out = f.client.empty(256).value();
  check_lost(f.client.write(out, 0, bytes_of(range(4))));
  const Handle bindings[] = {x, x, out};
  CHECK(!f.client.launch(add(64), bindings, {}));
  CHECK_THROWS_AS((void)f.client.get_resource(out), Error);
  WGPUBuffer buffer = f.app.make_buffer(256, WGPUBufferUsage_Storage);
  if (buffer) {
    CHECK(!runtime::webgpu::import_buffer(*f.channel, buffer, 0, 256));
    wgpuBufferRelease(buffer);
  }
}

/// The app's callback may hear of its own calls on the lost device.
struct LostFixture : Fixture {
  using Fixture::Fixture;
  ~LostFixture() { *app.errors = 0; }
};

}  // namespace

TEST_CASE("a device lost while idle") {
  const LostFixture f;
  const Handle x = f.make(range(64));
  f.flush();
  f.app.destroy();
  check_all_lost(f, x);
}

TEST_CASE("a device lost with an upload pending") {
  const LostFixture f;
  const Handle x = f.make(range(64));
  f.app.destroy();
  CHECK_THROWS_AS(f.flush(), Error);
  check_all_lost(f, x);
}

TEST_CASE("a device lost with work recorded") {
  const LostFixture f;
  const Handle x = f.make(range(64));
  const Handle y = f.run(affine(64), {x}, {1, 1});
  f.client.write(x, 0, bytes_of(range(64, 3))).value();  // staged: the pass is closed again
  (void)f.run(affine(64), {y}, {1, 1});
  f.app.destroy();
  CHECK_THROWS_AS(f.flush(), Error);
  check_all_lost(f, x);
}

TEST_CASE("a device lost before the first launch and before a launch that goes on") {
  {
    const LostFixture f;
    f.app.destroy();
    const Handle out = f.empty(64);
    const Handle bindings[] = {out};
    const std::uint32_t words[] = {0};
    (void)f.client.launch(fill(64), bindings, words);  // may be noticed here, or
    CHECK_THROWS_AS(f.client.sync(SyncType::wait), Error);
  }
  const LostFixture f;
  Handle x = f.run(fill(64), {}, {1});
  const Handle y = f.run(affine(64), {x}, {1, 1});
  f.app.destroy();
  const Handle bindings[] = {x, y};
  const std::uint32_t words[] = {0, 0};
  (void)f.client.launch(affine(64), bindings, words);
  (void)f.client.write(y, 0, bytes_of(range(64)));
  (void)f.client.copy(x, 0, y, 0, 256);
  CHECK_THROWS_AS(f.flush(), Error);
  check_all_lost(f, x);
}

TEST_CASE("a device lost with a read on its way") {
  const LostFixture f;
  const Handle x = f.make(range(64));
  Future<std::vector<std::byte>> first = f.client.read(x, 0, 256);
  Future<std::vector<std::byte>> second = f.client.read(x, 0, 256);
  Future<void> done = f.client.sync_async();
  f.app.destroy();
  const Expected<std::vector<std::byte>> got = first.result();
  REQUIRE(!got);
  CHECK(got.error().code == ErrorCode::device_lost);
  CHECK(!second.result());
  CHECK(!done.result());
  check_all_lost(f, x);
}

TEST_CASE("a device lost between the end of a map and the read of its bytes") {
  const LostFixture f;
  const Handle x = f.make(range(64));
  Future<std::vector<std::byte>> read = f.client.read(x, 0, 256);
  f.client.sync(SyncType::wait);  // the map's callback has probably come with it
  f.app.destroy();
  (void)read.result();
  check_all_lost(f, x);
}

TEST_CASE("a device lost while another thread waits for a read") {
  std::recursive_mutex lock;  // Dawn's devices may not be called from two threads at once
  const LostFixture f{{.lock = &lock}};
  Handle x = f.make(range(1 << 20));
  for (int i = 0; i < 20; ++i) x = f.run(affine(1 << 20), {x}, {1, 1});
  Future<std::vector<std::byte>> read = f.client.read(x, 0, 4 << 20);
  std::thread waiter([moved = std::move(read)]() mutable { (void)moved.result(); });
  {
    const std::scoped_lock guard(lock);
    f.app.destroy();
  }
  waiter.join();
  check_all_lost(f, x);
}

TEST_CASE("a device lost inside and after a scope") {
  {
    const LostFixture f;
    const Handle x = f.make(range(64));
    WGPUCommandEncoder encoder = f.app.make_encoder();
    const std::uint64_t scope = runtime::webgpu::begin_encoding(*f.channel, encoder).value();
    (void)f.run(affine(64), {x}, {1, 1});
    f.app.destroy();
    const Handle out = f.empty(64);
    const Handle bindings[] = {x, out};
    const std::uint32_t words[] = {0, 0};
    (void)f.client.launch(affine(64), bindings, words);
    check_lost(runtime::webgpu::end_encoding(*f.channel, scope));
    wgpuCommandEncoderRelease(encoder);
    CHECK(runtime::webgpu::finish_encoding(*f.channel, scope, false));
    check_all_lost(f, x);
  }
  const LostFixture f;
  const Handle x = f.make(range(64));
  WGPUCommandEncoder encoder = f.app.make_encoder();
  const std::uint64_t scope = runtime::webgpu::begin_encoding(*f.channel, encoder).value();
  const Handle y = f.run(affine(64), {x}, {1, 1});
  CHECK(runtime::webgpu::end_encoding(*f.channel, scope));
  f.app.destroy();
  wgpuCommandEncoderRelease(encoder);
  CHECK(runtime::webgpu::finish_encoding(*f.channel, scope, true));
  check_all_lost(f, y);
}

TEST_CASE("a lost device cannot be opened, and a new one from a new adapter works") {
  {
    const App app;
    app.destroy();
    const Expected<Ref<runtime::Channel>> opened = runtime::open_webgpu(app.native(), {});
    REQUIRE(!opened);
    CHECK(opened.error().code == ErrorCode::device_lost);
    *app.errors = 0;
  }
  const Fixture f;
  CHECK(f.read(f.make(range(4))) == range(4));
}

TEST_CASE("handles and futures may die after the device in any order") {
  Handle kept;
  Future<std::vector<std::byte>> read;
  {
    const LostFixture f;
    kept = f.make(range(64));
    read = f.client.read(kept, 0, 256);
    f.app.destroy();
  }
  read = {};
  kept = {};
}

}  // namespace hearth::test
