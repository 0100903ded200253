#include <cmath>
#include <limits>

#include "ops/lane_checks.hpp"

/// Small inputs on which libraries of this field went wrong, from public bug reports; each as a test of its whole kind.
/// Those about memory and order of work are in memory_cases_test.cpp.
namespace {

using namespace hearth;       // NOLINT
using namespace lane_checks;  // NOLINT

constexpr float inf = std::numeric_limits<float>::infinity();
constexpr float lowest = std::numeric_limits<float>::lowest();

TEST_CASE("case 1: saturating functions reach their limits and never give NaN") {
  on_every_device([](const Device& device) {
    const Floats x{89, -89, 1000, -1000, 3e38f, -3e38f, inf, -inf};
    const Tensor t = floats(x, device);
    Floats ones, steps, halves;
    for (float v : x) {
      ones.push_back(v > 0 ? 1.0f : -1.0f);
      steps.push_back(v > 0 ? 1.0f : 0.0f);
      halves.push_back(v > 0 ? 1.5707964f : -1.5707964f);
    }
    check_close(read(tanh(t)), ones, 0);
    check_close(read(erf(t)), ones, 0);
    check_close(read(hard_tanh(t)), ones, 0);
    check_close(read(sigmoid(t)), steps, 1e-30);
    check_close(read(hard_sigmoid(t)), steps, 1e-6);
    check_close(
        read(erfc(-t)),
        [&] {
          Floats twice = steps;
          for (float& v : twice) v *= 2;
          return twice;
        }(),
        0);
    check_close(read(softsign(floats({89, -89, 3e38f, -3e38f}, device))), {89.0f / 90, -89.0f / 90, 1, -1}, 1e-6);
    // Beyond 89 the slope is lost in f32's last digits.
    check_close(read(atan(floats({3e38f, -3e38f, inf, -inf}, device))), {halves[0], halves[1], halves[0], halves[1]}, 1e-6);
    if (device.info().f16) CHECK(read(tanh(floats({12, -12}, device).astype(DType::f16))) == Floats{1, -1});
  });
}

TEST_CASE("case 2: softmax of equal values is uniform, however negative they are") {
  on_every_device([](const Device& device) {
    for (float value : {lowest, -1e30f, -1000.0f, 0.0f, 1000.0f, std::numeric_limits<float>::max()}) {
      INFO(value);
      const Tensor x = floats({value, value}, device);
      CHECK(read(softmax(x)) == Floats{0.5f, 0.5f});
      check_close(read(log_softmax(x)), {-0.6931472f, -0.6931472f}, 1e-6);
    }
    check_close(read(logsumexp(floats({1000, 1000}, device))), {1000.6931f}, 1e-6);
    check_close(read(softmax(tensor<float>({1, 2, 3, 3, 2, 1}, {2, 3}, device))),
                {0.09003057f, 0.24472847f, 0.66524096f, 0.66524096f, 0.24472847f, 0.09003057f}, 1e-6);
  });
}

TEST_CASE("a fully masked row of softmax is NaN, or 0 when asked for") {
  on_every_device([](const Device& device) {
    const Tensor x = tensor<float>({-inf, -inf, 0, -inf}, {2, 2}, device);
    const Floats plain = read(softmax(x));
    CHECK((std::isnan(plain[0]) && std::isnan(plain[1])));
    CHECK((plain[2] == 1 && plain[3] == 0));
    CHECK(read(softmax(x, -1, {.masked_rows_are_zero = true})) == Floats{0, 0, 1, 0});
    CHECK(read(logsumexp(x, {1})) == Floats{-inf, 0});
  });
}

TEST_CASE("case 3: f16 accumulates in f32") {
  on_every_device([](const Device& device) {
    if (!device.info().f16) return;
    const Tensor x = floats(Floats(100, 1000), device).astype(DType::f16);
    CHECK(read(mean(x)) == Floats{1000});
    CHECK(read(var(x)) == Floats{0});
    // 2,049 ones: f16 cannot count beyond 2,048 in steps of 1.
    CHECK(read(sum(floats(Floats(2052, 1), device).astype(DType::f16))) == Floats{2052});
  });
}

template <typename T>
void check_extremes(const Device& device) {
  constexpr T low = std::numeric_limits<T>::lowest();
  constexpr T high = std::numeric_limits<T>::max();
  const Tensor highs = tensor(std::vector<T>{high, static_cast<T>(high - 1)}, {2}, device);
  const Tensor lows = tensor(std::vector<T>{low, static_cast<T>(low + 1)}, {2}, device);
  CHECK(min(highs).template item<T>() == static_cast<T>(high - 1));
  CHECK(max(lows).template item<T>() == static_cast<T>(low + 1));
  CHECK(max(tensor(std::vector<T>{low, low}, {2}, device)).template item<T>() == low);
  CHECK(min(tensor(std::vector<T>{high, high}, {2}, device)).template item<T>() == high);
}
TEST_CASE("case 4: max and min start from the end of their dtype") {
  on_every_device([](const Device& device) {
    CHECK(min(ints({32768, 32767}, device)).item<std::int32_t>() == 32767);
    CHECK(max(ints({-32768, -32767}, device)).item<std::int32_t>() == -32767);
    check_extremes<std::int32_t>(device);
    check_extremes<std::uint32_t>(device);
    check_extremes<std::int8_t>(device);
    check_extremes<std::uint8_t>(device);
    CHECK(max(floats({-inf, -inf}, device)).item<float>() == -inf);
    CHECK(min(floats({inf, inf}, device)).item<float>() == inf);
    CHECK(max(floats({lowest, lowest}, device)).item<float>() == lowest);
  });
}

TEST_CASE("case 5: the remainder is exact") {
  on_every_device([](const Device& device) {
    Floats x;
    for (int i = 1; i < 200; ++i) x.push_back(0.5034f + 0.173f * static_cast<float>(i));
    CHECK(read(remainder(floats(x, device), floats(x, device))) == Floats(x.size(), 0));
    CHECK(read(floats({0.5034f}, device) % floats({0.5034f}, device)) == Floats{0});
    const Ints one_to_ten{1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
    const Ints expected{1, 2, 0, 1, 2, 0, 1, 2, 0, 1};
    for (DType dtype : {DType::i32, DType::u32, DType::i8, DType::u8, DType::f32}) {
      INFO(to_string(dtype));
      CHECK((ints(one_to_ten, device).astype(dtype) % 3).read<std::int32_t>().get() == expected);
      const Tensor three = ints(Ints(10, 3), device).astype(dtype);
      CHECK((ints(one_to_ten, device).astype(dtype) % three).read<std::int32_t>().get() == expected);
    }
  });
}

TEST_CASE("case 6: tensors without elements go through every kind of op") {
  on_every_device([](const Device& device) {
    const Tensor none = tensor<float>(Floats{}, {2, 0}, device);
    const Tensor column = tensor<float>({1, 2}, {2, 1}, device);
    CHECK((none + column).shape() == Shape{2, 0});
    CHECK(read(none + column).empty());
    CHECK(read(sum(none, {1})) == Floats{0, 0});
    CHECK(read(prod(none, {1})) == Floats{1, 1});
    CHECK(read(sum(none)) == Floats{0});
    CHECK(std::isnan(mean(none).item<float>()));
    CHECK(sum(none, {0}).shape() == Shape{0});
    CHECK(any(none).item<bool>() == false);
    CHECK(all(none).item<bool>() == true);
    CHECK(softmax(none).shape() == Shape{2, 0});
    CHECK_THROWS_WITH_AS((void)max(none, {1}), "max: the reduced axes of shape [2, 0] have no elements.", Error);
    CHECK_THROWS_WITH_AS((void)argmax(none, 1), "argmax: the reduced axes of shape [2, 0] have no elements.", Error);
    const Tensor leaf = none.require_grad();
    CHECK(sum(exp(leaf)).backward().of(leaf).shape() == Shape{2, 0});
  });
}

TEST_CASE("case 7: odd sizes keep their order through views") {
  on_every_device([](const Device& device) {
    const Tensor x = permute(reshape(arange(0, 25947, 1, DType::f32, device), {27, 31, 31}), {1, 2, 0});
    const Floats values = read(x);
    CHECK(values.back() == 25946);
    CHECK(values[1] == 961);  // one step along the first axis of the source
    CHECK(read(x + 0.0) == values);
  });
}

TEST_CASE("case 8: activations do not overflow on the way") {
  on_every_device([](const Device& device) {
    const Tensor x = floats({-13.24f, -100, -1e4f, -1e13f, -1e30f, -3e38f}, device);
    for (const Tensor& y : {gelu(x), gelu_tanh(x), silu(x), mish(x), hard_swish(x)})
      for (float v : read(y)) CHECK(std::abs(v) < 1e-3f);
    const Floats large{13.24f, 100, 1e4f, 1e13f, 1e30f, 3e38f};
    const Tensor big = floats(large, device);
    for (const Tensor& y : {gelu(big), gelu_tanh(big), silu(big), mish(big), hard_swish(big), softplus(big), relu(big)})
      check_close(read(y), large, 1e-4);
  });
}

namespace blocks {
HEARTH_UNARY_OP(mask_negative){
    .summary = "A constant that WGSL cannot spell.",
    .forward = [](Expr x) { return select(x < 0, Expr(-HUGE_VAL), x); },
};
}  // namespace blocks

TEST_CASE("case 9: infinities and NaN are constants like any other") {
  on_every_device([](const Device& device) {
    const Tensor x = floats({5, -1}, device);
    CHECK(read(x * double(inf)) == Floats{inf, -inf});
    CHECK(read(blocks::mask_negative(x)) == Floats{5, -inf});
    CHECK(read(full({2}, -inf, device)) == Floats{-inf, -inf});
    CHECK(std::isnan(read(full({1}, std::numeric_limits<float>::quiet_NaN(), device))[0]));
    CHECK(read(where(less(x, 0), double(-inf), x)) == Floats{5, -inf});
    CHECK(read(max(blocks::mask_negative(x))) == Floats{5});
  });
}

TEST_CASE("case 10: integer division has one rule on every device") {
  on_every_device([](const Device& device) {
    const std::int32_t low = std::numeric_limits<std::int32_t>::min();
    const Tensor a = ints({low, 7, 7, -7, 7, -8, low, 0}, device);
    const Tensor b = ints({-1, 0, 0, 2, -2, 2, 1, 0}, device);
    CHECK(floor_divide(a, b).read<std::int32_t>().get() == Ints{low, 0, 0, -4, -4, -4, low, 0});
    CHECK(remainder(a, b).read<std::int32_t>().get() == Ints{0, 0, 0, 1, -1, 0, 0, 0});
    CHECK(floor_divide(a, -1).read<std::int32_t>().get()[0] == low);
    CHECK(floor_divide(a, 0).read<std::int32_t>().get() == Ints(8, 0));
    check_close(read(divide(ints({-7}, device), ints({2}, device))), {-3.5f}, 0);
    CHECK(divide(a, b).dtype() == DType::f32);
  });
}

TEST_CASE("case 11: a view that is read keeps its order") {
  on_every_device([](const Device& device) {
    const Tensor x = tensor(counting(192), {1, 3, 8, 8}, device);
    const Tensor y = slice(permute(reshape(x, {3, 64}), {1, 0}), {0, 0}, {64, 3});
    const Floats values = read(y);
    for (int i = 0; i < 64; ++i)
      for (int c = 0; c < 3; ++c) CHECK(values[static_cast<std::size_t>(i * 3 + c)] == static_cast<float>(c * 64 + i));
  });
}

TEST_CASE("case 12: where broadcasts every operand") {
  on_every_device([](const Device& device) {
    const Tensor mask = tensor(std::vector<bool>{true, false}, {2}, device);
    CHECK(read(where(mask, floats({7}, device), floats({1, 2}, device))) == Floats{7, 2});
    CHECK(read(where(mask, floats({1, 2}, device), floats({7}, device))) == Floats{1, 7});
    CHECK(where(mask, tensor<float>({1, 2, 3}, {3, 1}, device), floats({0}, device)).shape() == Shape{3, 2});
    CHECK(read(where(tensor(std::vector<bool>{true}, {1}, device), floats({1, 2}, device), 0)) == Floats{1, 2});
    CHECK(where(mask, ints({1, 2}, device), floats({0.5f}, device)).dtype() == DType::f32);
  });
}

TEST_CASE("case 13: negative strides keep their direction in fused code") {
  on_every_device([](const Device& device) {
    const Tensor a = floats(counting(6), device);
    const Tensor b = zeros({6}, DType::f32, device);
    CHECK(read(flip(flip(b) + 2 * flip(a))) == Floats{0, 2, 4, 6, 8, 10});
    CHECK(read(flip(a) + a) == Floats(6, 5));
    CHECK(read(slice(a, {slice_open}, {slice_open}, {-2}) * 1.0) == Floats{5, 3, 1});
  });
}

TEST_CASE("case 14: the gradient of a slice lands in its rows only") {
  on_every_device([](const Device& device) {
    const Tensor z = tensor(counting(6), {2, 3}, device).require_grad();
    const Tensor even = slice(z, {0}, {2}, {2});
    const Tensor odd = slice(z, {1}, {2}, {2});
    CHECK(read(sum(even * 2).backward().of(z)) == Floats{2, 2, 2, 0, 0, 0});
    CHECK(read(sum(odd * 3).backward().of(z)) == Floats{0, 0, 0, 3, 3, 3});
    CHECK(read(sum(even * 2 + odd * 3).backward().of(z)) == Floats{2, 2, 2, 3, 3, 3});
    CHECK(read(sum(slice(z, {0, slice_open}, {2, slice_open}, {1, -2})).backward().of(z)) == Floats{1, 0, 1, 1, 0, 1});
  });
}

TEST_CASE("a product of a hundred thousand terms adds all of them") {
  on_every_device([](const Device& device) {
    // Whole numbers, so that the sum is exact in any order.
    const auto check_k = [&](std::int64_t k, DType dtype, std::int64_t m, std::int64_t n) {
      INFO(to_string(dtype), " [", m, ", ", k, "] x [", k, ", ", n, "]");
      const Tensor third = equal(remainder(arange(0, double(k), 1, DType::i32, device), 3), 0).astype(dtype);
      const Tensor a = third * (reshape(arange(0, double(m), 1, DType::i32, device).astype(dtype), {m, 1}) + 1);
      const Tensor b = full({k, n}, 1, dtype, device);
      Floats by_row, by_column;
      for (std::int64_t i = 0; i < m * n; ++i) by_row.push_back(static_cast<float>((k + 2) / 3 * (i / n + 1)));
      for (std::int64_t i = 0; i < m * n; ++i) by_column.push_back(static_cast<float>((k + 2) / 3 * (i % m + 1)));
      const Tensor wide = matmul(a, b);
      CHECK(read(wide.astype(DType::f32)) == by_row);
      CHECK(read(matmul(transpose(b), transpose(a)).astype(DType::f32)) == by_column);
      // Stored as bytes it is another kernel; what does not fit is clamped.
      CHECK(read((wide - double((k + 2) / 3 - 1)).astype(DType::u8).astype(DType::f32))[0] == 1);
      const Tensor stack = broadcast_to(expand_dims(b, 0), {2, k, n});
      CHECK(read(slice(matmul(a, stack), {1}, {2}).astype(DType::f32)) == by_row);
    };
    for (const std::int64_t k : {49152, 49153, 65536, 100000, 300001}) {
      check_k(k, DType::f32, 1, 1);
      check_k(k, DType::f32, 3, 5);
      check_k(k, DType::i32, 2, 2);
      check_k(k, DType::u8, 2, 3);
    }
    check_k(100000, DType::f32, 17, 40);
    const Tensor a = full({2, 100000}, 1, device).require_grad(), b = full({100000, 2}, 3, device).require_grad();
    const Gradients g = sum(matmul(a, b)).backward();
    CHECK(read(min(g.of(a))) == Floats{6});
    CHECK(read(max(g.of(a))) == Floats{6});
    CHECK(read(min(g.of(b))) == Floats{2});
    CHECK(read(max(g.of(b))) == Floats{2});
  });
}

TEST_CASE("a reduction of bytes or by index takes all of a long axis") {
  on_every_device([](const Device& device) {
    for (const std::int64_t count : {16383, 16384, 16385, 70000, 200000}) {
      INFO(count);
      const Tensor last = equal(arange(0, double(count), 1, DType::i32, device), double(count - 1));
      const Tensor rows = broadcast_to(last.astype(DType::u8), {8, count}) * 200;
      CHECK(read(max(rows, {1}).astype(DType::f32)) == Floats(8, 200));
      CHECK(read(index_add(last.astype(DType::f32), 0, last.astype(DType::i32), 3)) == Floats{0, 1, 0});
    }
  });
}

TEST_CASE("case 21: a buffer that is bound twice gives no validation error") {
  on_every_device([](const Device& device) {
    const Tensor x = zeros({2, 1}, DType::f32, device);
    CHECK(sum(x * x).item<float>() == 0);
    const Tensor y = tensor(counting(6), {6}, device);
    CHECK(read(slice(y, {0}, {5}) + slice(y, {1}, {6})) == Floats{1, 3, 5, 7, 9});
    CHECK(read(y * y + y) == Floats{0, 2, 6, 12, 20, 30});
  });
}

TEST_CASE("equal operands of maximum and minimum get half the gradient each, a NaN all of it") {
  on_every_device([](const Device& device) {
    const float nan = std::numeric_limits<float>::quiet_NaN();
    const Tensor a = floats({1, 2, 3, inf, -inf, 0, nan}, device).require_grad();
    const Tensor b = floats({2, 2, 2, inf, -inf, -0.0f, 1}, device).require_grad();
    const Gradients high = sum(maximum(a, b) * 2).backward();
    CHECK(read(high.of(a)) == Floats{0, 1, 2, 1, 1, 1, 2});
    CHECK(read(high.of(b)) == Floats{2, 1, 0, 1, 1, 1, 2});
    const Gradients low = sum(minimum(a, b) * 2).backward();
    CHECK(read(low.of(a)) == Floats{2, 1, 0, 1, 1, 1, 2});
    CHECK(read(low.of(b)) == Floats{0, 1, 2, 1, 1, 1, 2});
    // One tensor on both sides gets both shares.
    CHECK(read(sum(maximum(a, a)).backward().of(a)) == Floats{1, 1, 1, 1, 1, 1, 2});
  });
}

TEST_CASE("positions of extremes: the first of equals, and NaN wins") {
  on_every_device([](const Device& device) {
    const float nan = std::numeric_limits<float>::quiet_NaN();
    const Tensor x = tensor<float>({1, 3, 3, 2, 5, nan, 9, nan, -inf, -inf, -inf, -inf}, {3, 4}, device);
    CHECK(argmax(x, 1).read<std::int32_t>().get() == Ints{1, 1, 0});
    CHECK(argmin(x, -1).read<std::int32_t>().get() == Ints{0, 1, 0});
    CHECK(argmax(x).item<std::int32_t>() == 5);
    CHECK(argmax(x, 0, {.keep_dims = true}).shape() == Shape{1, 4});
    CHECK(argmax(ints({3, -1, 7, 7}, device)).item<std::int32_t>() == 2);
    CHECK(argmin(tensor(std::vector<bool>{true, false, false}, {3}, device)).item<std::int32_t>() == 1);
    CHECK(argmax(transpose(x), 0).read<std::int32_t>().get() == Ints{1, 1, 0});
  });
}

}  // namespace
