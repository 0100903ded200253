#include "ops/lane_checks.hpp"

/// The rows of the public bug reports that are about memory and the order of work.
namespace {

using namespace hearth;       // NOLINT
using namespace lane_checks;  // NOLINT

TEST_CASE("a small write leaves its neighbours in the pool alone") {
  on_every_device([](const Device& device) {
    // Sizes around the 4- and 16-byte steps of copies; all live in one page.
    std::vector<Tensor> tensors;
    std::vector<std::vector<std::uint8_t>> expected;
    for (int size = 1; size <= 33; ++size) {
      std::vector<std::uint8_t> values(static_cast<std::size_t>(size), static_cast<std::uint8_t>(size * 7));
      tensors.push_back(tensor(values, {size}, device));
      expected.push_back(std::move(values));
    }
    const Tensor six = floats(counting(6), device);  // 24 bytes
    const Tensor after = floats({-1, -2}, device);
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      INFO("size ", i + 1);
      CHECK(tensors[i].read<std::uint8_t>().get() == expected[i]);
    }
    CHECK(read(six) == counting(6));
    CHECK(read(after) == Floats{-1, -2});
  });
}

TEST_CASE("three hundred uploads in a row keep their values") {
  on_every_device([](const Device& device) {
    std::vector<Tensor> tensors;
    for (int i = 0; i < 300; ++i) tensors.push_back(floats(Floats(100, static_cast<float>(i)), device));
    for (std::size_t i : {std::size_t(0), std::size_t(1), std::size_t(150), std::size_t(299)})
      CHECK(read(tensors[i]) == Floats(100, static_cast<float>(i)));
  });
}

TEST_CASE("reads in flight at once each get their own bytes") {
  on_every_device([](const Device& device) {
    const Tensor a = floats(counting(1000), device);
    const Tensor b = a * 2;
    Future<Floats> first = a.read<float>();
    Future<Floats> second = b.read<float>();
    Future<Floats> third = (a + 1).read<float>();
    const Floats twice = second.get();
    CHECK((twice[1] == 2 && twice[999] == 1998));
    CHECK(first.get() == counting(1000));
    CHECK(third.get()[0] == 1);
  });
}

TEST_CASE("ten thousand operations without a wait give the same values, in bounded memory") {
  on_every_device([](const Device& device) {
    Tensor x = floats(Floats(64, 0), device);
    const Tensor one = floats(Floats(64, 1), device);
    std::uint64_t early = 0;
    for (int i = 0; i < 10000; ++i) {
      x = x + one;
      if (i % 50 == 49) device.sync(SyncType::flush);
      if (i == 1000) early = device.memory_usage().reserved;
    }
    CHECK(read(x) == Floats(64, 10000));
    CHECK(device.memory_usage().reserved <= early);
  });
}

TEST_CASE("large tensors made and dropped leave memory flat") {
  on_every_device([](const Device& device) {
    std::uint64_t after_three = 0;
    std::uint64_t in_use = 0;
    for (int round = 0; round < 1000; ++round) {
      // As memory, not as values to be filled: the pool is what is tested.
      std::vector<Handle> handles;
      for (int i = 0; i < 5; ++i) handles.push_back(device.client().empty(16u << 20).value());
      // The first rounds use them, so that they have a place.
      if (round < 4 || round % 250 == 0) {
        const Floats few(4, static_cast<float>(round));
        for (const Handle& handle : handles) device.client().write(handle, 0, std::as_bytes(std::span<const float>(few))).value();
        device.sync(SyncType::flush);
      }
      if (round == 3) {
        after_three = device.memory_usage().reserved;
        in_use = device.memory_usage().in_use;
      }
    }
    CHECK(device.memory_usage().reserved <= after_three);
    CHECK(device.memory_usage().in_use <= in_use);
  });
}

TEST_CASE("real tensors made and dropped leave memory flat") {
  on_every_device([](const Device& device) {
    std::uint64_t after_three = 0;
    for (int round = 0; round < 40; ++round) {
      const Tensor a = full({1 << 18}, round, device);
      const Tensor b = a * a + 1;
      const Tensor c = sum(b);
      device.sync(SyncType::flush);
      if (round == 3) after_three = device.memory_usage().reserved;
    }
    CHECK(device.memory_usage().reserved <= after_three);
  });
}

}  // namespace
