#include <limits>

#include "ops/lane_checks.hpp"

/// The rows of the public bug reports that are about memory and the order of work.
namespace {

using namespace hearth;       // NOLINT
using namespace lane_checks;  // NOLINT

TEST_CASE("case 15: a small write leaves its neighbours in the pool alone") {
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

TEST_CASE("case 16: three hundred uploads in a row keep their values") {
  on_every_device([](const Device& device) {
    std::vector<Tensor> tensors;
    for (int i = 0; i < 300; ++i) tensors.push_back(floats(Floats(100, static_cast<float>(i)), device));
    for (std::size_t i : {std::size_t(0), std::size_t(1), std::size_t(150), std::size_t(299)})
      CHECK(read(tensors[i]) == Floats(100, static_cast<float>(i)));
  });
}

TEST_CASE("case 17: reads in flight at once each get their own bytes") {
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

TEST_CASE("case 19: ten thousand operations without a wait give the same values, in bounded memory") {
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

TEST_CASE("case 22: large tensors made and dropped leave memory flat") {
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

TEST_CASE("case 22: tensors of 16 MB that are computed and dropped leave memory flat, without a wait too") {
  on_every_device([](const Device& device) {
    const std::int64_t count = 4 << 20;
    const Tensor start = full({count}, 1, device);
    device.sync(SyncType::wait);
    const MemoryUsage before = device.memory_usage();
    std::uint64_t after_three = 0;
    for (int round = 0; round < 60; ++round) {
      std::vector<Tensor> five;
      for (int i = 0; i < 5; ++i) five.push_back(start + double(round * 5 + i));
      // Dropped while the device has only heard of them, and every tenth time after it has finished.
      device.sync(round % 10 == 9 ? SyncType::wait : SyncType::flush);
      if (round % 20 == 0) CHECK(read(slice(five[4], {count - 1}, {count})) == Floats{static_cast<float>(round * 5 + 5)});
      if (round == 3) after_three = device.memory_usage().reserved;
    }
    CHECK(device.memory_usage().reserved <= after_three);
    CHECK(device.memory_usage().in_use == before.in_use);
    CHECK(device.memory_usage().allocations == before.allocations);
  });
}

/// What lies around a tensor in its page.
struct Neighbours {
  explicit Neighbours(const Device& device) {
    for (int i = 0; i < 8; ++i)
      tensors.push_back(floats(Floats(static_cast<std::size_t>(60 + i), 40.0f + static_cast<float>(i)), device));
  }
  void check() const {
    for (std::size_t i = 0; i < tensors.size(); ++i) CHECK(read(tensors[i]) == Floats(60 + i, 40.0f + static_cast<float>(i)));
  }
  std::vector<Tensor> tensors;
};

template <typename T>
void check_out_of_range(const Device& device, const std::vector<T>& outside) {
  const Neighbours before(device);
  // Every index that is outside stands between one that is not: 1, outside, 1, outside... and 1 at the end.
  std::vector<T> values;
  for (const T index : outside) {
    values.push_back(1);
    values.push_back(index);
  }
  values.push_back(1);
  const auto n = static_cast<std::int64_t>(values.size());
  const auto inside = static_cast<double>(outside.size() + 1);
  const Tensor index = tensor(values, {n}, device);
  for (const DType dtype : {DType::f32, DType::i32, DType::u32, DType::i8, DType::u8, DType::f16}) {
    if (dtype == DType::f16 && !device.info().f16) continue;
    INFO(to_string(dtype));
    const Tensor x = floats({3, 5, 7}, device).astype(dtype);
    const Tensor many = floats(Floats(values.size(), 2), device).astype(dtype);
    const Neighbours after(device);
    Floats read_there, counted;
    for (std::int64_t i = 0; i < n; ++i) read_there.push_back(i % 2 == 0 ? 5.0f : 0.0f);
    const auto as_floats = [](const Tensor& t) { return read(t.astype(DType::f32)); };
    CHECK(as_floats(gather(x, 0, index)) == read_there);
    CHECK(as_floats(index_select(x, 0, index)) == read_there);
    const Floats added{0, static_cast<float>(2 * inside), 0};
    CHECK(as_floats(scatter_add(many, 0, index, 3)) == added);
    CHECK(as_floats(index_add(many, 0, index, 3)) == added);
    CHECK(as_floats(sum(one_hot(index, 3, dtype), {0})) == Floats{0, static_cast<float>(inside), 0});
    if (is_float(dtype)) {
      const Tensor leaf = x.require_grad();
      CHECK(as_floats(sum(gather(leaf, 0, index)).backward().of(leaf)) == Floats{0, static_cast<float>(inside), 0});
      const Tensor summand = many.require_grad();
      Floats ones_inside = read_there;
      for (float& v : ones_inside) v /= 5;
      CHECK(as_floats(sum(index_add(summand, 0, index, 3)).backward().of(summand)) == ones_inside);
    }
    CHECK(as_floats(x) == Floats{3, 5, 7});
    after.check();
  }
  before.check();
}

TEST_CASE("case 18: an index out of range reads 0, adds nothing, and changes no other tensor") {
  on_every_device([](const Device& device) {
    check_out_of_range<std::int32_t>(device, {3, 4, 64, 1 << 20, std::numeric_limits<std::int32_t>::max(), -4, -5, -1000,
                                              std::numeric_limits<std::int32_t>::min()});
    check_out_of_range<std::uint32_t>(device, {3, 64, 0x7fffffffu, 0x80000000u, 0xffffffffu});
    check_out_of_range<std::int8_t>(device, {3, 127, -4, -128});
    check_out_of_range<std::uint8_t>(device, {3, 128, 255});
  });
}

}  // namespace
