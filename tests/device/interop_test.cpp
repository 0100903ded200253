#include "device/fixture.hpp"

namespace hearth::test {

namespace {

constexpr WGPUBufferUsage all_uses = WGPUBufferUsage_Storage | WGPUBufferUsage_CopyDst | WGPUBufferUsage_CopySrc;

Expected<Handle> import(const Fixture& f, WGPUBuffer buffer, std::uint64_t offset, std::uint64_t size) {
  return runtime::webgpu::import_buffer(*f.channel, buffer, offset, size);
}

}  // namespace

TEST_CASE("two resources never share a buffer by default, and stay where they are") {
  const Fixture f;
  const Handle a = f.make(range(16));
  const Handle b = f.make(range(16, 50));
  const RawResource first = f.client.get_resource(a);
  const RawResource second = f.client.get_resource(b);
  CHECK(first.buffer != second.buffer);
  CHECK(first.size == 64);
  CHECK(f.client.get_resource(a).buffer == first.buffer);
  CHECK(f.read(a) == range(16));
  CHECK(f.read(b) == range(16, 50));
  // The app copies from one to the other; what it writes is what the tensor holds.
  WGPUCommandEncoder encoder = f.app.make_encoder();
  wgpuCommandEncoderCopyBufferToBuffer(encoder, static_cast<WGPUBuffer>(first.buffer), first.offset,
                                       static_cast<WGPUBuffer>(second.buffer), second.offset, 64);
  f.app.submit(encoder);
  CHECK(f.read(f.run(add(16), {a, b})) == range(16, 0, 2));
}

TEST_CASE("a resource that need not be exclusive is the page as it is") {
  const Fixture f;
  const Handle a = f.make(range(16));
  const Handle b = f.make(range(16, 50));
  const RawResource first = f.client.get_resource(a, false);
  const RawResource second = f.client.get_resource(b, false);
  CHECK(first.buffer == second.buffer);
  CHECK(first.offset != second.offset);
  CHECK(f.app.read(static_cast<WGPUBuffer>(second.buffer), second.offset, 16) == range(16, 50));
}

TEST_CASE("buffers have the usages that the options ask for") {
  const Fixture f({.buffer_usage = BufferUsage::vertex | BufferUsage::index});
  const RawResource raw = f.client.get_resource(f.make(range(16)));
  const WGPUBufferUsage usage = wgpuBufferGetUsage(static_cast<WGPUBuffer>(raw.buffer));
  CHECK((usage & WGPUBufferUsage_Vertex) != 0);
  CHECK((usage & WGPUBufferUsage_Index) != 0);
  CHECK((usage & WGPUBufferUsage_Indirect) == 0);
}

TEST_CASE("an imported buffer is read and written in place") {
  const Fixture f;
  WGPUBuffer own = f.app.make_buffer(1024, all_uses);
  f.app.fill(own, range(256));
  const Handle whole = import(f, own, 0, 256).value();
  const Handle part = import(f, own, 256, 256).value();
  CHECK(f.client.get_resource(whole).buffer == own);
  CHECK(f.read(f.run(add(64), {whole, part})) == range(64, 64, 2));
  f.client.write(part, 0, bytes_of(range(64, -5))).value();
  f.flush();
  CHECK(f.app.read(own, 256, 64) == range(64, -5));
  CHECK(f.app.read(own, 0, 64) == range(64));
  f.client.copy(whole, 0, part, 0, 256).value();  // within one buffer
  CHECK(f.read(part) == range(64));
  wgpuBufferRelease(own);
  CHECK(f.read(whole) == range(64));  // the import holds a reference
}

TEST_CASE("an imported buffer without copy usages is read and written through kernels") {
  const Fixture f;
  WGPUBuffer own = f.app.make_buffer(256, WGPUBufferUsage_Storage);
  const Handle x = import(f, own, 0, 256).value();
  wgpuBufferRelease(own);
  f.client.write(x, 0, bytes_of(range(64, 7))).value();
  CHECK(f.read(x) == range(64, 7));
  const Handle y = f.empty(64);
  f.client.copy(x, 0, y, 0, 256).value();
  CHECK(f.read(y) == range(64, 7));
}

TEST_CASE("an import that cannot work is refused at once, with the values and the limit") {
  const Fixture f;
  WGPUBuffer own = f.app.make_buffer(1024, all_uses);
  WGPUBuffer no_storage = f.app.make_buffer(1024, WGPUBufferUsage_CopyDst);
  WGPUBuffer destroyed = f.app.make_buffer(1024, all_uses);
  wgpuBufferDestroy(destroyed);
  const auto message = [](const Expected<Handle>& result) { return result ? std::string() : result.error().message; };
  CHECK(message(import(f, no_storage, 0, 64)).find("Storage") != std::string::npos);
  CHECK(message(import(f, own, 1000, 64)).find("1024") != std::string::npos);
  CHECK(message(import(f, own, 16, 64)).find("minStorageBufferOffsetAlignment") != std::string::npos);
  CHECK(message(import(f, own, 0, 63)).find("multiple of 4") != std::string::npos);
#if defined(HEARTH_WEBGPU_IS_WGPU)
  CHECK(!message(import(f, destroyed, 0, 64)).empty());
#endif
  for (WGPUBuffer buffer : {own, no_storage, destroyed}) wgpuBufferRelease(buffer);
}

TEST_CASE("a buffer of the app destroyed before the flush is an error, no end of the process") {
  const Fixture f;
  const Handle kept = f.make(range(64));
  f.flush();
  WGPUBuffer own = f.app.make_buffer(256, all_uses);
  const Handle x = import(f, own, 0, 256).value();
  (void)f.run(add(64), {x, kept});
  wgpuBufferDestroy(own);
  CHECK_THROWS_AS(f.flush(), Error);
  wgpuBufferRelease(own);
  CHECK(f.read(f.run(add(64), {kept, f.make(range(64))})) == range(64, 0, 2));
}

TEST_CASE("copy_to writes the app's buffer on the queue, ordered like a launch") {
  const Fixture f;
  WGPUBuffer own = f.app.make_buffer(512, WGPUBufferUsage_CopyDst | WGPUBufferUsage_CopySrc);
  const Handle x = f.run(affine(64), {f.make(range(64))}, {3, 0});
  runtime::webgpu::copy_to_buffer(*f.channel, x, 0, own, 256, 256).value();
  f.flush();
  CHECK(f.app.read(own, 256, 64) == range(64, 0, 3));
  CHECK(f.app.read(own, 0, 64) == std::vector<float>(64, 0));
  CHECK(!runtime::webgpu::copy_to_buffer(*f.channel, x, 0, own, 300, 256));
  WGPUBuffer no_target = f.app.make_buffer(512, WGPUBufferUsage_CopySrc | WGPUBufferUsage_Storage);
  const Expected<void> refused = runtime::webgpu::copy_to_buffer(*f.channel, x, 0, no_target, 0, 256);
  REQUIRE(!refused);
  CHECK(refused.error().message.find("CopyDst") != std::string::npos);
  wgpuBufferRelease(own);
  wgpuBufferRelease(no_target);
}

TEST_CASE("copy_to into the buffer that the memory itself is, goes by way of another") {
  const Fixture f;
  WGPUBuffer own = f.app.make_buffer(512, all_uses);
  f.app.fill(own, range(128));
  const Handle x = import(f, own, 0, 256).value();
  runtime::webgpu::copy_to_buffer(*f.channel, x, 0, own, 256, 256).value();
  f.flush();
  CHECK(f.app.read(own, 256, 64) == range(64));
  wgpuBufferRelease(own);
}

TEST_CASE("a mapped buffer as the target of a copy is an error, no end of the process") {
  const Fixture f;
  WGPUBufferDescriptor descriptor = {};
  descriptor.size = 256;
  descriptor.usage = WGPUBufferUsage_CopyDst | WGPUBufferUsage_MapRead;
  descriptor.mappedAtCreation = 1;
  WGPUBuffer mapped = wgpuDeviceCreateBuffer(f.app.device, &descriptor);
  const Handle x = f.make(range(64));
  runtime::webgpu::copy_to_buffer(*f.channel, x, 0, mapped, 0, 256).value();
  CHECK_THROWS_AS(f.flush(), Error);
  wgpuBufferUnmap(mapped);
  wgpuBufferRelease(mapped);
  CHECK(f.read(f.make(range(4))) == range(4));
}

TEST_CASE("interop on a device that is no WebGPU device says so") {
  const Ref<runtime::Channel> cpu = runtime::open_cpu({}).value();
  const Expected<std::uint64_t> scope = runtime::webgpu::begin_encoding(*cpu, nullptr);
  REQUIRE(!scope);
  CHECK(scope.error().code == ErrorCode::wrong_device);
}

}  // namespace hearth::test
