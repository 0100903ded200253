#include "runtime/null/server.hpp"

#include <doctest/doctest.h>

#include "ir/kernel.hpp"
#include "runtime/backends.hpp"

using namespace hearth;
using namespace hearth::runtime;

namespace {

ir::KernelRef kernel_of(std::vector<DType> bindings, std::int64_t elements, std::vector<DType> parameters = {}) {
  ir::Kernel kernel;
  kernel.label = "sample";
  kernel.bindings = std::move(bindings);
  kernel.parameters = std::move(parameters);
  kernel.extent = {elements};
  kernel.value = Expr::load(0, DType::f32, {Expr::coordinate(0)});
  return ir::finish(std::move(kernel));
}

Client null_client(const DeviceInfo& info = {}, const RuntimeOptions& options = {}) {
  return Client(open_null(options, info).value());
}

Failure refused(const Client& client, const ir::KernelRef& kernel, std::vector<Handle> handles,
                std::vector<std::uint32_t> parameters = {}) {
  Expected<void> launched = client.launch(kernel, handles, parameters);
  REQUIRE_FALSE(launched);
  client.sync(SyncType::flush);
  CHECK(client.channel()->statistics().dispatches == 0);
  CHECK(client.channel()->statistics().submits == 0);
  return launched.error();
}

}  // namespace

TEST_CASE("the null device records launches and reads zeros") {
  const Client client = null_client();
  const Handle a = client.empty(16).value(), b = client.empty(16).value();
  const ir::KernelRef kernel = kernel_of({DType::f32, DType::f32}, 4, {DType::f32});
  const Handle handles[] = {a, b};
  const std::uint32_t parameters[] = {7};
  CHECK(client.launch(kernel, handles, parameters));
  const auto launches = null::take_launches(*client.channel());
  REQUIRE(launches.size() == 1);
  CHECK(launches[0].kernel == kernel);
  CHECK(launches[0].parameters == std::vector<std::uint32_t>{7});
  CHECK(launches[0].bindings[1].size == 16);
  CHECK(null::take_launches(*client.channel()).empty());
  CHECK(client.read(b, 4, 12).get() == std::vector<std::byte>(12));
}

TEST_CASE("submits count flushes with work, passes its launches, and an empty flush nothing") {
  const Client client = null_client();
  const Handle handles[] = {client.empty(16).value(), client.empty(16).value()};
  for (int i = 0; i < 3; ++i) CHECK(client.launch(kernel_of({DType::f32, DType::f32}, 4), handles, {}));
  client.sync(SyncType::flush);
  client.sync(SyncType::flush);
  const Statistics statistics = client.channel()->statistics();
  CHECK(statistics.submits == 1);
  CHECK(statistics.passes == 1);
  CHECK(statistics.dispatches == 3);
  CHECK(statistics.waits == 0);
  CHECK(statistics.allocations == 1);
}

TEST_CASE("a launch is refused with a sentence when counts do not fit") {
  const Client client = null_client();
  const Handle h = client.empty(16).value(), out = client.empty(16).value();
  CHECK(refused(client, kernel_of({DType::f32, DType::f32}, 4), {h}).message ==
        "sample: 1 bindings are given, the kernel takes 2.");
  CHECK(refused(client, kernel_of({DType::f32, DType::f32}, 4, {DType::f32}), {h, out}).message ==
        "sample: 0 words of parameters are given, the kernel takes 1.");
  CHECK(refused(client, kernel_of({DType::f32, DType::f32}, 5), {h, out}).message ==
        "sample: the output has 16 bytes, the kernel writes 20.");
}

TEST_CASE("a launch is refused when its output is an input too or ranges of one buffer overlap") {
  const Client client = null_client();
  const Handle h = client.empty(16).value(), out = client.empty(16).value();
  CHECK(refused(client, kernel_of({DType::f32, DType::f32}, 4), {h, h}).message == "sample: the output is bound as input 0 too.");
  Handle first, second;
  (void)client.channel()->call([&](Server& server) -> Expected<void> {
    first = server.memory().import(&first, 0, 512);
    second = server.memory().import(&first, 256, 512);
    return {};
  });
  CHECK(refused(client, kernel_of({DType::f32, DType::f32, DType::f32}, 4), {first, second, out}).message ==
        "sample: bindings 0 and 1 overlap in one buffer.");
}

TEST_CASE("an input bound twice is one buffer") {
  DeviceInfo info;
  info.max_storage_buffers = 2;
  const Client client = null_client(info);
  const Handle h = client.empty(16).value(), out = client.empty(16).value();
  const Handle handles[] = {h, h, out};
  CHECK(client.launch(kernel_of({DType::f32, DType::f32, DType::f32}, 4), handles, {}));
}

TEST_CASE("the limits that a device is given are kept and named") {
  DeviceInfo info;
  info.max_storage_buffers = 2;
  info.max_binding_bytes = 1024;
  info.max_buffer_bytes = 4096;
  const Client client = null_client(info);
  const Handle a = client.empty(16).value(), b = client.empty(16).value(), out = client.empty(16).value();
  Failure failure = refused(client, kernel_of({DType::f32, DType::f32, DType::f32}, 4), {a, b, out});
  CHECK(failure.code == ErrorCode::unsupported);
  CHECK(failure.message == "sample: it binds 3 buffers, this device binds at most 2 (maxStorageBuffersPerShaderStage).");
  const Handle large = client.empty(2000).value();
  CHECK(refused(client, kernel_of({DType::f32, DType::f32}, 4), {large, out}).message ==
        "sample: binding 0 has 2000 bytes, this device binds at most 1024 bytes (maxStorageBufferBindingSize).");
  CHECK(refused(client, kernel_of({DType::f16, DType::f32}, 4), {a, out}).message ==
        "sample: this device lacks the feature shader-f16.");
  CHECK(refused(client, kernel_of({DType::f32, DType::f64}, 1), {a, out}).message ==
        "sample: this device has no f64, only the CPU device has.");
  CHECK(client.write(client.empty(5000).value(), 0, std::vector<std::byte>(4)).error().code == ErrorCode::unsupported);
}

TEST_CASE("a kernel of source is held to the device's number of workgroups") {
  const Client client = null_client();
  ir::Kernel kernel;
  kernel.label = "mine";
  kernel.form = ir::Form::source;
  kernel.bindings = {DType::f32};
  kernel.workgroups = {1, 70000, 1};
  CHECK(refused(client, ir::finish(std::move(kernel)), {client.empty(16).value()}).message ==
        "mine: [1, 70000, 1] workgroups are asked for, this device runs at most 65535 a dimension.");
}

TEST_CASE("a resource is exclusive, keeps its place and pins it") {
  const Client client = null_client();
  const Handle a = client.create(std::vector<std::byte>(16)).value(), b = client.create(std::vector<std::byte>(16)).value();
  const RawResource first = client.get_resource(a), second = client.get_resource(b);
  CHECK(first.buffer != second.buffer);
  CHECK(first.offset == 0);
  CHECK(client.get_resource(a).buffer == first.buffer);
  const Handle c = client.create(std::vector<std::byte>(16)).value(), d = client.create(std::vector<std::byte>(16)).value();
  CHECK(client.get_resource(c, false).buffer == client.get_resource(d, false).buffer);
}

TEST_CASE("a cap on memory ends a launch with a sentence and leaves the device usable") {
  RuntimeOptions options;
  options.memory_limit_bytes = 1 << 20;
  const Client client = null_client({}, options);
  const Handle in = client.create(std::vector<std::byte>(16)).value();
  const Handle large[] = {in, client.empty(2 << 20).value()};
  Expected<void> launched = client.launch(kernel_of({DType::f32, DType::f32}, 4), large, {});
  REQUIRE_FALSE(launched);
  CHECK(launched.error().code == ErrorCode::out_of_memory);
  const Handle small[] = {in, client.empty(16).value()};
  CHECK(client.launch(kernel_of({DType::f32, DType::f32}, 4), small, {}));
}

TEST_CASE("three hundred uploads and ten thousand launches keep memory flat") {
  const Client client = null_client();
  for (int i = 0; i < 300; ++i) (void)client.create(std::vector<std::byte>(1000)).value();
  const ir::KernelRef kernel = kernel_of({DType::f32, DType::f32}, 64);
  Handle last = client.create(std::vector<std::byte>(256)).value();
  for (int i = 0; i < 10000; ++i) {
    const Handle handles[] = {last, client.empty(256).value()};
    CHECK(client.launch(kernel, handles, {}));
    last = handles[1];
  }
  client.sync(SyncType::flush);
  const MemoryUsage usage = client.channel()->memory().usage();
  CHECK(usage.reserved == 8u << 20);
  CHECK(usage.allocations == 1);
  CHECK(client.channel()->statistics().dispatches == 10000);
}
