#include <algorithm>
#include <utility>

#include "device/fixture.hpp"

namespace hearth::test {

TEST_CASE("a launch computes what its kernel says, on ragged sizes too") {
  const Fixture f;
  for (const std::size_t count : {1u, 3u, 64u, 1000u, 100003u}) {
    const Handle out = f.run(add(static_cast<std::int64_t>(count)), {f.make(range(count)), f.make(range(count, 5))});
    CHECK(f.read(out) == range(count, 5, 2));
  }
}

TEST_CASE("a thousand dependent launches take one pass, one encoder and few bind groups") {
  const Fixture f;
  const ir::KernelRef kernel = add(64);
  const Handle one = f.make(std::vector<float>(64, 1));
  Handle x = f.make(std::vector<float>(64, 0));
  f.flush();
  const Statistics before = f.statistics();
  for (int i = 0; i < 1000; ++i) x = f.run(kernel, {x, one});
  const Statistics recorded = f.statistics() - before;
  CHECK(recorded.dispatches == 1000);
  CHECK(recorded.passes == 1);
  CHECK(recorded.submits == 0);
  CHECK(recorded.pipelines <= 1);
  CHECK(recorded.bind_groups < 20);
  CHECK(recorded.waits == 0);
  f.flush();
  CHECK((f.statistics() - before).submits == 1);
  CHECK(f.read(x) == std::vector<float>(64, 1000));
}

TEST_CASE("parameters of thousands of launches in one encoder do not disturb each other") {
  const Fixture f;
  const ir::KernelRef kernel = affine(4);
  const Handle ones = f.make(std::vector<float>(4, 1));
  std::vector<Handle> outs;
  for (int i = 0; i < 3000; ++i) outs.push_back(f.run(kernel, {ones}, {static_cast<float>(i), 0.5f}));
  // The next encoder uses the same uniform buffers while the first may still run.
  f.flush();
  for (int i = 0; i < 10; ++i) outs.push_back(f.run(kernel, {ones}, {static_cast<float>(-i), 0.25f}));
  for (const std::size_t i : {0u, 1u, 1023u, 1024u, 2048u, 2999u})
    CHECK(f.read(outs[i]) == std::vector<float>(4, static_cast<float>(i) + 0.5f));
  CHECK(f.read(outs[3009]) == std::vector<float>(4, -9 + 0.25f));
}

TEST_CASE("parameters that one encoder shares with the one before, or with one that was dropped, arrive") {
  const Fixture f;
  const ir::KernelRef kernel = affine(4);
  const Handle ones = f.make(std::vector<float>(4, 1));
  for (const float first : {3.0f, 3.0f, 4.0f, 3.0f, 0.0f}) {
    const Handle a = f.run(kernel, {ones}, {first, 0});
    const Handle b = f.run(kernel, {ones}, {7, first});
    f.flush();
    CHECK(f.read(a) == std::vector<float>(4, first));
    CHECK(f.read(b) == std::vector<float>(4, 7 + first));
  }
  WGPUBuffer own = f.app.make_buffer(256, WGPUBufferUsage_Storage | WGPUBufferUsage_CopyDst | WGPUBufferUsage_CopySrc);
  const Handle imported = runtime::webgpu::import_buffer(*f.channel, own, 0, 16).value();
  (void)f.run(kernel, {imported}, {11, 12});
  wgpuBufferDestroy(own);
  CHECK_THROWS_AS(f.flush(), Error);
  wgpuBufferRelease(own);
  CHECK(f.read(f.run(kernel, {ones}, {11, 12})) == std::vector<float>(4, 23));
}

TEST_CASE("equal kernels share one pipeline, whatever object and label they have") {
  const Fixture f;
  const Handle x = f.make(range(16));
  CHECK(f.read(f.run(add(16), {x, f.make(range(16))})) == range(16, 0, 2));
  const Statistics before = f.statistics();
  ir::Kernel other = *add(16);
  other.label = "plus";
  CHECK(f.read(f.run(ir::finish(std::move(other)), {x, f.make(range(16))})) == range(16, 0, 2));
  CHECK((f.statistics() - before).pipelines == 0);
}

TEST_CASE("statistics count each pipeline when it is built: a launch's, and every stage of a reduction") {
  const Fixture f;
  const Handle x = f.make(range(16));
  auto built = [&f, last = f.statistics().pipelines]() mutable {
    const std::uint64_t before = std::exchange(last, f.statistics().pipelines);
    return last - before;
  };
  (void)f.run(add(16), {x, x});
  CHECK(built() == 1);
  (void)f.run(add(16), {x, x});
  CHECK(built() == 0);
  (void)f.run(affine(16), {x}, {1, 1});
  (void)f.run(fill(16), {}, {1});
  CHECK(built() == 2);
  const Handle many = f.run(fill(1 << 20), {}, {1});
  CHECK(built() == 1);
  (void)f.run(sum(1 << 20), {many});
  CHECK(built() == 2);
}

TEST_CASE("a user's source is compiled once, whatever grids it is launched with") {
  const Fixture f;
  const std::string count =
      "@group(0) @binding(0) var<storage, read_write> out: array<f32>;\n"
      "@compute @workgroup_size(1) fn main(@builtin(workgroup_id) i: vec3<u32>) { out[i.x] = 1.0; }\n";
  const Statistics before = f.statistics();
  for (std::uint32_t grid = 1; grid <= 40; ++grid) {
    const Handle out = f.make(std::vector<float>(64, 0));
    const Handle bindings[] = {out};
    f.client.launch(source("count", count, 1, grid), bindings, {}).value();
    std::vector<float> expected(64, 0);
    std::fill_n(expected.begin(), grid, 1.0f);
    CHECK(f.read(out) == expected);
  }
  CHECK((f.statistics() - before).pipelines == 1);
}

TEST_CASE("one memory may be bound as two inputs when the kernel binds it once") {
  const Fixture f;
  ir::Kernel square;
  square.label = "square";
  square.bindings = {DType::f32, DType::f32};
  square.extent = {8};
  const Expr x = Expr::load(0, DType::f32, {Expr::coordinate(0)});
  square.value = x * x;
  CHECK(f.read(f.run(ir::finish(std::move(square)), {f.make(range(8))}))[7] == 49);
}

TEST_CASE("a reduction over many elements uses scratch memory and gives it back") {
  const Fixture f;
  const std::size_t count = 1 << 20;
  const Handle x = f.make(std::vector<float>(count, 0.5f));
  Handle total = f.run(sum(static_cast<std::int64_t>(count)), {x});
  CHECK(f.read(total) == std::vector<float>{static_cast<float>(count) / 2});
  const std::uint64_t in_use = f.channel->memory().usage().in_use;
  for (int i = 0; i < 50; ++i) total = f.run(sum(static_cast<std::int64_t>(count)), {x});
  CHECK(f.channel->memory().usage().in_use <= in_use + 256);
}

TEST_CASE("a refused launch names itself and leaves what was recorded as it was") {
  const Fixture f;
  const Handle x = f.make(range(16));
  const Handle y = f.run(add(16), {x, f.make(range(16))});
  const Handle out = f.empty(8);
  const Handle few[] = {x, out};
  const Expected<void> wrong_count = f.client.launch(add(16), few, {});
  REQUIRE(!wrong_count);
  CHECK(wrong_count.error().message.find("add") != std::string::npos);
  const Handle short_output[] = {x, y, out};
  REQUIRE(!f.client.launch(add(16), short_output, {}));
  const Handle aliased[] = {x, y, x};
  REQUIRE(!f.client.launch(add(16), aliased, {}));
  CHECK(f.read(y) == range(16, 0, 2));
}

TEST_CASE("a source that does not compile fails with the compiler's line and does not disturb the device") {
  const Fixture f;
  const ir::KernelRef bad = source("mistaken",
                                   "@group(0) @binding(0) var<storage, read_write> x: array<f32>;\n"
                                   "@compute @workgroup_size(1) fn main() {\n"
                                   "  x[0] = no_such_name;\n"
                                   "}\n",
                                   1);
  Expected<void> compiled;
  CHECK(f.channel->call([&](runtime::Server& server) -> Expected<void> {
    compiled = server.compile(bad).result();
    return {};
  }));
  REQUIRE(!compiled);
  CHECK(compiled.error().code == ErrorCode::compilation);
  CHECK(compiled.error().message.find("mistaken") != std::string::npos);
  CHECK(compiled.error().message.find("no_such_name") != std::string::npos);
  CHECK(compiled.error().message.find(":3:") != std::string::npos);
  const Handle x = f.make(range(4));
  const Handle bindings[] = {x};
  const Expected<void> launched = f.client.launch(bad, bindings, {});
  REQUIRE(!launched);
  CHECK(launched.error().message.find(":3:") != std::string::npos);
  const ir::KernelRef no_entry = source("no entry", "@compute @workgroup_size(1) fn other() {}", 1);
  REQUIRE(!f.client.launch(no_entry, bindings, {}));
  CHECK(f.read(f.run(add(4), {x, f.make(range(4))})) == range(4, 0, 2));
}

TEST_CASE("a source may declare its inputs read, alone or with another memory of the same page") {
  const Fixture f;
  const ir::KernelRef kernel = source("difference",
                                      "@group(0) @binding(0) var<storage, read> a: array<f32>;\n"
                                      "@group(0) @binding(1) var<storage> b: array<f32>; // read is the default\n"
                                      "@group(0) @binding(2) var<storage, read_write> out: array<f32>;\n"
                                      "@compute @workgroup_size(16) fn main(@builtin(global_invocation_id) i: vec3<u32>) {\n"
                                      "  out[i.x] = a[i.x] - b[i.x];\n"
                                      "}\n",
                                      3);
  const Handle a = f.make(range(16, 3, 2));
  const Handle b = f.make(range(16));
  const Handle out = f.make(range(16));  // in the page of the others
  const Handle bindings[] = {a, b, out};
  f.client.launch(kernel, bindings, {}).value();
  CHECK(f.read(out) == range(16, 3, 1));
  CHECK(f.read(a) == range(16, 3, 2));  // moved, not lost
  const Handle same[] = {a, a, out};
  f.client.launch(kernel, same, {}).value();
  CHECK(f.read(out) == std::vector<float>(16, 0));
}

TEST_CASE("bind groups in the cache stay bounded, and results stay right beyond the bound") {
  const Fixture f;
  const ir::KernelRef kernel = add(4);
  std::vector<Handle> all;
  for (int i = 0; i < 9000; ++i) all.push_back(f.make(std::vector<float>(4, static_cast<float>(i))));
  Handle last;
  for (std::size_t i = 0; i + 1 < all.size(); ++i) last = f.run(kernel, {all[i], all[i + 1]});
  CHECK(f.read(last) == std::vector<float>(4, 8998 + 8999));
  CHECK(f.read(f.run(kernel, {all[0], all[1]})) == std::vector<float>(4, 1));
}

}  // namespace hearth::test
