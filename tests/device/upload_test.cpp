#include <algorithm>

#include "device/fixture.hpp"

namespace hearth::test {

TEST_CASE("an upload is ordered with the launches around it") {
  const Fixture f;
  const ir::KernelRef kernel = add(64);
  const Handle zero = f.make(std::vector<float>(64, 0));
  const Handle x = f.make(std::vector<float>(64, 1));
  std::vector<Handle> seen;
  for (int i = 2; i < 10; ++i) {
    seen.push_back(f.run(kernel, {x, zero}));  // reads what is there before the next write
    f.client.write(x, 0, bytes_of(std::vector<float>(64, static_cast<float>(i)))).value();
  }
  for (int i = 1; i < 9; ++i)
    CHECK(f.read(seen[static_cast<std::size_t>(i - 1)]) == std::vector<float>(64, static_cast<float>(i)));
  CHECK(f.read(x) == std::vector<float>(64, 9));
}

TEST_CASE("memory that pending work used is not overwritten by an upload into its next owner") {
  const Fixture f;
  const ir::KernelRef kernel = add(64);
  const Handle one = f.make(std::vector<float>(64, 1));
  const Handle two = f.make(std::vector<float>(64, 2));
  f.flush();
  std::vector<Handle> results, uploads;
  for (int i = 0; i < 20; ++i) {
    Handle temporary = f.run(kernel, {one, two});
    results.push_back(f.run(kernel, {temporary, two}));
    temporary = {};  // its slice is free, the launches are not submitted
    uploads.push_back(f.make(std::vector<float>(64, static_cast<float>(100 + i))));
  }
  for (int i = 0; i < 20; ++i) {
    CHECK(f.read(results[static_cast<std::size_t>(i)]) == std::vector<float>(64, 5));
    CHECK(f.read(uploads[static_cast<std::size_t>(i)]) == std::vector<float>(64, static_cast<float>(100 + i)));
  }
}

TEST_CASE("300 uploads in a row do not wait and do not submit") {
  const Fixture f;
  std::vector<Handle> all;
  const Statistics before = f.statistics();
  for (int i = 0; i < 300; ++i) all.push_back(f.make(range(1000, static_cast<float>(i))));
  const Statistics after = f.statistics() - before;
  CHECK(after.waits == 0);
  CHECK(after.submits == 0);
  CHECK(after.bytes_written == 300u * 4000u);
  CHECK(f.read(all[0]) == range(1000, 0));
  CHECK(f.read(all[299]) == range(1000, 299));
}

TEST_CASE("300 uploads into memory in use do not wait, and each reader sees its own") {
  const Fixture f;
  const ir::KernelRef kernel = affine(16);
  const Handle x = f.make(std::vector<float>(16, -1));
  std::vector<Handle> seen;
  for (int i = 0; i < 300; ++i) {
    seen.push_back(f.run(kernel, {x}, {1, 0}));
    f.client.write(x, 0, bytes_of(std::vector<float>(16, static_cast<float>(i)))).value();
  }
  CHECK(f.statistics().waits == 0);
  CHECK(f.read(seen[0])[0] == -1);
  for (const std::size_t i : {1u, 150u, 299u}) CHECK(f.read(seen[i]) == std::vector<float>(16, static_cast<float>(i - 1)));
}

TEST_CASE("an upload alone is pushed by a flush, and one flush is one submit") {
  const Fixture f;
  const Handle x = f.make(range(64));
  const Statistics before = f.statistics();
  f.flush();
  CHECK((f.statistics() - before).submits == 1);
  f.flush();
  CHECK((f.statistics() - before).submits == 1);
  // The app's own copy sees it by queue order alone.
  const RawResource raw = f.client.get_resource(x);
  CHECK(f.app.read(static_cast<WGPUBuffer>(raw.buffer), raw.offset, 64) == range(64));
}

TEST_CASE("a write of any length and place leaves the bytes around it") {
  const Fixture f;
  for (const std::size_t offset : {0u, 1u, 2u, 3u, 4u, 7u, 24u}) {
    for (const std::size_t size : {1u, 2u, 3u, 4u, 5u, 24u, 31u}) {
      std::vector<std::byte> expected(64);
      for (std::size_t i = 0; i < expected.size(); ++i) expected[i] = static_cast<std::byte>(i + 1);
      const Handle x = f.client.create(expected).value();
      std::vector<std::byte> bytes(size, std::byte{0xee});
      std::copy(bytes.begin(), bytes.end(), expected.begin() + static_cast<std::ptrdiff_t>(offset));
      f.client.write(x, offset, bytes).value();
      CHECK(f.client.read(x, 0, 64).get() == expected);
    }
  }
}

TEST_CASE("a write of 24 bytes leaves bytes 24 to 31 and the neighbour in the page") {
  const Fixture f;
  const Handle before = f.make(range(64, 100));
  const Handle x = f.make(range(8, 1));
  const Handle after = f.make(range(64, 200));
  f.client.write(x, 0, bytes_of(std::vector<float>(6, 0))).value();
  CHECK(f.read(x) == std::vector<float>{0, 0, 0, 0, 0, 0, 7, 8});
  CHECK(f.read(before) == range(64, 100));
  CHECK(f.read(after) == range(64, 200));
}

TEST_CASE("memory of a size that is no multiple of 4 keeps its last bytes") {
  const Fixture f;
  for (std::size_t size = 1; size < 10; ++size) {
    std::vector<std::byte> bytes(size);
    for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::byte>(200 + i);
    const Handle x = f.client.create(bytes).value();
    CHECK(f.client.read(x, 0, size).get() == bytes);
    CHECK(f.client.read(x, size - 1, 1).get() == std::vector<std::byte>{bytes.back()});
  }
}

TEST_CASE("an upload and a read of more bytes than one piece arrive whole") {
  const Fixture f;
  const std::size_t count = 25u << 20;  // 100 MiB
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<float>(i % 9973);
  const Handle x = f.make(values);
  CHECK(f.read(x) == values);
}

TEST_CASE("copies go between memories, within one page and within one memory, at any byte") {
  const Fixture f;
  const Handle a = f.make(range(64));
  const Handle b = f.make(range(64, 1000));
  f.client.copy(a, 0, b, 128, 64).value();  // both lie in one page
  std::vector<float> expected = range(64, 1000);
  for (int i = 0; i < 16; ++i) expected[static_cast<std::size_t>(32 + i)] = static_cast<float>(i);
  CHECK(f.read(b) == expected);
  const Handle large = f.empty(1 << 20);  // an own buffer
  f.client.copy(b, 0, large, 4096, 256).value();
  CHECK(floats(f.client.read(large, 4096, 256).get()) == expected);
  f.client.copy(a, 0, a, 64, 128).value();  // overlapping itself: as if by way of another
  std::vector<float> moved = range(64);
  for (int i = 0; i < 32; ++i) moved[static_cast<std::size_t>(16 + i)] = static_cast<float>(i);
  CHECK(f.read(a) == moved);

  std::vector<std::byte> from(40), to(40, std::byte{7});
  for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<std::byte>(i + 50);
  const Handle x = f.client.create(from).value();
  const Handle y = f.client.create(to).value();
  f.client.copy(x, 3, y, 6, 13).value();
  std::copy_n(from.begin() + 3, 13, to.begin() + 6);
  CHECK(f.client.read(y, 0, 40).get() == to);
}

TEST_CASE("tensors made and dropped a thousand times take flat memory") {
  const Fixture f;
  const ir::KernelRef kernel = fill(1 << 20);
  std::uint64_t reserved = 0;
  for (int i = 0; i < 100; ++i) {
    for (int k = 0; k < 3; ++k) (void)f.run(kernel, {}, {1});
    f.flush();
    if (i == 5) reserved = f.channel->memory().usage().reserved;
  }
  CHECK(f.channel->memory().usage().reserved == reserved);
}

}  // namespace hearth::test
