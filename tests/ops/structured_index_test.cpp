#include <doctest/doctest.h>

#include <cmath>
#include <functional>

#include "structured_test.hpp"

using namespace hearth;
using namespace structured_test;
using Index = std::vector<std::int64_t>;
using Tensors = std::vector<Tensor>;

/// An index tensor on the device of `like`.
static Tensor indices(const std::vector<std::int32_t>& values, const Shape& shape, const Tensor& like) {
  return tensor<std::int32_t>(values, shape, like.device());
}

TEST_CASE("gather reads by index along an axis") {
  const Array x = sample({3, 4});
  const std::vector<std::int32_t> index{0, 2, -1, 1, 1, 1, 2, 0};
  check({"gather",
         {x},
         [=](const Tensors& t) {
           return gather(t[0], 0, indices(index, {2, 4}, t[0]));
         },
         make({2, 4}, [&](const Index& i) {
           return x.at({(index[static_cast<std::size_t>(i[0] * 4 + i[1])] + 3) % 3, i[1]});
         })});
  check({"gather with a broadcast index",
         {x},
         [=](const Tensors& t) {
           return gather(t[0], 1, indices({3, 0, 3}, {1, 3}, t[0]));
         },
         make({3, 3}, [&](const Index& i) {
           return x.at({i[0], i[1] == 1 ? 0 : 3});
         })});
}

TEST_CASE("index_select takes slices by index") {
  const Array x = sample({3, 4, 2});
  check({"index_select",
         {x},
         [=](const Tensors& t) {
           return index_select(t[0], 1, indices({3, 3, 0, -2, 1}, {5}, t[0]));
         },
         make({3, 5, 2}, [&](const Index& i) {
           return x.at({i[0], (Index{3, 3, 0, 2, 1})[static_cast<std::size_t>(i[1])], i[2]});
         })});
}

TEST_CASE("an index out of range reads 0 and its gradient goes nowhere") {
  const Array x = sample({3, 2});
  check({"index_select",
         {x},
         [=](const Tensors& t) {
           return index_select(t[0], 0, indices({3, -4, 2, 2147483647, -2147483647 - 1}, {5}, t[0]));
         },
         make({5, 2}, [&](const Index& i) {
           return i[0] == 2 ? x.at({2, i[1]}) : 0;
         })});
  check({"gather of unsigned",
         {x},
         [=](const Tensors& t) {
           return gather(t[0], 0, tensor<std::uint32_t>(std::vector<std::uint32_t>{4294967295u, 1u}, {1, 2}, t[0].device()));
         },
         make({1, 2}, [&](const Index& i) {
           return i[1] == 1 ? x.at({1, 1}) : 0;
         })});
  check({"index_add",
         {x},
         [=](const Tensors& t) {
           return index_add(t[0], 0, indices({5, -1, 0}, {3}, t[0]), 4);
         },
         make({4, 2}, [&](const Index& i) {
           return i[0] == 3 ? x.at({1, i[1]}) : i[0] == 0 ? x.at({2, i[1]}) : 0;
         })});
}

TEST_CASE("scatter_add and index_add sum equal indices") {
  const Array x = sample({4, 2});
  check({"index_add",
         {x},
         [=](const Tensors& t) {
           return index_add(t[0], 0, indices({1, 1, 0, 1}, {4}, t[0]), 3);
         },
         make({3, 2}, [&](const Index& i) {
           return i[0] == 0 ? x.at({2, i[1]}) : i[0] == 1 ? x.at({0, i[1]}) + x.at({1, i[1]}) + x.at({3, i[1]}) : 0;
         })});
  check({"scatter_add",
         {x},
         [=](const Tensors& t) {
           return scatter_add(t[0], 0, indices({0, 1, 0, 0, 2, 1, 0, 1}, {4, 2}, t[0]), 3);
         },
         make({3, 2}, [&](const Index& i) {
           const Index rows[2] = {{0, 0, 2, 0}, {1, 0, 1, 1}};
           double total = 0;
           for (std::int64_t r = 0; r < 4; ++r) total += rows[i[1]][static_cast<std::size_t>(r)] == i[0] ? x.at({r, i[1]}) : 0;
           return total;
         })});
}

TEST_CASE("one_hot") {
  for (const Place& place : places()) {
    INFO(place.name);
    const Tensor index = tensor<std::int32_t>(std::vector<std::int32_t>{2, 0, -1, 7}, {2, 2}, place.device);
    CHECK_EQ(one_hot(index, 3).read<float>().get(), std::vector<float>{0, 0, 1, 1, 0, 0, 0, 0, 1, 0, 0, 0});
    CHECK_EQ(to_string(one_hot(index, 3, DType::boolean).shape()), "[2, 2, 3]");
  }
}

TEST_CASE("indexing without elements") {
  for (const Place& place : places()) {
    INFO(place.name);
    const Tensor x = zeros({3, 2}, place.real, place.device), none = zeros({0}, DType::i32, place.device);
    CHECK_EQ(to_string(index_select(x, 0, none).shape()), "[0, 2]");
    CHECK_EQ(index_add(zeros({0, 2}, place.real, place.device), 0, none, 2).read<float>().get(), std::vector<float>(4, 0));
    CHECK_EQ(index_select(zeros({0, 2}, place.real, place.device), 0, zeros({1}, DType::i32, place.device)).read<float>().get(),
             std::vector<float>(2, 0));
    CHECK_EQ(to_string(one_hot(none, 4).shape()), "[0, 4]");
    const Tensor leaf = ones({3, 2}, place.real, place.device).require_grad();
    CHECK_EQ(sum(index_select(leaf, 0, none)).backward().of(leaf).read<float>().get(), std::vector<float>(6, 0));
  }
}

static Array product(const Array& a, const Array& b, const Shape& batch, const std::function<Index(const Index&)>& of_a,
                     const std::function<Index(const Index&)>& of_b) {
  const std::int64_t m = a.shape[a.shape.rank() - 2], k = a.shape.back(), n = b.shape.back();
  Shape shape = batch;
  shape.push_back(m);
  shape.push_back(n);
  return make(shape, [&](const Index& i) {
    const Index at(i.begin(), i.end() - 2);
    double total = 0;
    for (std::int64_t j = 0; j < k; ++j) {
      Index left = of_a(at), right = of_b(at);
      left.insert(left.end(), {i[i.size() - 2], j});
      right.insert(right.end(), {j, i.back()});
      total += a.at(left) * b.at(right);
    }
    return total;
  });
}
static Index same(const Index& i) { return i; }
static Index none(const Index&) { return {}; }

TEST_CASE("matmul is NumPy's, batches broadcast") {
  const Array a = sample({3, 4}, 1), b = sample({4, 5}, 2), v = sample({4}, 3);
  check({"matmul", {a, b}, [](const Tensors& t) { return matmul(t[0], t[1]); }, product(a, b, {}, none, none)});
  check({"matmul of transposes",
         {sample({4, 3}, 1), sample({5, 4}, 2)},
         [](const Tensors& t) { return matmul(transpose(t[0]), transpose(t[1])); },
         make({3, 5}, [&](const Index& i) {
           double total = 0;
           for (std::int64_t j = 0; j < 4; ++j) total += sample({4, 3}, 1).at({j, i[0]}) * sample({5, 4}, 2).at({i[1], j});
           return total;
         })});
  check({"matrix times vector",
         {a, v},
         [](const Tensors& t) { return matmul(t[0], t[1]); },
         {{3}, product(a, {{4, 1}, v.values}, {}, none, none).values}});
  check({"vector times matrix",
         {v, b},
         [](const Tensors& t) { return matmul(t[0], t[1]); },
         {{5}, product({{1, 4}, v.values}, b, {}, none, none).values}});
  check({"dot",
         {v, sample({4}, 4)},
         [](const Tensors& t) { return dot(t[0], t[1]); },
         {{}, product({{1, 4}, v.values}, {{4, 1}, sample({4}, 4).values}, {}, none, none).values}});
  check({"outer", {v, sample({3}, 4)}, [](const Tensors& t) { return outer(t[0], t[1]); }, make({4, 3}, [&](const Index& i) {
           return v.at({i[0]}) * sample({3}, 4).at({i[1]});
         })});
  const Array x = sample({2, 3, 4}, 5), y = sample({2, 4, 2}, 6);
  check({"matmul of batches", {x, y}, [](const Tensors& t) { return matmul(t[0], t[1]); }, product(x, y, {2}, same, same)});
  check({"matmul of a batch with one",
         {x, b},
         [](const Tensors& t) { return matmul(t[0], t[1]); },
         product(x, b, {2}, same, none)});
  check({"matmul of one with a batch",
         {a, y},
         [](const Tensors& t) { return matmul(t[0], t[1]); },
         product(a, y, {2}, none, same)});
  const Array p = sample({2, 1, 2, 3}, 7), q = sample({3, 3, 2}, 8);
  check({"matmul of batches that broadcast",
         {p, q},
         [](const Tensors& t) { return matmul(t[0], t[1]); },
         product(
             p, q, {2, 3},
             [](const Index& i) {
               return Index{i[0], 0};
             },
             [](const Index& i) { return Index{i[1]}; })});
}

TEST_CASE("matmul of a tensor with itself") {
  const Array x = sample({3, 3});
  check({"matmul with itself", {x}, [](const Tensors& t) { return matmul(t[0], t[0]); }, product(x, x, {}, none, none)});
  check({"matmul with its transpose",
         {x},
         [](const Tensors& t) { return matmul(t[0], transpose(t[0])); },
         make({3, 3}, [&](const Index& i) {
           double total = 0;
           for (std::int64_t j = 0; j < 3; ++j) total += x.at({i[0], j}) * x.at({i[1], j});
           return total;
         })});
}

TEST_CASE("matmul takes elementwise work along") {
  const Array a = sample({5, 3}, 1), b = sample({3, 4}, 2), c = sample({4}, 3);
  Array expected = product(a, b, {}, none, none);
  for (std::int64_t i = 0; i < 5; ++i)
    for (std::int64_t j = 0; j < 4; ++j) expected.at({i, j}) = std::tanh(expected.at({i, j}) * 0.5 + c.at({j}));
  check({"matmul, bias and tanh", {a, b, c}, [](const Tensors& t) { return tanh(matmul(t[0], t[1]) * 0.5 + t[2]); }, expected});
}

TEST_CASE("matmul of integers and of no elements") {
  for (const Place& place : places()) {
    INFO(place.name);
    const Tensor a = tensor<std::int32_t>(std::vector<std::int32_t>{1, 2, 3, 4, 5, 6}, {2, 3}, place.device);
    CHECK_EQ(matmul(a, transpose(a)).read<std::int32_t>().get(), std::vector<std::int32_t>{14, 32, 32, 77});
    const Tensor bytes = tensor<std::int8_t>(std::vector<std::int8_t>{100, 100, 100, 100}, {2, 2}, place.device);
    CHECK_EQ(matmul(bytes, bytes).read<std::int32_t>().get(), std::vector<std::int32_t>(4, 20000));
    const Tensor none = zeros({2, 0}, place.real, place.device);
    CHECK_EQ(matmul(none, zeros({0, 3}, place.real, place.device)).read<float>().get(), std::vector<float>(6, 0));
    CHECK_EQ(to_string(matmul(zeros({0, 4}, place.real, place.device), zeros({4, 3}, place.real, place.device)).shape()),
             "[0, 3]");
    CHECK_EQ(to_string(matmul(zeros({0, 2, 4}, place.real, place.device), zeros({4, 3}, place.real, place.device)).shape()),
             "[0, 2, 3]");
  }
}
