#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "structured_test.hpp"

using namespace hearth;
using namespace structured_test;
using Index = std::vector<std::int64_t>;

TEST_CASE("full, zeros, ones and their likes") {
  for (const Place& place : places()) {
    INFO(place.name);
    CHECK_EQ(full({2, 3}, 0.5, place.device).read<float>().get(), std::vector<float>(6, 0.5f));
    CHECK_EQ(full({2, 3}, 0.5, place.device).dtype(), DType::f32);
    CHECK_EQ(zeros({3}, DType::i32, place.device).read<std::int32_t>().get(), std::vector<std::int32_t>(3, 0));
    CHECK_EQ(ones({2}, DType::boolean, place.device).read<bool>().get(), std::vector<bool>(2, true));
    CHECK_EQ(full({5}, -3, DType::i8, place.device).read<std::int8_t>().get(), std::vector<std::int8_t>(5, -3));
    CHECK_EQ(full({}, 4294967295.0, DType::u32, place.device).item<std::uint32_t>(), 4294967295u);
    const Tensor x = ones({2, 2}, DType::u8, place.device);
    CHECK_EQ(full_like(x, 200).read<std::uint8_t>().get(), std::vector<std::uint8_t>(4, 200));
    CHECK_EQ(zeros_like(x).dtype(), DType::u8);
    CHECK(zeros({2, 0}, place.device).read<float>().get().empty());
    CHECK_EQ(std::isinf(full({}, -INFINITY, place.device).item<float>()), true);
  }
}

TEST_CASE("arange, linspace and eye") {
  for (const Place& place : places()) {
    INFO(place.name);
    const Device& device = place.device;
    CHECK_EQ(arange(4, device).read<float>().get(), std::vector<float>{0, 1, 2, 3});
    CHECK_EQ(arange(5, 0, -2, DType::i32, device).read<std::int32_t>().get(), std::vector<std::int32_t>{5, 3, 1});
    CHECK_EQ(arange(-1, 1, 0.5, device).read<float>().get(), std::vector<float>{-1, -0.5, 0, 0.5});
    CHECK(arange(3, 3, 1, device).read<float>().get().empty());
    CHECK(arange(3, 0, 1, device).read<float>().get().empty());
    CHECK_EQ(arange(250, 256, 1, DType::u8, device).read<std::uint8_t>().get(),
             std::vector<std::uint8_t>{250, 251, 252, 253, 254, 255});
    const std::vector<float> line = linspace(0, 1, 11, device).read<float>().get();
    REQUIRE_EQ(line.size(), 11);
    CHECK_EQ(line.back(), 1.0f);
    CHECK_EQ(line[3], doctest::Approx(0.3));
    CHECK_EQ(linspace(2, 5, 1, device).read<float>().get(), std::vector<float>{2});
    CHECK(linspace(2, 5, 0, device).read<float>().get().empty());
    CHECK_EQ(eye(2, 3, DType::i32, device).read<std::int32_t>().get(), std::vector<std::int32_t>{1, 0, 0, 0, 1, 0});
    check_equal(eye(3, device), make({3, 3}, [](const Index& i) { return i[0] == i[1] ? 1.0 : 0.0; }), place.name);
  }
}

/// Philox 4x32-10 in 64-bit arithmetic.
static std::uint32_t philox(std::uint64_t seed, std::uint64_t offset, std::uint32_t index) {
  std::uint32_t c[4] = {index, 0, std::uint32_t(offset), std::uint32_t(offset >> 32)};
  std::uint32_t k[2] = {std::uint32_t(seed), std::uint32_t(seed >> 32)};
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t a = 0xD2511F53ull * c[0], b = 0xCD9E8D57ull * c[2];
    const std::uint32_t next[4] = {std::uint32_t(b >> 32) ^ c[1] ^ k[0], std::uint32_t(b), std::uint32_t(a >> 32) ^ c[3] ^ k[1],
                                   std::uint32_t(a)};
    std::copy(next, next + 4, c);
    k[0] += 0x9E3779B9u;
    k[1] += 0xBB67AE85u;
  }
  return c[0];
}

TEST_CASE("random bits are Philox 4x32-10, the same on every device") {
  CHECK_EQ(philox(0, 0, 0), 0x6627e8d5u);  // the paper's known answer for all zeros
  constexpr std::uint64_t seed = 0x0123456789abcdefull, offset = 0xfedcba9876543210ull;
  for (const Place& place : places()) {
    INFO(place.name);
    CHECK_EQ(random_bits({}, {}, place.device).item<std::uint32_t>(), 0x6627e8d5u);
    const std::vector<std::uint32_t> bits =
        random_bits({3, 5, 7}, {.seed = seed, .offset = offset}, place.device).read<std::uint32_t>().get();
    std::vector<std::uint32_t> expected;
    for (std::uint32_t i = 0; i < 105; ++i) expected.push_back(philox(seed, offset, i));
    CHECK_EQ(bits, expected);
    const std::vector<float> reals = uniform({105}, {.seed = seed, .offset = offset}, place.device).read<float>().get();
    std::size_t different = 0;
    for (std::size_t i = 0; i < reals.size(); ++i) different += reals[i] != static_cast<float>(expected[i] >> 8) / 16777216.0f;
    CHECK_EQ(different, 0);
  }
}

TEST_CASE("uniform and normal have their moments, and their seeds differ") {
  for (const Place& place : places()) {
    INFO(place.name);
    const Tensor u = uniform({100000}, {.seed = 5, .low = -1, .high = 3, .dtype = place.real}, place.device);
    CHECK_EQ(mean(u).item<double>(), doctest::Approx(1).epsilon(0.01));
    CHECK_GE(min(u).item<double>(), -1);
    CHECK_LE(max(u).item<double>(), 3);
    CHECK_EQ(var(u).item<double>(), doctest::Approx(16.0 / 12).epsilon(0.01));
    const Tensor n = normal({100000}, {.seed = 6, .mean = 2, .deviation = 0.5, .dtype = place.real}, place.device);
    CHECK_EQ(mean(n).item<double>(), doctest::Approx(2).epsilon(0.01));
    CHECK_EQ(var(n).item<double>(), doctest::Approx(0.25).epsilon(0.02));
    CHECK_EQ(mean(pow((n - 2.0) / 0.5, 4.0)).item<double>(), doctest::Approx(3).epsilon(0.05));  // kurtosis
    CHECK_GT(sum(abs(u - uniform({100000}, {.seed = 7, .low = -1, .high = 3, .dtype = place.real}, place.device))).item<double>(),
             1000);
    CHECK_GT(sum(abs(u - uniform({100000}, {.seed = 5, .offset = 1, .low = -1, .high = 3, .dtype = place.real}, place.device)))
                 .item<double>(),
             1000);
    const std::vector<std::int32_t> dice =
        uniform({6000}, {.seed = 1, .low = -3, .high = 3, .dtype = DType::i32}, place.device).read<std::int32_t>().get();
    for (std::int32_t face = -3; face < 3; ++face)
      CHECK_EQ(std::count(dice.begin(), dice.end(), face), doctest::Approx(1000).epsilon(0.1));
    CHECK(uniform({0}, {}, place.device).read<float>().get().empty());
  }
}

TEST_CASE("uniform gives bytes of the whole range that is asked for, and nothing else") {
  struct Range {
    DType dtype;
    int low, high;
  };
  for (const Place& place : places()) {
    INFO(place.name);
    for (const auto& [dtype, low, high] : {Range{DType::u8, 0, 256}, Range{DType::u8, 250, 253}, Range{DType::i8, -128, 128},
                                           Range{DType::i8, -3, -1}, Range{DType::i8, 126, 128}}) {
      INFO(to_string(dtype), " from ", low, " to ", high);
      const UniformOptions options{.seed = 3, .low = double(low), .high = double(high), .dtype = dtype};
      const Tensor t = uniform({20001}, options, place.device);
      CHECK_EQ(t.dtype(), dtype);
      const std::vector<std::int32_t> values = t.read<std::int32_t>().get();
      const double expected = 20001.0 / (high - low);
      for (int value = low; value < high; ++value) {
        const auto count = static_cast<double>(std::count(values.begin(), values.end(), value));
        CHECK_LT(std::abs(count - expected), 6 * std::sqrt(expected));
      }
      CHECK_EQ(std::count_if(values.begin(), values.end(), [&](int v) { return v < low || v >= high; }), 0);
      CHECK_EQ(uniform({20001}, options, Device::cpu()).read<std::int32_t>().get(), values);
    }
  }
}

TEST_CASE("a new seed or value needs no new kernel") {
  for (const Place& place : places()) {
    if (place.name.rfind("WebGPU", 0) != 0) continue;
    INFO(place.name);
    const auto run = [&](double value, std::uint64_t seed) {
      (void)full({33}, value, place.device).read<float>().get();
      (void)uniform({33}, {.seed = seed}, place.device).read<float>().get();
    };
    run(1, 1);
    const Statistics before = place.device.statistics();
    run(2, 2);
    CHECK_EQ((place.device.statistics() - before).pipelines, 0);
  }
}

TEST_CASE("tensors print like NumPy") {
  const Device cpu = Device::cpu();
  const auto reals = [&](const std::vector<float>& values, const Shape& shape) {
    return to_string(tensor<float>(values, shape, cpu));
  };
  CHECK_EQ(reals({1, 2, 3, 4}, {2, 2}), "[[1. 2.]\n [3. 4.]]");
  CHECK_EQ(reals({1, 2.5f, -0.125f}, {3}), "[ 1.     2.5   -0.125]");
  CHECK_EQ(reals({0.1f, 0.2f}, {2}), "[0.1 0.2]");
  CHECK_EQ(reals({1e-10f, 1.5f}, {2}), "[1.0e-10 1.5e+00]");
  CHECK_EQ(reals({1e10f}, {1}), "[1.e+10]");
  CHECK_EQ(reals({NAN, INFINITY, -INFINITY, 1}, {4}), "[ nan  inf -inf   1.]");
  CHECK_EQ(reals({1.5f}, {}), "1.5");
  CHECK_EQ(reals({2}, {}), "2.0");
  CHECK_EQ(reals({1, 2, 3, 4}, {2, 1, 2}), "[[[1. 2.]]\n\n [[3. 4.]]]");
  CHECK_EQ(to_string(tensor<std::int32_t>(std::vector<std::int32_t>{1, -20, 300}, {3}, cpu)), "[  1 -20 300]");
  CHECK_EQ(to_string(tensor<bool>(std::vector<bool>{true, false}, {2}, cpu)), "[ True False]");
  CHECK_EQ(to_string(zeros({0}, cpu)), "[]");
  CHECK_EQ(to_string(zeros({2, 0}, cpu)), "[] (shape [2, 0])");
  CHECK_EQ(to_string(arange(2000, DType::i32, cpu)), "[   0    1    2 ... 1997 1998 1999]");
  CHECK_EQ(to_string(arange(30, DType::i32, cpu)),
           "[ 0  1  2  3  4  5  6  7  8  9 10 11 12 13 14 15 16 17 18 19 20 21 22 23\n 24 25 26 27 28 29]");
  CHECK_EQ(
      to_string(reshape(arange(2500, DType::i32, cpu), {50, 50})),
      "[[   0    1    2 ...   47   48   49]\n [  50   51   52 ...   97   98   99]\n [ 100  101  102 ...  147  148  149]\n ...\n"
      " [2350 2351 2352 ... 2397 2398 2399]\n [2400 2401 2402 ... 2447 2448 2449]\n [2450 2451 2452 ... 2497 2498 2499]]");
}
