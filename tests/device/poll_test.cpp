#include <chrono>
#include <future>

#include "device/fixture.hpp"

namespace hearth::test {

namespace {

constexpr std::chrono::seconds long_enough{120};
constexpr ChannelKind kinds[] = {ChannelKind::mutex, ChannelKind::mpsc};

RuntimeOptions polling(ChannelKind kind, std::recursive_mutex& lock) { return {.channel = kind, .lock = &lock, .poll = true}; }

}  // namespace

TEST_CASE("with poll a read completes and runs its function though nobody asks, and nothing counts as a wait") {
  for (const ChannelKind kind : kinds) {
    CAPTURE(static_cast<int>(kind));
    std::recursive_mutex lock;
    const Fixture f(polling(kind, lock));
    std::promise<std::vector<float>> values;
    std::promise<void> finished;
    const Handle y = f.run(affine(64), {f.make(range(64))}, {2, 1});
    const Future<void> read =
        f.client.read(y, 0, 256).then([&](const std::vector<std::byte>& bytes) { values.set_value(floats(bytes)); });
    const Future<void> done = f.client.sync_async().then([&] { finished.set_value(); });
    std::future<std::vector<float>> got = values.get_future();
    REQUIRE(got.wait_for(long_enough) == std::future_status::ready);
    CHECK(got.get() == range(64, 1, 2));
    REQUIRE(finished.get_future().wait_for(long_enough) == std::future_status::ready);
    CHECK(f.statistics().waits == 0);
  }
}

TEST_CASE("with poll the app's own callbacks come on Hearth's thread, and may use Hearth") {
  for (const ChannelKind kind : kinds) {
    CAPTURE(static_cast<int>(kind));
    std::recursive_mutex lock;
    const Fixture f(polling(kind, lock));
    struct Heard {
      const Fixture& f;
      std::promise<std::thread::id> where;
    } heard{f, {}};
    WGPUBuffer buffer = nullptr;
    {
      const std::scoped_lock guard(lock);
      buffer = f.app.make_buffer(256, WGPUBufferUsage_MapRead | WGPUBufferUsage_CopyDst);
      WGPUBufferMapCallbackInfo info = {};
      info.mode = WGPUCallbackMode_AllowProcessEvents;
      info.userdata1 = &heard;
      info.callback = [](WGPUMapAsyncStatus, WGPUStringView, void* to, void*) {
        auto& here = *static_cast<Heard*>(to);
        (void)here.f.run(fill(16), {}, {1});
        here.f.flush();
        here.where.set_value(std::this_thread::get_id());
      };
      wgpuBufferMapAsync(buffer, WGPUMapMode_Read, 0, 256, info);
    }
    std::future<std::thread::id> where = heard.where.get_future();
    REQUIRE(where.wait_for(long_enough) == std::future_status::ready);
    CHECK(where.get() != std::this_thread::get_id());
    const std::scoped_lock guard(lock);
    wgpuBufferUnmap(buffer);
    wgpuBufferRelease(buffer);
  }
}

TEST_CASE("with poll a read of a device that is lost fails by itself") {
  for (const ChannelKind kind : kinds) {
    std::recursive_mutex lock;
    const Fixture f(polling(kind, lock));
    Future<std::vector<std::byte>> read;
    {
      const std::scoped_lock guard(lock);  // the thread does not see the value first
      if (kind == ChannelKind::mutex) read = f.client.read(f.make(range(64)), 0, 256);
      f.app.destroy();
    }
    if (kind == ChannelKind::mpsc) read = f.client.read(f.client.empty(256).value(), 0, 256);
    for (const auto start = std::chrono::steady_clock::now(); !read.is_complete();) {
      REQUIRE(std::chrono::steady_clock::now() - start < long_enough);
      std::this_thread::yield();
    }
    const Expected<std::vector<std::byte>> got = read.result();
    REQUIRE(!got);
    CHECK(got.error().code == ErrorCode::device_lost);
    *f.app.errors = 0;
  }
}

TEST_CASE("with poll futures, devices, the app's objects and its lock may go in any order") {
  for (const ChannelKind kind : kinds) {
    for (int order = 0; order < 5; ++order) {
      CAPTURE(order);
      auto lock = std::make_unique<std::recursive_mutex>();
      auto app = std::make_unique<App>();
      Ref<runtime::Channel> channel = runtime::open_webgpu(app->native(), polling(kind, *lock)).value();
      Client client(channel);
      Handle x = client.create(bytes_of(range(64))).value();
      Future<std::vector<std::byte>> read = client.read(x, 0, 256);
      if (order == 0) read = {};
      if (order == 1) CHECK(floats(read.get()) == range(64));
      if (order == 2) {
        const std::scoped_lock guard(*lock);
        app->destroy();
      }
      if (order == 3) (void)client.read(x, 0, 256).then([](const std::vector<std::byte>&) {});
      if (order == 4) app = nullptr;  // its references; Hearth has its own
      client = {};
      channel = {};
      read = {};
      x = {};
      if (app) *app->errors = 0;
      lock = nullptr;
      app = nullptr;
    }
  }
}

}  // namespace hearth::test
