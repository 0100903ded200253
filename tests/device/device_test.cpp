#include <cctype>

#include "device/fixture.hpp"

namespace hearth::test {

TEST_CASE("a device of the app's tells its own limits and its adapter's name") {
  const Fixture f;
  const DeviceInfo& info = f.channel->info();
  CHECK(info.max_storage_buffers == 8);
  CHECK(info.max_binding_bytes == 134217728);
  CHECK(info.max_buffer_bytes == 268435456);
  CHECK(info.max_workgroup_invocations == 256);
  CHECK(info.max_workgroup_bytes == 16384);
  CHECK(info.storage_alignment == 256);
  CHECK(!info.f16);
  CHECK(!info.subgroups);
  CHECK(!info.name.empty());
  CHECK(!info.backend.empty());
}

TEST_CASE("adapter and queue may be left out") {
  const App app;
  runtime::NativeDevice native = app.native();
  native.adapter = native.queue = nullptr;
  const Client client(runtime::open_webgpu(native, {}).value());
  CHECK(floats(client.read(client.create(bytes_of(range(4))).value(), 0, 16).get()) == range(4));
}

TEST_CASE("an own device has its adapter's limits and is found by a part of the name") {
  const Ref<runtime::Channel> channel = runtime::open_own_webgpu({}, {}).get();
  CHECK(channel->info().max_storage_buffers >= 8);
  CHECK(channel->info().max_binding_bytes >= 134217728);
  const Client client(channel);
  CHECK(floats(client.read(client.create(bytes_of(range(4))).value(), 0, 16).get()) == range(4));
  std::string part = channel->info().name.substr(0, 4);
  for (char& c : part) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  CHECK(runtime::open_own_webgpu({.adapter = part}, {}).result());
}

TEST_CASE("an adapter that is not there is named together with those that are") {
  const std::string here = runtime::open_own_webgpu({}, {}).get()->info().name;
  const Expected<Ref<runtime::Channel>> opened = runtime::open_own_webgpu({.adapter = "no such chip"}, {}).result();
  REQUIRE(!opened);
  CHECK(opened.error().code == ErrorCode::no_adapter);
  CHECK(opened.error().message.find("no such chip") != std::string::npos);
  CHECK(opened.error().message.find(here) != std::string::npos);
}

TEST_CASE("several devices work at once") {
  const Fixture a;
  const Fixture b;
  const Handle x = a.run(affine(16), {a.make(range(16))}, {2, 0});
  const Handle y = b.run(affine(16), {b.make(range(16))}, {3, 0});
  CHECK(a.read(x) == range(16, 0, 2));
  CHECK(b.read(y) == range(16, 0, 3));
}

TEST_CASE("beyond the cap an allocation fails and everything else stays alive") {
  const Fixture f({.memory_limit_bytes = 8u << 20});
  const Handle x = f.make(range(64));
  const Handle large = f.run(fill(1 << 20), {}, {1});  // 4 MiB
  const Handle out = f.empty(1 << 20);
  const Handle bindings[] = {out};
  const std::uint32_t words[] = {0};
  const Expected<void> refused = f.client.launch(fill(1 << 20), bindings, words);
  REQUIRE(!refused);
  CHECK(refused.error().code == ErrorCode::out_of_memory);
  CHECK(refused.error().message.find("8388608") != std::string::npos);
  CHECK(f.read(x) == range(64));
  CHECK(f.read(large)[77] == 1);
}

TEST_CASE("memory beyond the device's own limits is refused with the limit") {
  const Fixture f;
  const Handle out = f.client.empty(std::uint64_t{1} << 32).value();
  const std::byte byte[4] = {};
  const Expected<void> refused = f.client.write(out, 0, byte);
  REQUIRE(!refused);
  CHECK(refused.error().message.find("268435456") != std::string::npos);
}

TEST_CASE("debug labels carry the options' prefix and the kernel's label") {
  const Fixture f({.label = "game"});
  const RawResource raw = f.client.get_resource(f.make(range(4)));
  // The implementation names the buffer in its messages: a mistake of the app's own shows the label.
  wgpuDevicePushErrorScope(f.app.device, WGPUErrorFilter_Validation);
  std::string message;
  WGPUBufferMapCallbackInfo map = {};
  map.mode = WGPUCallbackMode_AllowProcessEvents;
  map.callback = [](WGPUMapAsyncStatus, WGPUStringView, void*, void*) {};
  wgpuBufferMapAsync(static_cast<WGPUBuffer>(raw.buffer), WGPUMapMode_Read, 0, 4, map);
  WGPUPopErrorScopeCallbackInfo info = {};
  info.mode = WGPUCallbackMode_AllowSpontaneous;
  info.userdata1 = &message;
  info.callback = [](WGPUPopErrorScopeStatus, WGPUErrorType, WGPUStringView text, void* to, void*) {
    static_cast<std::string*>(to)->assign(text.data ? text.data : "", text.data ? text.length : 0);
  };
  wgpuDevicePopErrorScope(f.app.device, info);
  INFO(message);
  CHECK(message.find("game memory") != std::string::npos);
}

}  // namespace hearth::test
