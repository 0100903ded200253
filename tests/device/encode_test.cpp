#include "device/fixture.hpp"

namespace hearth::test {

namespace {

struct Scope {
  explicit Scope(const Fixture& fixture) : f(fixture), encoder(f.app.make_encoder()) {
    id = runtime::webgpu::begin_encoding(*f.channel, encoder).value();
  }
  void end() const { runtime::webgpu::end_encoding(*f.channel, id).value(); }
  void submit() {
    f.app.submit(encoder);
    runtime::webgpu::finish_encoding(*f.channel, id, true).value();
  }
  void discard() {
    wgpuCommandEncoderRelease(encoder);
    runtime::webgpu::finish_encoding(*f.channel, id, false).value();
  }
  const Fixture& f;
  WGPUCommandEncoder encoder;
  std::uint64_t id = 0;
};

ErrorCode code_of_read(const Fixture& f, const Handle& handle) {
  const Expected<std::vector<std::byte>> read = f.client.read(handle, 0, handle->size).result();
  REQUIRE(!read);
  return read.error().code;
}

}  // namespace

TEST_CASE("work in a scope is the app's to submit: uploads, parameters and launches, nothing by Hearth") {
  const Fixture f;
  const Handle weights = f.make(range(64));
  f.flush();
  const Statistics before = f.statistics();
  Handle result;
  for (int frame = 1; frame <= 3; ++frame) {
    Scope scope(f);
    const Handle input = f.make(std::vector<float>(64, static_cast<float>(frame)));
    Handle x = f.run(add(64), {input, weights});
    for (int i = 0; i < 200; ++i) x = f.run(affine(64), {x}, {1, static_cast<float>(i)});
    result = f.run(affine(64), {x}, {2, -1});
    scope.end();
    const RawResource raw = f.client.get_resource(result);  // its buffer, while the encoder is still open
    CHECK(raw.offset == 0);
    scope.submit();
    CHECK((f.statistics() - before).submits == 0);
    const float sum = 199 * 200 / 2;
    CHECK(f.app.read(static_cast<WGPUBuffer>(raw.buffer), raw.offset, 64)[3] == 2 * (static_cast<float>(frame) + 3 + sum) - 1);
  }
  CHECK(f.read(f.run(affine(64), {result}, {0, 4})) == std::vector<float>(64, 4));
}

TEST_CASE("what was pending before a scope goes to the queue first") {
  const Fixture f;
  const Handle x = f.run(affine(64), {f.make(range(64))}, {5, 0});
  Scope scope(f);
  CHECK(f.statistics().submits == 1);
  const Handle y = f.run(affine(64), {x}, {1, 1});
  scope.end();
  scope.submit();
  CHECK(f.read(y) == range(64, 1, 5));
}

TEST_CASE("until it is submitted a scope's memory can be used in its encoder only") {
  const Fixture f;
  Scope scope(f);
  const Handle x = f.make(range(64));
  const Handle y = f.run(affine(64), {x}, {2, 0});
  scope.end();
  const Handle out = f.empty(64);
  const Handle bindings[] = {y, x, out};
  const Expected<void> launched = f.client.launch(add(64), bindings, {});
  REQUIRE(!launched);
  CHECK(launched.error().code == ErrorCode::not_submitted);
  CHECK(code_of_read(f, y) == ErrorCode::not_submitted);
  CHECK(!f.client.write(x, 0, bytes_of(range(64))));
  CHECK(!f.client.copy(y, 0, out, 0, 256));
  scope.submit();
  CHECK(f.read(y) == range(64, 0, 2));
}

TEST_CASE("memory that an open scope reads cannot be written before the app submits") {
  const Fixture f;
  const Handle weights = f.make(range(64));
  Scope scope(f);
  const Handle y = f.run(affine(64), {weights}, {2, 0});
  scope.end();
  CHECK(!f.client.write(weights, 0, bytes_of(range(64, 9))));
  CHECK(f.read(f.run(affine(64), {weights}, {1, 0})) == range(64));  // reading it is fine
  scope.submit();
  CHECK(f.read(y) == range(64, 0, 2));
  CHECK(f.client.write(weights, 0, bytes_of(range(64, 9))));
}

TEST_CASE("memory that a scope touched is not reused before the app submits") {
  const Fixture f;
  Handle input = f.make(range(64));
  f.flush();
  Scope scope(f);
  Handle temporary = f.run(affine(64), {input}, {2, 0});
  const Handle result = f.run(affine(64), {temporary}, {1, 1});
  scope.end();
  temporary = {};
  input = {};
  // Other work is submitted earlier than the open encoder, and takes whatever memory is free.
  std::vector<Handle> others;
  for (int i = 0; i < 200; ++i) others.push_back(f.run(fill(64), {}, {-7}));
  f.flush();
  scope.submit();
  CHECK(f.read(result) == range(64, 1, 2));
  for (const Handle& other : others) CHECK(f.read(other) == std::vector<float>(64, -7));
}

TEST_CASE("two scopes may be open at once, and be submitted in any order") {
  const Fixture f;
  Scope first(f);
  const Handle a = f.run(fill(64), {}, {1});
  first.end();
  Scope second(f);
  const Handle b = f.run(fill(64), {}, {2});
  const Handle out = f.empty(64);
  const Handle bindings[] = {a, b, out};
  CHECK(!f.client.launch(add(64), bindings, {}));  // a is the first one's
  second.end();
  second.submit();
  CHECK(f.read(b) == std::vector<float>(64, 2));
  first.submit();
  CHECK(f.read(f.run(add(64), {a, b})) == std::vector<float>(64, 3));
}

TEST_CASE("what a discarded encoder was to compute is lost, nothing else is") {
  const Fixture f;
  const Handle weights = f.make(range(64));
  Scope scope(f);
  const Handle y = f.run(affine(64), {weights}, {2, 0});
  scope.end();
  scope.discard();
  CHECK(code_of_read(f, y) == ErrorCode::not_submitted);
  CHECK(f.read(f.run(affine(64), {weights}, {1, 1})) == range(64, 1));
  const Handle out = f.empty(64);
  const Handle bindings[] = {y, weights, out};
  CHECK(!f.client.launch(add(64), bindings, {}));
}

TEST_CASE("copies, reductions and unaligned writes work inside a scope") {
  const Fixture f;
  const std::size_t count = 1 << 18;
  const Handle ones = f.make(std::vector<float>(count, 1));
  const Handle page = f.make(range(64));
  Scope scope(f);
  const Handle total = f.run(sum(count), {ones});
  const Handle copy = f.empty(64);
  f.client.copy(page, 0, copy, 0, 256).value();
  const std::byte byte[] = {std::byte{0}};
  f.client.write(copy, 7, byte).value();  // the top byte of element 1
  scope.end();
  CHECK(f.statistics().waits == 0);
  scope.submit();
  CHECK(f.read(total)[0] == static_cast<float>(count));
  const std::vector<float> got = f.read(copy);
  CHECK(got[0] == 0);
  CHECK(got[1] != 1);
  CHECK(got[2] == 2);
}

TEST_CASE("a scope inside a scope is refused") {
  const Fixture f;
  Scope scope(f);
  WGPUCommandEncoder other = f.app.make_encoder();
  const Expected<std::uint64_t> nested = runtime::webgpu::begin_encoding(*f.channel, other);
  REQUIRE(!nested);
  CHECK(nested.error().code == ErrorCode::invalid_argument);
  wgpuCommandEncoderRelease(other);
  scope.end();
  scope.submit();
}

TEST_CASE("a scope's memory goes back to the pool") {
  const Fixture f;
  std::uint64_t reserved = 0;
  for (int i = 0; i < 20; ++i) {
    {
      Scope scope(f);
      Handle x = f.make(range(1 << 20));
      for (int k = 0; k < 3; ++k) x = f.run(affine(1 << 20), {x}, {1, 1});
      scope.end();
      scope.submit();
    }
    f.flush();
    if (i == 2) reserved = f.channel->memory().usage().reserved;
  }
  CHECK(f.channel->memory().usage().reserved == reserved);
}

}  // namespace hearth::test
