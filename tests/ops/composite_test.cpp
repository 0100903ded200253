#include <cmath>
#include <limits>

#include "ops/lane_checks.hpp"

/// What is made of blocks: choices, statistics, softmax; promotion, numbers and the sentences of mistakes.
namespace {

using namespace hearth;       // NOLINT
using namespace lane_checks;  // NOLINT

/// d sum(f(x) * w) / dx by differences, in f64 on the CPU, against backward on `device`.
template <typename F>
void check_gradient(const Device& device, const Floats& values, const Shape& shape, F f) {
  const Device cpu = devices::cpu()[0].device;
  const auto weighted = [&f](const Tensor& x) {
    const Tensor y = f(x);
    return sum(y * reshape(sin(arange(double(y.elements()), y.dtype(), y.device()) + 1), y.shape()));
  };
  const Tensor leaf = tensor(values, shape, device).require_grad();
  const Floats got = read(weighted(leaf).backward().of(leaf));
  Floats expected;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto at = [&](double d) {
      std::vector<double> moved(values.begin(), values.end());
      moved[i] += d;
      return weighted(tensor(moved, shape, cpu)).template item<double>();
    };
    expected.push_back(static_cast<float>((at(1e-5) - at(-1e-5)) / 2e-5));
  }
  check_close(got, expected, 2e-5);
}

const Floats six{0.3f, -1.2f, 0.8f, 2.1f, -0.4f, 1.7f};

TEST_CASE("softmax and its kin have the gradients of their formulas") {
  on_every_device([](const Device& device) {
    check_gradient(device, six, {2, 3}, [](const Tensor& x) { return softmax(x); });
    check_gradient(device, six, {2, 3}, [](const Tensor& x) { return softmax(x, 0, {.masked_rows_are_zero = true}); });
    check_gradient(device, six, {2, 3}, [](const Tensor& x) { return log_softmax(x); });
    check_gradient(device, six, {2, 3}, [](const Tensor& x) { return logsumexp(x, {1}); });
  });
}

TEST_CASE("variance is the mean squared distance, with a correction and a gradient") {
  on_every_device([](const Device& device) {
    const Tensor x = tensor<float>({1, 2, 3, 4, 10, 10}, {2, 3}, device);
    check_close(read(var(x, {1})), {2.0f / 3, 8}, 1e-6);
    check_close(read(var(x, {1}, {.correction = 1})), {1, 12}, 1e-6);
    check_close(read(stddev(x, {1}, {.keep_dims = true, .correction = 1})), {1, std::sqrt(12.0f)}, 1e-6);
    CHECK(var(x, {1}, {.keep_dims = true}).shape() == Shape{2, 1});
    CHECK(std::isnan(var(floats({5}, device), {}, {.correction = 1}).item<float>()));
    // Far from 0 the two passes keep the digits.
    check_close(read(var(floats({10000, 10001, 10002}, device))), {2.0f / 3}, 1e-5);
    check_gradient(device, six, {2, 3}, [](const Tensor& t) { return var(t, {1}); });
    check_gradient(device, six, {2, 3}, [](const Tensor& t) { return stddev(t, {0}); });
  });
}

TEST_CASE("where and clamp pass the gradient to what was chosen") {
  on_every_device([](const Device& device) {
    const Tensor x = floats({-2, -1, 0.5f, 3}, device).require_grad();
    CHECK(read(clamp(x, -1, 1)) == Floats{-1, -1, 0.5f, 1});
    CHECK(read(sum(clamp(x, -1, 1)).backward().of(x)) == Floats{0, 1, 1, 0});
    CHECK(read(sum(where(greater(x, 0), x * 2, x * 3)).backward().of(x)) == Floats{3, 3, 2, 2});
    const Tensor low = floats({0}, device).require_grad();
    CHECK(read(sum(clamp(x, low, floats({1}, device))).backward().of(low)) == Floats{2});
    CHECK(std::isnan(read(clamp(floats({std::numeric_limits<float>::quiet_NaN()}, device), 0, 1))[0]));
    CHECK(clamp(ints({-5, 5, 50}, device), 0, 10).read<std::int32_t>().get() == Ints{0, 5, 10});
    CHECK(clamp(ints({1}, device), 0.5, 10).dtype() == DType::f32);
  });
}

TEST_CASE("the gradient of a product with zeros is the product of the others") {
  on_every_device([](const Device& device) {
    const Tensor x = tensor<float>({2, 3, 4, 2, 0, 4, 0, 0, 4}, {3, 3}, device).require_grad();
    CHECK(read(sum(prod(x, {1})).backward().of(x)) == Floats{12, 8, 6, 0, 8, 0, 0, 0, 0});
  });
}

TEST_CASE("equal extremes share the gradient") {
  on_every_device([](const Device& device) {
    const Tensor x = tensor<float>({1, 5, 5, 2, 1, 0}, {2, 3}, device).require_grad();
    CHECK(read(sum(max(x, {1})).backward().of(x)) == Floats{0, 0.5f, 0.5f, 1, 0, 0});
    CHECK(read(sum(min(x, {1})).backward().of(x)) == Floats{1, 0, 0, 0, 0, 1});
  });
}

TEST_CASE("broadcasting sums the gradient back") {
  on_every_device([](const Device& device) {
    const Tensor column = tensor<float>({1, 2}, {2, 1}, device).require_grad();
    const Tensor row = floats({3, 4, 5}, device).require_grad();
    const Gradients gradients = sum(column * row).backward();
    CHECK(read(gradients.of(column)) == Floats{12, 12});
    CHECK(read(gradients.of(row)) == Floats{3, 3, 3});
    CHECK(gradients.of(column).shape() == Shape{2, 1});
  });
}

TEST_CASE("mixed dtypes are promoted, and numbers adapt to the tensor") {
  on_every_device([](const Device& device) {
    const Tensor f = floats({1.5f, -2.5f}, device);
    const Tensor i = ints({7, -7}, device);
    const Tensor u = tensor(std::vector<std::uint8_t>{200, 100}, {2}, device);
    const Tensor b = tensor(std::vector<bool>{true, false}, {2}, device);
    CHECK(read(f + i) == Floats{8.5f, -9.5f});
    CHECK((i + u).dtype() == DType::i32);
    CHECK((i + u).read<std::int32_t>().get() == Ints{207, 93});
    CHECK((u + u).read<std::int32_t>().get() == Ints{144, 200});  // u8 wraps
    CHECK((u + u).dtype() == DType::u8);
    CHECK((b + b).read<std::int32_t>().get() == Ints{2, 0});
    CHECK((i + 0.5).dtype() == DType::f32);
    CHECK((i * 2).dtype() == DType::i32);
    CHECK((f * 2).dtype() == DType::f32);
    CHECK(read(exp(ints({0}, device))) == Floats{1});
    CHECK(sum(u).read<std::int32_t>().get() == Ints{300});  // whole sums are kept in 32 bits
    CHECK(sum(b).read<std::int32_t>().get() == Ints{1});
    CHECK(read(i / 2) == Floats{3.5f, -3.5f});
    CHECK(read(b * f) == Floats{1.5f, 0});
    CHECK(greater(i, 0.5).read<bool>().get() == std::vector<bool>{true, false});
  });
}

TEST_CASE("casts truncate toward zero, clamp, and take NaN for 0") {
  on_every_device([](const Device& device) {
    const Tensor x = floats({1.9f, -1.9f, 3e9f, -3e9f, std::numeric_limits<float>::quiet_NaN()}, device);
    CHECK(cast(x, DType::i32).read<std::int32_t>().get() == Ints{1, -1, 2147483647, -2147483647 - 1, 0});
    CHECK(cast(x, DType::u32).read<std::uint32_t>().get() == std::vector<std::uint32_t>{1, 0, 3000000000u, 0, 0});
    CHECK(cast(x, DType::i8).read<std::int32_t>().get() == Ints{1, -1, 127, -128, 0});
    CHECK(cast(floats({0, -0.0f, 0.5f}, device), DType::boolean).read<bool>().get() == std::vector<bool>{false, false, true});
    CHECK(cast(ints({300, -1}, device), DType::u8).read<std::int32_t>().get() == Ints{44, 255});
  });
}

TEST_CASE("mistakes are one sentence with the operation and the values") {
  const Device device = devices::null()[1].device;
  const Tensor f = floats({1, 2, 3}, device);
  const Tensor u = tensor(std::vector<std::uint8_t>{1}, {1}, device);
  CHECK_THROWS_WITH_AS((void)bitwise_and(f, f), "bitwise_and: the operands are f32, it takes integers and booleans.", Error);
  CHECK_THROWS_WITH_AS((void)bitwise_not(f), "bitwise_not: the operands are f32, it takes integers and booleans.", Error);
  CHECK_THROWS_WITH_AS((void)(u + 300), "add: the number 300 is outside u8, which reaches from 0 to 255.", Error);
  CHECK_THROWS_WITH_AS((void)clamp(f, 2, 1), "clamp: the lower bound 2 is not at most the upper one, 1.", Error);
  CHECK_THROWS_WITH_AS((void)sum(f, {0, -1}), "sum: axis 0 is named twice in [0, -1].", Error);
  CHECK_THROWS_AS((void)sum(f, {1}), Error);
  CHECK_THROWS_AS((void)softmax(f, 3), Error);
  try {
    (void)(f + floats({1, 2}, device));
    FAIL("shapes that do not broadcast must throw");
  } catch (const Error& error) {
    CHECK(error.code() == ErrorCode::shape_mismatch);
    const std::string text = error.what();
    CHECK((text.find("add") != std::string::npos && text.find("[3]") != std::string::npos &&
           text.find("[2]") != std::string::npos));
  }
}

}  // namespace
