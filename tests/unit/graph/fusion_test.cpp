#include <doctest/doctest.h>

#include "graph/context.hpp"
#include "graph/execute.hpp"
#include "hearth/ops.hpp"
#include "ir/expr.hpp"
#include "runtime/null/server.hpp"

using namespace hearth;

namespace {

Tensor scale(const Tensor& a, double by) {
  const graph::Operand operands[] = {a, graph::Operand(by, DType::f32)};
  return graph::elementwise("scale", Expr::argument(0, DType::f32) * Expr::argument(1, DType::f32), operands, a.shape(),
                            DType::f32);
}

Tensor filled(const Device& device, const Shape& shape) {
  return tensor(std::vector<float>(static_cast<std::size_t>(shape.elements()), 1.0f), shape, device);
}

std::size_t launches(const Device& device) {
  device.sync(SyncType::flush);
  return runtime::null::take_launches(device.context()->channel()).size();
}

}  // namespace

TEST_CASE("a chain is one launch with fusion and one an operation without") {
  for (const bool fusion : {true, false}) {
    const Device device = Device::null({.fusion = fusion});
    Tensor x = filled(device, {4, 8});
    const Tensor y = filled(device, {8});
    for (int i = 0; i < 20; ++i) x = add(scale(x, 2), y);
    CHECK(launches(device) == (fusion ? 1 : 40));
  }
}

TEST_CASE("a view is arithmetic inside the kernel that reads it") {
  const Device device = Device::null();
  const Tensor x = filled(device, {4, 8});
  const Tensor y = add(transpose(scale(x, 3)), filled(device, {8, 1}));
  CHECK(launches(device) == 1);
  const Tensor z = transpose(y);
  CHECK(launches(device) == 0);
  CHECK(z.node()->memory == y.node()->memory);
}

TEST_CASE("a value that somebody holds is computed once and loaded afterwards") {
  const Device device = Device::null();
  const Tensor x = filled(device, {4});
  const Tensor y = scale(x, 2);
  const Tensor z = scale(y, 3);
  CHECK(launches(device) == 2);
}

TEST_CASE("values that nobody holds are never computed") {
  const Device device = Device::null();
  const Tensor x = filled(device, {4});
  (void)add(x, scale(x, 2));
  CHECK(launches(device) == 0);
}

TEST_CASE("a sum takes the chain before it along") {
  const Device device = Device::null();
  const Tensor s = graph::sum_to(add(scale(filled(device, {4, 8}), 2), filled(device, {8})), {1, 8});
  CHECK(launches(device) == 1);
}

TEST_CASE("a sum takes the chain after it along") {
  const Device device = Device::null();
  const Tensor s = scale(graph::sum_to(filled(device, {4, 8}), {1, 8}), 2);
  device.sync(SyncType::flush);
  const auto seen = runtime::null::take_launches(device.context()->channel());
  REQUIRE(seen.size() == 1);
  CHECK(seen[0].kernel->form == ir::Form::reduce);
  CHECK(seen[0].kernel->epilogue);
}

TEST_CASE("more inputs than a device binds make more kernels") {
  const Device device = Device::null();
  Tensor sum = filled(device, {4});
  for (int i = 0; i < 20; ++i) sum = add(sum, filled(device, {4}));
  device.sync(SyncType::flush);
  const auto seen = runtime::null::take_launches(device.context()->channel());
  CHECK(seen.size() > 1);
  for (const auto& launch : seen) CHECK(launch.bindings.size() <= 8);
}

TEST_CASE("a number makes no new kernel") {
  const Device device = Device::null();
  const Tensor x = filled(device, {4});
  std::vector<Tensor> kept;
  for (int i = 0; i < 5; ++i) {
    kept.push_back(scale(scale(x, i), i + 0.5));
    device.sync(SyncType::flush);
  }
  const auto seen = runtime::null::take_launches(device.context()->channel());
  REQUIRE(seen.size() == 5);
  for (const auto& launch : seen) CHECK(launch.kernel == seen[0].kernel);
}

TEST_CASE("one allocation is bound once") {
  const Device device = Device::null();
  const Tensor x = filled(device, {4, 4});
  const Tensor y = add(x, transpose(x));
  device.sync(SyncType::flush);
  const auto seen = runtime::null::take_launches(device.context()->channel());
  REQUIRE(seen.size() == 1);
  CHECK(seen[0].bindings.size() == 2);
}

TEST_CASE("a loop that never waits keeps memory flat") {
  const Device device = Device::null();
  Tensor x = filled(device, {1024});
  for (int i = 0; i < 10000; ++i) {
    x = scale(x, 1.5);
    if (i % 100 == 0) device.sync(SyncType::flush);
  }
  device.sync(SyncType::flush);
  CHECK(device.memory_usage().in_use <= 3 * 4096);
  CHECK(device.memory_usage().reserved <= (16u << 20));
}

TEST_CASE("a gradient history of 20,000 steps dies without recursion") {
  const Device device = Device::null();
  Tensor x = filled(device, {4}).require_grad();
  Tensor y = x;
  for (int i = 0; i < 20000; ++i) y = scale(y, 1.0001);
  y = {};
  CHECK(device.memory_usage().in_use >= 16);
}

TEST_CASE("backward gives every leaf its gradient") {
  const Device device = Device::null();
  const Tensor x = filled(device, {4, 2}).require_grad();
  const Tensor w = filled(device, {2}).require_grad();
  const Tensor loss = graph::sum_to(add(x, scale(w, 2)), {});
  const Gradients gradients = loss.backward();
  CHECK(gradients.of(x).shape() == Shape{4, 2});
  CHECK(gradients.of(w).shape() == Shape{2});
  CHECK_THROWS_AS((void)gradients.of(loss), Error);
}

TEST_CASE("tensors outlive their device in any order") {
  Tensor pending, ready;
  {
    const Device device = Device::null();
    ready = filled(device, {4});
    pending = scale(ready, 2);
  }
  ready = {};
  pending = {};
}

TEST_CASE("a product takes the elementwise work after it along") {
  const Device device = Device::null();
  const Tensor x = filled(device, {4, 4}), w = filled(device, {4, 4}), b = filled(device, {4});
  const Tensor y = relu(matmul(x, w) + b);
  device.sync(SyncType::flush);
  auto seen = runtime::null::take_launches(device.context()->channel());
  REQUIRE(seen.size() == 1);
  CHECK(seen[0].kernel->form == ir::Form::matmul);
  CHECK(seen[0].kernel->epilogue);
}

TEST_CASE("an operand of a product is bound once, and never read by its epilogue") {
  const Device device = Device::null();
  const Tensor x = filled(device, {4, 4}), w = filled(device, {4, 4});
  const Tensor square = matmul(x, x) * 2.0;
  const Tensor residual = matmul(x, w) + x;
  const Tensor later = matmul(x, w) + relu(x);
  device.sync(SyncType::flush);
  for (const auto& launch : runtime::null::take_launches(device.context()->channel())) {
    if (launch.kernel->form != ir::Form::matmul || !launch.kernel->epilogue) continue;
    ir::visit(launch.kernel->epilogue, [](const ir::Node& node) { CHECK_FALSE((node.op == ir::Op::load && node.index < 2)); });
  }
}
