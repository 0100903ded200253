#include <functional>
#include <thread>

#include "device/fixture.hpp"

/// A device that is lost by wgpuDeviceDestroy at each stage of its work, on every channel: each call ends in device_lost, nothing
/// ends the process, and what has no value says so.
namespace hearth::test {

namespace {

constexpr ChannelKind kinds[] = {ChannelKind::direct, ChannelKind::mutex, ChannelKind::mpsc, ChannelKind::thread_local_};

struct Losing {
  explicit Losing(ChannelKind kind, std::uint32_t flushes = 0)
      : f({.channel = kind, .lock = &lock, .max_flushes_in_flight = flushes}) {
    buffer = f.app.make_buffer(256, WGPUBufferUsage_Storage | WGPUBufferUsage_CopyDst | WGPUBufferUsage_CopySrc);
    WGPUTextureDescriptor descriptor = {};
    descriptor.usage = WGPUTextureUsage_TextureBinding | WGPUTextureUsage_CopyDst | WGPUTextureUsage_CopySrc;
    descriptor.dimension = WGPUTextureDimension_2D;
    descriptor.size = {4, 4, 1};
    descriptor.format = WGPUTextureFormat_RGBA8Unorm;
    descriptor.mipLevelCount = descriptor.sampleCount = 1;
    texture = wgpuDeviceCreateTexture(f.app.device, &descriptor);
  }
  ~Losing() {
    wgpuBufferRelease(buffer);
    wgpuTextureRelease(texture);
    CHECK(*f.app.errors == 0);  // nothing of the app's own is called after the loss
  }
  Losing(const Losing&) = delete;
  Losing& operator=(const Losing&) = delete;

  void destroy() {
    const std::scoped_lock guard(lock);
    f.app.destroy();
  }

  std::recursive_mutex lock;
  Fixture f;
  WGPUBuffer buffer = nullptr;
  WGPUTexture texture = nullptr;
};

template <typename T>
void check_lost(const Expected<T>& result) {
  REQUIRE(!result);
  INFO(result.error().message);
  CHECK(result.error().code == ErrorCode::device_lost);
}

void check_throws_lost(const std::function<void()>& call) {
  try {
    call();
    FAIL("no error");
  } catch (const Error& error) {
    INFO(error.what());
    CHECK(error.code() == ErrorCode::device_lost);
  }
}

/// Everything that a channel can be asked for.
void check_all(Losing& losing, const Handle& x) {
  const Fixture& f = losing.f;
  check_throws_lost([&] { f.flush(); });
  check_throws_lost([&] { f.client.sync(SyncType::wait); });
  check_lost(f.client.sync_async().result());
  check_lost(f.client.read(x, 0, 256).result());
  check_throws_lost([&] { (void)f.client.get_resource(x); });
  check_lost(runtime::webgpu::begin_encoding(*f.channel, nullptr));
  check_lost(runtime::webgpu::import_buffer(*f.channel, losing.buffer, 0, 256));
  check_lost(runtime::webgpu::import_texture(*f.channel, losing.texture));
  check_lost(runtime::webgpu::export_texture(*f.channel, x, 4, 4, 4, losing.texture));
  check_lost(runtime::webgpu::copy_to_buffer(*f.channel, x, 0, losing.buffer, 0, 256));
  Expected<void> compiled;
  CHECK(f.channel->call([&](runtime::Server& server) -> Expected<void> {
    compiled = server.compile(source("new", "@compute @workgroup_size(1) fn main() {}", 1)).result();
    server.memory().cleanup();
    server.poll();
    return {};
  }));
  check_lost(compiled);
  // Posted by mpsc, whose failure comes with the next flush.
  const Handle out = f.empty(64);
  const Handle bindings[] = {x, x, out};
  (void)f.client.write(out, 0, bytes_of(range(64)));
  (void)f.client.copy(x, 0, out, 0, 256);
  (void)f.client.launch(add(64), bindings, {});
  check_throws_lost([&] { f.flush(); });
  check_lost(f.client.read(out, 0, 256).result());
}

}  // namespace

TEST_CASE("lost while idle, before any work and after some") {
  for (const ChannelKind kind : kinds) {
    CAPTURE(static_cast<int>(kind));
    {
      Losing fresh(kind);
      fresh.destroy();
      check_all(fresh, fresh.f.empty(64));
    }
    Losing worked(kind);
    const Handle y = worked.f.run(affine(64), {worked.f.make(range(64))}, {1, 1});
    worked.f.client.sync(SyncType::wait);
    worked.destroy();
    check_all(worked, y);
  }
}

TEST_CASE("lost with work recorded: launches, uploads, copies and a texture") {
  for (const ChannelKind kind : kinds) {
    CAPTURE(static_cast<int>(kind));
    Losing losing(kind);
    const Fixture& f = losing.f;
    const Handle x = f.make(range(64));
    const Handle y = f.run(affine(64), {x}, {1, 1});
    f.client.write(x, 0, bytes_of(range(64, 2))).value();
    f.client.copy(y, 0, x, 0, 128).value();
    runtime::webgpu::export_texture(*f.channel, y, 4, 4, 4, losing.texture).value();
    (void)runtime::webgpu::import_texture(*f.channel, losing.texture).value();
    losing.destroy();
    check_all(losing, y);
  }
}

TEST_CASE("lost after a flush, before its work is finished; back-pressure does not wait for ever") {
  for (const ChannelKind kind : kinds) {
    CAPTURE(static_cast<int>(kind));
    Losing losing(kind, 1);
    const Fixture& f = losing.f;
    Handle x = f.make(range(1 << 18));
    x = f.run(affine(1 << 18), {x}, {1, 1});
    f.flush();
    Future<void> done = f.client.sync_async();
    x = f.run(affine(1 << 18), {x}, {1, 1});
    losing.destroy();
    check_throws_lost([&] { f.flush(); });
    check_lost(done.result());
    const Handle few = f.empty(64);
    check_all(losing, few);
  }
}

TEST_CASE("lost with the app's encoder finished, and it is never submitted") {
  for (const ChannelKind kind : kinds) {
    CAPTURE(static_cast<int>(kind));
    Losing losing(kind);
    const Fixture& f = losing.f;
    const Handle x = f.make(range(64));
    WGPUCommandEncoder encoder = f.app.make_encoder();
    const std::uint64_t scope = runtime::webgpu::begin_encoding(*f.channel, encoder).value();
    const Handle y = f.run(affine(64), {x}, {1, 1});
    CHECK(runtime::webgpu::end_encoding(*f.channel, scope));
    WGPUCommandBuffer commands = wgpuCommandEncoderFinish(encoder, nullptr);
    losing.destroy();
    wgpuCommandBufferRelease(commands);
    wgpuCommandEncoderRelease(encoder);
    CHECK(runtime::webgpu::finish_encoding(*f.channel, scope, false));
    const Expected<std::vector<std::byte>> read = f.client.read(y, 0, 256).result();
    CHECK(!read);
    check_all(losing, x);
  }
}

TEST_CASE("lost with maps pending: every read fails, however many there are") {
  for (const ChannelKind kind : kinds) {
    CAPTURE(static_cast<int>(kind));
    Losing losing(kind);
    const Fixture& f = losing.f;
    const Handle x = f.make(range(1 << 18));
    std::vector<Future<std::vector<std::byte>>> reads;
    for (int i = 0; i < 8; ++i) reads.push_back(f.client.read(x, 0, 1 << 20));
    losing.destroy();
    for (auto& read : reads) check_lost(read.result());
    check_all(losing, f.empty(64));
  }
}

TEST_CASE("lost while a read is waited on in another thread: the wait ends with an error or the values") {
  for (const ChannelKind kind : {ChannelKind::mutex, ChannelKind::mpsc}) {
    CAPTURE(static_cast<int>(kind));
    for (int round = 0; round < 5; ++round) {
      Losing losing(kind);
      const Fixture& f = losing.f;
      Handle x = f.make(range(1 << 18));
      for (int i = 0; i < 10; ++i) x = f.run(affine(1 << 18), {x}, {1, 1});
      Future<std::vector<std::byte>> read = f.client.read(x, 0, 1 << 20);
      Expected<std::vector<std::byte>> got = std::vector<std::byte>{};
      std::thread waiter([&got, moved = std::move(read)]() mutable { got = moved.result(); });
      losing.destroy();
      waiter.join();
      if (got) {
        CHECK(floats(*got) == range(1 << 18, 10));
      } else {
        CHECK(got.error().code == ErrorCode::device_lost);
      }
      CHECK_THROWS_AS(f.flush(), Error);
    }
  }
}

}  // namespace hearth::test
