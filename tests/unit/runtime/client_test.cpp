#include "hearth/client.hpp"

#include <functional>

#include <doctest/doctest.h>

#include "fake_server.hpp"
#include "ir/kernel.hpp"

using namespace hearth;
using namespace hearth::runtime;
using namespace hearth::runtime::test;

namespace {

ir::KernelRef some_kernel() {
  ir::Kernel kernel;
  kernel.label = "copy";
  kernel.bindings = {DType::f32, DType::f32};
  kernel.extent = {4};
  kernel.value = Expr::load(0, DType::f32, {Expr::coordinate(0)});
  return ir::finish(std::move(kernel));
}

Failure thrown(const std::function<void()>& function) {
  try {
    function();
  } catch (const Error& error) {
    return error.failure();
  }
  return {ErrorCode::io, "nothing was thrown"};
}

}  // namespace

TEST_CASE("a client without a device, null handles and ranges outside memory are errors before anything is recorded") {
  CHECK(Client().empty(4).error().message == "client: it belongs to no device.");
  CHECK(thrown([] { Client().sync(SyncType::flush); }).code == ErrorCode::invalid_argument);
  for (const ChannelKind kind : all_kinds) {
    auto trace = std::make_shared<Trace>();
    const Client client(fake_channel(kind, trace));
    const Handle handle = client.empty(16).value();
    const std::vector<std::byte> bytes(8);
    CHECK(client.write(handle, 12, bytes).error().message == "write: bytes 12 to 20 are outside memory of 16 bytes.");
    CHECK(client.write({}, 0, bytes).error().message == "write: the handle is null.");
    CHECK(client.read(handle, 17, 0).result().error().code == ErrorCode::invalid_argument);
    CHECK(client.copy(handle, 0, handle, 9, 8).error().code == ErrorCode::invalid_argument);
    CHECK(client.launch(nullptr, {}, {}).error().message == "launch: the kernel is null.");
    const Handle none[] = {handle, Handle{}};
    CHECK(client.launch(some_kernel(), none, {}).error().message == "copy: the handle is null.");
    client.sync(SyncType::flush);
    CHECK(trace->launches == 0);
    CHECK(client.channel()->statistics().bytes_written == 0);
  }
}

TEST_CASE("memory of another device is refused") {
  const Client a(fake_channel(ChannelKind::mutex, std::make_shared<Trace>()));
  const Client b(fake_channel(ChannelKind::mutex, std::make_shared<Trace>()));
  const Handle handles[] = {a.empty(16).value(), b.empty(16).value()};
  CHECK(a.launch(some_kernel(), handles, {}).error().code == ErrorCode::wrong_device);
  CHECK(a.read(handles[1], 0, 4).result().error().message == "read: the memory belongs to another device.");
}

TEST_CASE("every channel launches, writes, copies, reads and syncs") {
  for (const ChannelKind kind : all_kinds) {
    auto trace = std::make_shared<Trace>();
    const Client client(fake_channel(kind, trace));
    const Handle from = client.create(std::vector<std::byte>(16)).value();
    const Handle to = client.empty(16).value();
    const Handle handles[] = {from, to};
    for (int i = 0; i < 20; ++i) CHECK(client.launch(some_kernel(), handles, {}));
    CHECK(client.copy(from, 0, to, 8, 8));
    client.sync(SyncType::flush);
    CHECK(trace->launches == 20);
    CHECK(trace->polls == 0);  // a flush polls nothing
    CHECK(client.channel()->statistics().waits == 0);
    CHECK(client.read(to, 0, 16).get().size() == 16);
    CHECK(trace->polls == 3);
    client.sync(SyncType::wait);
    CHECK(client.channel()->statistics().waits == 1);
    CHECK(client.sync_async().ready());
  }
}

TEST_CASE("two reads in flight each get their own bytes") {
  for (const ChannelKind kind : all_kinds) {
    const Client client(fake_channel(kind, std::make_shared<Trace>()));
    const Handle handle = client.create(std::vector<std::byte>(16)).value();
    auto first = client.read(handle, 0, 4);
    auto second = client.read(handle, 4, 12);
    CHECK(second.get().size() == 12);
    CHECK(first.get().size() == 4);
  }
}

TEST_CASE("mpsc: a failed launch poisons its outputs, their readers and the next sync, nothing else") {
  auto trace = std::make_shared<Trace>();
  const Client client(fake_channel(ChannelKind::mpsc, trace));
  const Handle good = client.create(std::vector<std::byte>(16)).value();
  const Handle bad = client.empty(16).value(), worse = client.empty(16).value();
  (void)client.channel()->call([&](Server&) -> Expected<void> {
    trace->launch_fails = Failure{ErrorCode::validation, "the launch failed"};
    return {};
  });
  const Handle first[] = {good, bad};
  CHECK(client.launch(some_kernel(), first, {}));
  (void)client.channel()->call([&](Server&) -> Expected<void> {
    trace->launch_fails.reset();
    return {};
  });
  const Handle second[] = {bad, worse};
  CHECK(client.launch(some_kernel(), second, {}));
  CHECK(client.read(worse, 0, 4).result().error().message == "the launch failed");
  CHECK(client.read(good, 0, 4).result());
  CHECK(thrown([&] { client.sync(SyncType::flush); }).message == "the launch failed");
  client.sync(SyncType::flush);
  const Handle third[] = {good, client.empty(16).value()};
  CHECK(client.launch(some_kernel(), third, {}));
  client.sync(SyncType::wait);
}

TEST_CASE("without a mailbox the failure of a launch is its own result, and its output has no failure") {
  for (const ChannelKind kind : {ChannelKind::direct, ChannelKind::mutex, ChannelKind::thread_local_}) {
    auto trace = std::make_shared<Trace>();
    const Client client(fake_channel(kind, trace));
    trace->launch_fails = Failure{ErrorCode::validation, "the launch failed"};
    const Handle handles[] = {client.empty(16).value(), client.empty(16).value()};
    CHECK(client.launch(some_kernel(), handles, {}).error().message == "the launch failed");
    CHECK_FALSE(handles[1]->failure);
    client.sync(SyncType::flush);
  }
}

TEST_CASE("a read can be waited for on another thread with mutex and mpsc, elsewhere it is an error there") {
  for (const ChannelKind kind : all_kinds) {
    const Client client(fake_channel(kind, std::make_shared<Trace>()));
    auto future = client.read(client.create(std::vector<std::byte>(16)).value(), 0, 16);
    const bool shared = kind == ChannelKind::mutex || kind == ChannelKind::mpsc;
    std::thread([&] {
      Expected<std::vector<std::byte>> result = future.result();
      REQUIRE(static_cast<bool>(result) == shared);
      if (!shared) CHECK(result.error().code == ErrorCode::wrong_thread);
    }).join();
  }
}

TEST_CASE("a read that nobody waits for does not keep the device alive") {
  for (const ChannelKind kind : all_kinds) {
    auto trace = std::make_shared<Trace>();
    bool called = false;
    {
      const Client client(fake_channel(kind, trace));
      const Handle handle = client.create(std::vector<std::byte>(16)).value();
      (void)client.read(handle, 0, 16);
      (void)client.read(handle, 0, 16).then([&called](std::vector<std::byte>) { called = true; });
    }
    CHECK(trace->destroyed.load());
    CHECK_FALSE(called);
  }
}

TEST_CASE("a device may go before its reads, handles and resources") {
  for (const ChannelKind kind : all_kinds) {
    auto trace = std::make_shared<Trace>();
    Handle handle;
    RawResource resource;
    Future<std::vector<std::byte>> future;
    {
      const Client client(fake_channel(kind, trace));
      handle = client.create(std::vector<std::byte>(16)).value();
      resource = client.get_resource(handle);
      future = client.read(handle, 0, 16);
    }
    CHECK(future.get().size() == 16);
    future = {};
    CHECK(trace->destroyed.load());
    std::thread([&] { handle = {}; }).join();
    CHECK(resource.size == 16);
  }
}

TEST_CASE("many threads launch, drop and read on one device") {
  for (const ChannelKind kind : {ChannelKind::mutex, ChannelKind::mpsc}) {
    auto trace = std::make_shared<Trace>();
    const Client client(fake_channel(kind, trace));
    const Handle shared = client.create(std::vector<std::byte>(16)).value();
    std::vector<std::thread> threads;
    for (int t = 0; t < 3; ++t) {
      threads.emplace_back([&] {
        Handle last = shared;
        for (int i = 0; i < 200; ++i) {
          const Handle handles[] = {last, client.empty(64).value()};
          (void)client.launch(some_kernel(), handles, {});
          last = handles[1];
          if (i % 40 == 0) (void)client.read(last, 0, 16).get();
          if (i % 60 == 0) client.sync(SyncType::flush);
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    client.sync(SyncType::wait);
    CHECK(trace->launches == 600);
    CHECK(client.channel()->memory().usage().allocations == 1);
  }
}
