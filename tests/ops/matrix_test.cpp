#include <doctest/doctest.h>

#include "hearth/ops.hpp"
#include "hearth/testing.hpp"
#include "ops/devices.hpp"

/// Every op of the registry, on every device, eager and fused: see hearth/testing.hpp for what is checked.
namespace {

using hearth::OpRegistry;
using hearth::testing::check_op;
using hearth::testing::Report;

void check_all(const std::vector<devices::Lane>& lanes) {
  for (const devices::Lane& lane : lanes) {
    INFO(lane.name);
    const auto check = [&](const auto& op) {
      const Report report = check_op(op, lane.device);
      CHECK_MESSAGE(report.passed(), op.name, ": ", report.text());
    };
    for (const hearth::UnaryOp* op : OpRegistry::all().unary) check(*op);
    for (const hearth::BinaryOp* op : OpRegistry::all().binary) check(*op);
    for (const hearth::ReduceOp* op : OpRegistry::all().reduce) check(*op);
  }
}

TEST_CASE("the registry lists every block") {
  CHECK(OpRegistry::all().unary.size() >= 45);
  CHECK(OpRegistry::all().binary.size() >= 20);
  CHECK(OpRegistry::all().reduce.size() >= 7);
}

TEST_CASE("every op has its shapes and dtypes on a null device") { check_all(devices::null()); }
TEST_CASE("every op has its values and gradients on the CPU") { check_all(devices::cpu()); }
TEST_CASE("every op has its values and gradients on WebGPU") { check_all(devices::webgpu()); }

}  // namespace
