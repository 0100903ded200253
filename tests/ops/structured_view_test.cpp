#include <doctest/doctest.h>

#include <algorithm>

#include "structured_test.hpp"

using namespace hearth;
using namespace structured_test;
using Index = std::vector<std::int64_t>;
using Tensors = std::vector<Tensor>;

TEST_CASE("reshape keeps the row-major order") {
  const Array x = sample({2, 3, 4});
  for (const Shape& shape : {Shape{24}, Shape{6, 4}, Shape{2, 12}, Shape{4, 3, 2}, Shape{1, 2, 1, 3, 2, 2}, Shape{8, 3}})
    check({"reshape to " + to_string(shape), {x}, [=](const Tensors& t) { return reshape(t[0], shape); }, {shape, x.values}});
  check({"reshape with -1", {x}, [](const Tensors& t) { return reshape(t[0], {-1, 6}); }, {{4, 6}, x.values}});
  check(
      {"reshape to a scalar", {sample({1, 1})}, [](const Tensors& t) { return reshape(t[0], {}); }, {{}, sample({1, 1}).values}});
}

TEST_CASE("permute and transpose move axes") {
  const Array x = sample({2, 3, 4});
  check({"permute",
         {x},
         [](const Tensors& t) {
           return permute(t[0], {2, 0, -2});
         },
         make({4, 2, 3}, [&](const Index& i) {
           return x.at({i[1], i[2], i[0]});
         })});
  check({"transpose", {x}, [](const Tensors& t) { return transpose(t[0]); }, make({2, 4, 3}, [&](const Index& i) {
           return x.at({i[0], i[2], i[1]});
         })});
  check({"transpose of two axes",
         {x},
         [](const Tensors& t) { return transpose(t[0], 0, -1); },
         make({4, 3, 2}, [&](const Index& i) {
           return x.at({i[2], i[1], i[0]});
         })});
  check({"permute then reshape",
         {x},
         [](const Tensors& t) {
           return reshape(permute(t[0], {1, 2, 0}), {4, 6});
         },
         {{4, 6}, make({3, 4, 2}, [&](const Index& i) {
                    return x.at({i[2], i[0], i[1]});
                  }).values}});
}

TEST_CASE("odd sizes through views keep every element") {
  for (const Place& place : places()) {
    INFO(place.name);
    const Tensor x = permute(reshape(arange(25947, place.real, place.device), {27, 31, 31}), {1, 2, 0});
    CHECK_EQ(reshape(x, {25947}).read<float>().get().back(), 25946.0f);
    CHECK_EQ(slice(x, {30, 30, 26}, {31, 31, 27}).item<float>(), 25946.0f);
  }
}

TEST_CASE("slice follows NumPy") {
  const Array x = sample({7, 5});
  const auto rows = [&](const std::vector<std::int64_t>& which) {
    return make({static_cast<std::int64_t>(which.size()), 5}, [&](const Index& i) {
      return x.at({which[static_cast<std::size_t>(i[0])], i[1]});
    });
  };
  struct Row {
    std::int64_t start, end, step;
    std::vector<std::int64_t> rows;
  };
  const Row cases[] = {{1, 3, 1, {1, 2}},
                       {-2, 100, 1, {5, 6}},
                       {-100, 2, 1, {0, 1}},
                       {0, 7, 3, {0, 3, 6}},
                       {6, 0, -2, {6, 4, 2}},
                       {6, slice_open, -3, {6, 3, 0}},
                       {slice_open, 4, -1, {6, 5}},
                       {slice_open, slice_open, 2, {0, 2, 4, 6}},
                       {-1, -8, -3, {6, 3, 0}},
                       {5, 2, 1, {}},
                       {2, -1, -1, {}},
                       {3, 4, 100, {3}}};
  for (const Row& row : cases)
    check({"slice " + std::to_string(row.start) + ":" + std::to_string(row.end) + ":" + std::to_string(row.step),
           {x},
           [=](const Tensors& t) { return slice(t[0], {row.start}, {row.end}, {row.step}); },
           rows(row.rows),
           !row.rows.empty()});
  check({"slice of both axes",
         {x},
         [](const Tensors& t) {
           return slice(t[0], {1, 4}, {6, slice_open}, {2, -2});
         },
         make({3, 3}, [&](const Index& i) {
           return x.at({1 + 2 * i[0], 4 - 2 * i[1]});
         })});
  check({"narrow", {x}, [](const Tensors& t) { return narrow(t[0], -1, 1, 3); }, make({7, 3}, [&](const Index& i) {
           return x.at({i[0], i[1] + 1});
         })});
  check({"flip", {x}, [](const Tensors& t) { return flip(t[0]); }, make({7, 5}, [&](const Index& i) {
           return x.at({6 - i[0], 4 - i[1]});
         })});
  check({"flip of one axis", {x}, [](const Tensors& t) { return flip(t[0], {0}); }, make({7, 5}, [&](const Index& i) {
           return x.at({6 - i[0], i[1]});
         })});
}

TEST_CASE("a gradient of a slice lands in its own rows") {
  for (const Place& place : places()) {
    INFO(place.name);
    const Tensor z = upload(sample({2, 3}), place).require_grad();
    const Tensor even = sum(slice(z, {0}, {2}, {2}) * 2.0), odd = sum(slice(z, {1}, {2}, {2}) * 3.0);
    const Gradients both = (even + odd).backward();
    CHECK_EQ(both.of(z).read<float>().get(), std::vector<float>{2, 2, 2, 3, 3, 3});
    CHECK_EQ(even.backward().of(z).read<float>().get(), std::vector<float>{2, 2, 2, 0, 0, 0});
  }
}

TEST_CASE("negative strides in fused code") {
  for (const Place& place : places()) {
    INFO(place.name);
    const Tensor a = arange(6, place.real, place.device);
    const Tensor b = flip(flip(zeros({6}, place.real, place.device)) + 2.0 * flip(a));
    CHECK_EQ(b.read<float>().get(), std::vector<float>{0, 2, 4, 6, 8, 10});
  }
}

TEST_CASE("broadcast_to, expand_dims and squeeze") {
  const Array x = sample({3, 1});
  check({"broadcast_to",
         {x},
         [](const Tensors& t) {
           return broadcast_to(t[0], {2, 3, 4});
         },
         make({2, 3, 4}, [&](const Index& i) {
           return x.at({i[1], 0});
         })});
  check({"broadcast_to of a scalar",
         {sample({})},
         [](const Tensors& t) {
           return broadcast_to(t[0], {2, 2});
         },
         make({2, 2}, [&](const Index&) { return sample({}).values[0]; })});
  check({"expand_dims", {x}, [](const Tensors& t) { return expand_dims(t[0], -1); }, {{3, 1, 1}, x.values}});
  check({"squeeze", {x}, [](const Tensors& t) { return squeeze(t[0]); }, {{3}, x.values}});
  check({"squeeze of one axis",
         {sample({1, 3, 1})},
         [](const Tensors& t) { return squeeze(t[0], {-1}); },
         {{1, 3}, sample({1, 3, 1}).values}});
}

TEST_CASE("diagonal, tril and triu") {
  const Array x = sample({2, 3, 4});
  for (const std::int64_t k : {-2, -1, 0, 1, 3}) {
    const std::int64_t length = k >= 0 ? std::min<std::int64_t>(3, 4 - k) : std::min<std::int64_t>(3 + k, 4);
    check({"diagonal", {x}, [=](const Tensors& t) { return diagonal(t[0], k); }, make({2, length}, [&](const Index& i) {
             return x.at({i[0], i[1] + std::max<std::int64_t>(-k, 0), i[1] + std::max<std::int64_t>(k, 0)});
           })});
    check({"tril", {x}, [=](const Tensors& t) { return tril(t[0], k); }, make({2, 3, 4}, [&](const Index& i) {
             return i[2] - i[1] <= k ? x.at(i) : 0;
           })});
    check({"triu", {x}, [=](const Tensors& t) { return triu(t[0], k); }, make({2, 3, 4}, [&](const Index& i) {
             return i[2] - i[1] >= k ? x.at(i) : 0;
           })});
  }
}

TEST_CASE("concatenate, stack and split") {
  const Array a = sample({2, 3}, 1), b = sample({2, 1}, 2), c = sample({2, 4}, 3);
  check({"concatenate", {a, b, c}, [](const Tensors& t) { return concatenate(t, -1); }, make({2, 8}, [&](const Index& i) {
           return i[1] < 3 ? a.at(i) : i[1] < 4 ? b.at({i[0], 0}) : c.at({i[0], i[1] - 4});
         })});
  check({"concatenate of rows",
         {a, a},
         [](const Tensors& t) {
           return concatenate({t[0], t[1], t[0]});
         },
         make({6, 3}, [&](const Index& i) {
           return a.at({i[0] % 2, i[1]});
         })});
  check({"stack",
         {a, sample({2, 3}, 5)},
         [](const Tensors& t) {
           return stack({t[0], t[1]}, 1);
         },
         make({2, 2, 3}, [&](const Index& i) {
           return (i[1] == 0 ? a : sample({2, 3}, 5)).at({i[0], i[2]});
         })});
  check({"split",
         {c},
         [](const Tensors& t) {
           const std::vector<Tensor> parts = split(t[0], {1, 3}, 1);
           return concatenate({parts[1], parts[0]}, 1);
         },
         make({2, 4}, [&](const Index& i) {
           return c.at({i[0], (i[1] + 1) % 4});
         })});
}

TEST_CASE("concatenate joins more tensors than a kernel binds") {
  std::vector<Array> many;
  for (int i = 0; i < 20; ++i) many.push_back(sample({1 + i % 3, 2}, i));
  Array expected{{0, 2}, {}};
  for (const Array& array : many) {
    expected.shape[0] += array.shape[0];
    expected.values.insert(expected.values.end(), array.values.begin(), array.values.end());
  }
  check({"concatenate of 20", many, [](const Tensors& t) { return concatenate(t); }, expected});
}

TEST_CASE("pad by a constant, the edge and reflection") {
  const Array x = sample({3, 4});
  const auto padded = [&](const auto& source) {
    return make({6, 9}, [&](const Index& i) { return source(i[0] - 1, i[1] - 3); });
  };
  check({"pad",
         {x},
         [](const Tensors& t) {
           return pad(t[0], {1, 3}, {2, 2}, {.value = 0.5});
         },
         padded([&](std::int64_t r, std::int64_t c) {
           return r < 0 || r > 2 || c < 0 || c > 3 ? 0.5 : x.at({r, c});
         })});
  check({"pad with the edge",
         {x},
         [](const Tensors& t) {
           return pad(t[0], {1, 3}, {2, 2}, {.mode = PadMode::edge});
         },
         padded([&](std::int64_t r, std::int64_t c) {
           return x.at({std::clamp<std::int64_t>(r, 0, 2), std::clamp<std::int64_t>(c, 0, 3)});
         })});
  const auto mirror = [](std::int64_t i, std::int64_t n) { return i < 0 ? -i : i >= n ? 2 * n - 2 - i : i; };
  check({"pad by reflection",
         {x},
         [](const Tensors& t) {
           return pad(t[0], {1, 3}, {2, 2}, {.mode = PadMode::reflect});
         },
         padded([&](std::int64_t r, std::int64_t c) {
           return x.at({mirror(r, 3), mirror(c, 4)});
         })});
}

TEST_CASE("views of tensors without elements") {
  for (const Place& place : places()) {
    INFO(place.name);
    const Tensor none = zeros({2, 0, 3}, place.real, place.device);
    CHECK_EQ(to_string(reshape(none, {0, 6}).shape()), "[0, 6]");
    CHECK_EQ(to_string(permute(none, {1, 2, 0}).shape()), "[0, 3, 2]");
    CHECK_EQ(to_string(slice(none, {1}, {2}).shape()), "[1, 0, 3]");
    CHECK_EQ(to_string(flip(none).shape()), "[2, 0, 3]");
    CHECK_EQ(to_string(broadcast_to(zeros({1, 0}, place.real, place.device), {4, 0}).shape()), "[4, 0]");
    const Tensor joined = concatenate({none, ones({2, 1, 3}, place.real, place.device)}, 1);
    CHECK_EQ(joined.read<float>().get(), std::vector<float>(6, 1));
    CHECK_EQ(pad(none, {0, 1, 0}, {0, 1, 0}, {.value = 4}).read<float>().get(), std::vector<float>(12, 4));
    CHECK(concatenate({none, none}, 1).read<float>().get().empty());
    CHECK(diagonal(zeros({2, 2}, place.real, place.device), 5).read<float>().get().empty());
  }
}

TEST_CASE("views of integers, bytes and booleans") {
  for (const Place& place : places()) {
    INFO(place.name);
    const Tensor bytes = tensor<std::int8_t>(std::vector<std::int8_t>{1, -2, 3, -4, 5, -6}, {2, 3}, place.device);
    CHECK_EQ(transpose(bytes).read<std::int8_t>().get(), std::vector<std::int8_t>{1, -4, -2, 5, 3, -6});
    CHECK_EQ(concatenate({bytes, flip(bytes)}).read<std::int32_t>().get(),
             std::vector<std::int32_t>{1, -2, 3, -4, 5, -6, -6, 5, -4, 3, -2, 1});
    const Tensor flags = tensor<bool>(std::vector<bool>{true, false, false, true}, {2, 2}, place.device);
    CHECK_EQ(slice(flags, {0, 1}, {2, 2}).read<bool>().get(), std::vector<bool>{false, true});
    const Tensor words = tensor<std::uint32_t>(std::vector<std::uint32_t>{4000000000u, 1u}, {2}, place.device);
    CHECK_EQ(pad(words, {1}, {0}, {.value = 7}).read<std::uint32_t>().get(), std::vector<std::uint32_t>{7u, 4000000000u, 1u});
  }
}
