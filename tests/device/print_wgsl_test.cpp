#include "ir/print_wgsl.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdlib>
#include <cstring>

#include "kernel_runner.hpp"
#include "support/kernel_cases.hpp"

namespace hearth::test {
namespace {

KernelRunner& runner() {
  static KernelRunner one;
  return one;
}

/// Whether there is a device; without one the tests pass, unless HEARTH_REQUIRE_GPU asks for one.
bool have_device() {
  if (!runner().available() && std::getenv("HEARTH_REQUIRE_GPU")) FAIL("no WebGPU adapter");
  return runner().available();
}

void check_on_device(const KernelCase& test) {
  const ir::Kernel& kernel = *test.kernel;
  CAPTURE(kernel.label);
  CAPTURE(int(kernel.bindings.back()));
  Expected<ir::Wgsl> wgsl = print_wgsl(kernel, runner().info());
  REQUIRE_MESSAGE(wgsl, (wgsl ? "" : wgsl.error().message));
  std::vector<std::vector<std::byte>> memory;
  for (const Memory& input : test.inputs) memory.push_back(input.bytes);
  memory.emplace_back(static_cast<std::size_t>(kernel.extent.elements()) * size_bytes(kernel.bindings.back()), std::byte{0x5a});
  const std::string error = runner().run(*wgsl, memory, {});
  if (!error.empty()) {
    for (const ir::WgslStage& stage : wgsl->stages) MESSAGE(stage.source);
    FAIL(error);
  }
  Memory out(kernel.bindings.back(), {});
  out.bytes = memory.back();
  const std::vector<double> want = interpreted(kernel, test.inputs);
  int wrong = 0;
  for (std::size_t i = 0; i < want.size() && wrong < 3; ++i) {
    const double got = out.get(i);
    const bool equal = got == want[i] || (std::isnan(got) && std::isnan(want[i])) ||
                       std::abs(got - want[i]) <= test.tolerance * (1 + std::abs(want[i]));
    if (equal) continue;
    CAPTURE(i);
    CAPTURE(got);
    CAPTURE(want[i]);
    CHECK(equal);
    if (wrong++ == 0) MESSAGE(wgsl->stages[0].source);
  }
}

TEST_CASE("printed_kernels_compile_and_agree_with_the_interpreter") {
  if (!have_device()) return;
  for (const KernelCase& test : kernel_cases()) check_on_device(test);
}

TEST_CASE("printed_f16_kernels_compile_and_agree_with_the_interpreter") {
  if (!have_device() || !runner().info().f16) return;
  for (const KernelCase& test : f16_kernel_cases()) check_on_device(test);
}

TEST_CASE("printed_kernels_read_their_parameters") {
  if (!have_device()) return;
  ir::Kernel kernel =
      map_of("parameters", {DType::f32}, {3, 5},
             cast(Expr::coordinate(0), DType::f32) * Expr::parameter(0, DType::f32) +
                 select(Expr::parameter(5, DType::boolean), cast(Expr::parameter(4, DType::i32), DType::f32), 0.0));
  kernel.parameters = {DType::f32, DType::u32, DType::u32, DType::u32, DType::i32, DType::boolean};
  const auto ready = ir::finish(std::move(kernel));
  const float scale = 2.5f;
  std::uint32_t word = 0;
  std::memcpy(&word, &scale, 4);
  Expected<ir::Wgsl> wgsl = print_wgsl(*ready, runner().info());
  REQUIRE(wgsl);
  std::vector<std::vector<std::byte>> memory(1, std::vector<std::byte>(60));
  CHECK(runner().run(*wgsl, memory, {word, 0, 0, 0, static_cast<std::uint32_t>(-4), 1}) == "");
  Memory out(DType::f32, {});
  out.bytes = memory[0];
  for (std::size_t i = 0; i < 15; ++i) CHECK(out.get(i) == double(i / 5) * 2.5 - 4);
}

}  // namespace
}  // namespace hearth::test
