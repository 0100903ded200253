#include "structured_test.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "ops/devices.hpp"

namespace structured_test {

using hearth::Device;
using hearth::DType;
using hearth::Shape;
using hearth::Tensor;

static std::size_t flat(const Shape& shape, const std::vector<std::int64_t>& index) {
  std::int64_t place = 0;
  for (int axis = 0; axis < shape.rank(); ++axis) place = place * shape[axis] + index[static_cast<std::size_t>(axis)];
  return static_cast<std::size_t>(place);
}
double Array::at(const std::vector<std::int64_t>& index) const { return values[flat(shape, index)]; }
double& Array::at(const std::vector<std::int64_t>& index) { return values[flat(shape, index)]; }

Array make(const Shape& shape, const std::function<double(const std::vector<std::int64_t>&)>& value) {
  Array array{shape, {}};
  std::vector<std::int64_t> index(static_cast<std::size_t>(shape.rank()), 0);
  for (std::int64_t i = 0; i < shape.elements(); ++i) {
    array.values.push_back(value(index));
    for (int axis = shape.rank() - 1; axis >= 0; --axis) {
      if (++index[static_cast<std::size_t>(axis)] < shape[axis]) break;
      index[static_cast<std::size_t>(axis)] = 0;
    }
  }
  return array;
}

Array sample(const Shape& shape, int seed) {
  std::int64_t i = 0;
  // A full period of multiples of the golden ratio: well spread, no two equal. Exact in f32.
  return make(shape, [&](const auto&) {
    const double x = 0.6180339887498949 * static_cast<double>(++i + 1000 * seed);
    return static_cast<double>(static_cast<float>(4 * (x - std::floor(x)) - 2));
  });
}

Array from(const Tensor& tensor) { return {tensor.shape(), tensor.read<double>().get()}; }

const std::vector<Place>& places() {
  // Never destroyed: drivers unload before the statics of a program do.
  static const auto* all = [] {
    auto* made = new std::vector<Place>();
    for (const devices::Lane& lane : devices::cpu()) made->push_back({lane.name + " f64", lane.device, DType::f64});
    for (const devices::Lane& lane : devices::cpu()) made->push_back({lane.name + " f32", lane.device, DType::f32});
    for (const devices::Lane& lane : devices::webgpu()) made->push_back({lane.name + " f32", lane.device, DType::f32});
    return made;
  }();
  return *all;
}

Tensor upload(const Array& array, const Place& place) {
  return hearth::tensor(array.values, array.shape, Device::cpu()).astype(place.real).to(place.device);
}

Tensor upload_strided(const Array& array, const Place& place) {
  const int rank = array.shape.rank();
  if (rank == 0) return upload(array, place);
  // One element more in front of the reversed last axis.
  Shape wide = array.shape;
  ++wide[rank - 1];
  const Array reversed = make(wide, [&](std::vector<std::int64_t> index) {
    if (index.back() == 0) return 99.0;
    index.back() = array.shape.back() - index.back();
    return array.at(index);
  });
  Shape starts = Shape::filled(rank, 0), steps = Shape::filled(rank, 1), ends = array.shape;
  starts[rank - 1] = hearth::slice_open;
  ends[rank - 1] = 0;
  steps[rank - 1] = -1;
  return hearth::slice(upload(reversed, place), starts, ends, steps);
}

static double difference(const Array& a, const Array& b) {
  double scale = 1, worst = 0;
  for (std::size_t i = 0; i < b.values.size(); ++i) {
    if (std::isfinite(b.values[i])) scale = std::max(scale, std::abs(b.values[i]));
    if (a.values[i] == b.values[i] || (std::isnan(a.values[i]) && std::isnan(b.values[i]))) continue;
    const double d = std::abs(a.values[i] - b.values[i]);
    worst = std::isnan(d) ? INFINITY : std::max(worst, d);
  }
  return worst / scale;
}

static void check_close(const Array& got, const Array& expected, double tolerance, const std::string& what) {
  INFO(what);
  REQUIRE_EQ(hearth::to_string(got.shape), hearth::to_string(expected.shape));
  REQUIRE_EQ(got.values.size(), expected.values.size());
  CHECK_LE(difference(got, expected), tolerance);
}

static double tolerance_of(DType dtype, double f32) { return dtype == DType::f64 ? 1e-12 : dtype == DType::f16 ? 2e-3 : f32; }

void check_equal(const Tensor& tensor, const Array& expected, const std::string& what, double tolerance) {
  check_close(from(tensor), expected, tolerance_of(tensor.dtype(), tolerance), what);
}

/// Sum of the elements weighted with fixed numbers, so that every element has a gradient of its own.
static Tensor weighted(const Tensor& x, const Place& place) { return hearth::sum(x * upload(sample(x.shape(), 7), place)); }

/// Gradients of the weighted sum of `run`, as a function of the inputs that stays differentiable.
static std::vector<Tensor> gradients(const Function& run, const std::vector<Tensor>& inputs, const Place& place) {
  std::vector<Tensor> leaves;
  for (const Tensor& x : inputs) leaves.push_back(x.requires_grad() ? x : x.require_grad());
  const hearth::Gradients all = weighted(run(leaves), place).backward({.create_graph = true});
  std::vector<Tensor> result;
  for (const Tensor& leaf : leaves) result.push_back(all.of(leaf));
  return result;
}

/// The gradients of `run` are what differences of its values say; f64.
static void check_differences(const Function& run, const std::vector<Array>& inputs, const Place& place,
                              const std::string& what) {
  const auto value = [&](const std::vector<Array>& at) {
    std::vector<Tensor> tensors;
    for (const Array& array : at) tensors.push_back(upload(array, place));
    return weighted(run(tensors), place).detach().item<double>();
  };
  std::vector<Tensor> tensors;
  for (const Array& array : inputs) tensors.push_back(upload(array, place));
  const std::vector<Tensor> found = gradients(run, tensors, place);
  constexpr double step = 1e-4;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    Array expected{inputs[i].shape, {}};
    for (std::size_t e = 0; e < inputs[i].values.size(); ++e) {
      std::vector<Array> moved = inputs;
      moved[i].values[e] += step;
      const double above = value(moved);
      moved[i].values[e] -= 2 * step;
      expected.values.push_back((above - value(moved)) / (2 * step));
    }
    check_close(from(found[i]), expected, 1e-6, what + ", input " + std::to_string(i));
  }
}

void check(const Case& test) {
  std::vector<Array> reference;  // gradients, from the first place, which is f64
  // All gradients of the squared result in one sum, whose gradient is tested: squared, so that linear ops have one.
  const auto first_gradient = [&](const Place& place) {
    return [&test, &place](const std::vector<Tensor>& x) {
      const Function squared = [&](const std::vector<Tensor>& inputs) {
        const Tensor y = test.run(inputs);
        return y * y;
      };
      Tensor total;
      for (const Tensor& g : gradients(squared, x, place)) {
        const Tensor part = hearth::reshape(weighted(g * g, place), {1});
        total = total ? total + part : part;
      }
      return total;
    };
  };
  for (const Place& place : places()) {
    const std::string what = test.name + " on " + place.name;
    std::vector<Tensor> dense, strided;
    for (const Array& array : test.inputs) {
      dense.push_back(upload(array, place));
      strided.push_back(upload_strided(array, place));
    }
    check_equal(test.run(dense), test.expected, what, test.tolerance);
    check_equal(test.run(strided), test.expected, what + ", strided", test.tolerance);
    if (!test.differentiable) continue;
    if (place.real == DType::f64) {
      check_differences(test.run, test.inputs, place, what + ", gradient");
      check_differences(first_gradient(place), test.inputs, place, what + ", second gradient");
    }
    const std::vector<Tensor> found = gradients(test.run, strided, place);
    for (std::size_t i = 0; i < found.size(); ++i) {
      if (reference.size() <= i) reference.push_back(from(found[i]));
      check_equal(found[i], reference[i], what + ", gradient of input " + std::to_string(i), 4 * test.tolerance);
    }
  }
}

void check_error(const std::function<void()>& call, hearth::ErrorCode code, const std::string& text) {
  try {
    call();
    FAIL("no Error: " << text);
  } catch (const hearth::Error& error) {
    CHECK_EQ(std::string(error.what()), text);
    CHECK_EQ(std::string(hearth::to_string(error.code())), hearth::to_string(code));
  }
}

}  // namespace structured_test
