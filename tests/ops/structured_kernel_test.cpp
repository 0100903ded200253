#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <functional>

#include "structured_test.hpp"

using namespace hearth;
using namespace structured_test;

/// The GPU of each mode; none: the tests of WGSL have nothing to run on.
static std::vector<Place> gpus() {
  std::vector<Place> found;
  for (const Place& place : places())
    if (place.name.rfind("WebGPU", 0) == 0) found.push_back(place);
  return found;
}

static const char* scale_source = R"(
@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read_write> doubled: array<f32>;
@group(0) @binding(2) var<storage, read_write> shifted: array<f32>;
@group(0) @binding(3) var<uniform> parameters: array<vec4<f32>, 1>;
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  if (id.x >= arrayLength(&x)) { return; }
  doubled[id.x] = x[id.x] * 2.0;
  shifted[id.x] = x[id.x] + parameters[0].x;
}
)";
static KernelDescriptor scale() {
  return {
      .label = "scale", .wgsl = scale_source, .inputs = {DType::f32}, .outputs = {DType::f32, DType::f32}, .parameter_count = 1};
}
static std::uint32_t bits(float value) { return std::bit_cast<std::uint32_t>(value); }

TEST_CASE("a kernel from WGSL computes its outputs from views too") {
  for (const Place& place : gpus()) {
    INFO(place.name);
    const Kernel kernel = Kernel::create(place.device, scale()).get();
    const Array x = sample({130});
    for (const Tensor& input : {upload(x, place), upload_strided(x, place), upload(x, place) * 1.0}) {
      const std::vector<Tensor> out = kernel.launch(
          std::vector{input}, {.output_shapes = {{130}, {130}}, .workgroups = {3, 1, 1}, .parameters = {bits(0.5f)}});
      REQUIRE_EQ(out.size(), 2);
      check_equal(out[0], make({130}, [&](const auto& i) { return 2 * x.at(i); }), "doubled");
      check_equal(out[1] - 0.5, x, "shifted");
    }
  }
}

TEST_CASE("a kernel from WGSL is compiled when it is made, and for no grid again") {
  for (const Place& place : gpus()) {
    INFO(place.name);
    KernelDescriptor descriptor = scale();
    descriptor.wgsl += "// of its own, in every mode: " + place.name + "\n";
    const Statistics start = place.device.statistics();
    const Kernel kernel = Kernel::create(place.device, descriptor).get();
    CHECK_EQ((place.device.statistics() - start).pipelines, 1);
    for (std::uint32_t grid = 1; grid <= 20; ++grid) {
      const std::int64_t count = 64 * grid;
      const std::vector<Tensor> out =
          kernel.launch(std::vector{tensor(std::vector<float>(64 * grid, 1), {count}, place.device)},
                        {.output_shapes = {{count}, {count}}, .workgroups = {grid, 1, 1}, .parameters = {bits(0)}});
      CHECK_EQ(out[0].read<float>().get(), std::vector<float>(static_cast<std::size_t>(count), 2));
    }
    CHECK_EQ((place.device.statistics() - start).pipelines, 1);
  }
}

TEST_CASE("a kernel's declared gradient is used, and differentiated again") {
  for (const Place& place : gpus()) {
    INFO(place.name);
    const Kernel kernel = Kernel::create(place.device, scale())
                              .get()
                              .with_gradient([](std::span<const Tensor>, std::span<const Tensor>, std::span<const Tensor> g) {
                                return std::vector{g[0] * 2.0 + g[1]};
                              });
    const Tensor x = upload(sample({3}), place).require_grad();
    const std::vector<Tensor> out = kernel.launch(std::vector{x}, {.output_shapes = {{3}, {3}}, .parameters = {bits(1)}});
    CHECK_EQ(sum(out[0] + out[1]).backward().of(x).read<float>().get(), std::vector<float>(3, 3));
    const Tensor g = sum(out[0] * out[0]).backward({.create_graph = true}).of(x);
    CHECK_EQ(sum(g).backward().of(x).read<float>().get(), std::vector<float>(3, 8));
  }
}

TEST_CASE("a kernel that does not compile says why, and the device stays usable") {
  for (const Place& place : gpus()) {
    INFO(place.name);
    KernelDescriptor wrong = scale();
    wrong.wgsl += "\nfn broken() -> f32 { return undefined_name; }\n";
    Expected<Kernel> made = Kernel::create(place.device, wrong).result();
    REQUIRE(!made);
    CHECK_EQ(made.error().code, ErrorCode::compilation);
    CHECK_NE(made.error().message.find("undefined_name"), std::string::npos);
    CHECK_EQ(ones({2}, place.device).read<float>().get(), std::vector<float>(2, 1));
  }
}

TEST_CASE("a kernel from an expression works everywhere and has its gradient") {
  const Kernel kernel = Kernel::from_expression("scale_add", 2, [](std::span<const Expr> x) { return x[0] * 2 + x[1] * x[1]; });
  const Array a = sample({2, 3}, 1), b = sample({3}, 2);
  check({"scale_add", {a, b}, [=](const std::vector<Tensor>& t) { return kernel(t); }, make({2, 3}, [&](const auto& i) {
           return 2 * a.at(i) + b.at({i[1]}) * b.at({i[1]});
         })});
  const Kernel own = kernel.with_gradient([](std::span<const Tensor> x, std::span<const Tensor>, std::span<const Tensor>) {
    return std::vector{Tensor(), full_like(x[1], 5)};
  });
  for (const Place& place : places()) {
    INFO(place.name);
    const Tensor x = upload(a, place).require_grad(), y = upload(a, place).require_grad();
    const Gradients g = sum(own(std::vector{x, y})).backward();
    CHECK_EQ(g.of(y).read<float>().get(), std::vector<float>(6, 5));
    CHECK_EQ(g.of(x).read<float>().get(), std::vector<float>(6, 0));
  }
}

TEST_CASE("mistakes with kernels are errors before any work") {
  const Device null = Device::null();
  const Kernel kernel = Kernel::create(null, scale()).get();
  const Tensor x = zeros({4}, null);
  const LaunchOptions good{.output_shapes = {{4}, {4}}, .parameters = {0}};
  const auto launch = [&](std::vector<Tensor> inputs, LaunchOptions options) {
    return [=] { (void)kernel.launch(inputs, options); };
  };
  LaunchOptions options = good;
  check_error(launch({}, good), ErrorCode::invalid_argument, "scale: 0 inputs were given, and the kernel has 1.");
  check_error(launch({Tensor()}, good), ErrorCode::invalid_argument, "scale: the tensor is null.");
  check_error(launch({zeros({4}, DType::i32, null)}, good), ErrorCode::dtype_mismatch,
              "scale: input 0 is i32, and the kernel takes f32.");
  check_error(launch({zeros({4}, Device::cpu())}, good), ErrorCode::wrong_device,
              "scale: input 0 is on another device than the kernel.");
  options.output_shapes.pop_back();
  check_error(launch({x}, options), ErrorCode::invalid_argument,
              "scale: 1 output shapes were given, and the kernel has 2 outputs.");
  options = good;
  options.parameters.clear();
  check_error(launch({x}, options), ErrorCode::invalid_argument, "scale: 0 parameters were given, and the kernel has 1.");
  options = good;
  options.workgroups = {1, 70000, 1};
  check_error(launch({x}, options), ErrorCode::invalid_argument,
              "scale: [1, 70000, 1] workgroups are asked for; the device runs 1 to 65535 a dimension.");
  check_error([] { (void)Kernel().launch({}, {}); }, ErrorCode::invalid_argument,
              "kernel: it was default-made and computes nothing.");
  check_error([&] { (void)kernel(std::vector{x}); }, ErrorCode::invalid_argument,
              "scale: a kernel from WGSL is started by launch, which takes the outputs' shapes.");
  check_error([] { (void)Kernel::from_expression("e", 0, [](std::span<const Expr>) { return Expr(1); }); },
              ErrorCode::invalid_argument, "e: an expression has at least one input, not 0.");

  const auto create = [&](const std::function<void(KernelDescriptor&)>& change) {
    KernelDescriptor descriptor = scale();
    change(descriptor);
    return [=] { (void)Kernel::create(null, descriptor).get(); };
  };
  check_error(create([](auto& d) { d.wgsl.clear(); }), ErrorCode::invalid_argument, "scale: the WGSL source is empty.");
  check_error(create([](auto& d) { d.outputs.clear(); }), ErrorCode::invalid_argument,
              "scale: a kernel needs at least one output.");
  check_error(create([](auto& d) { d.parameter_count = 65; }), ErrorCode::invalid_argument,
              "scale: 65 parameters are asked for; there are 0 to 64.");
  check_error(create([](auto& d) { d.inputs.assign(8, DType::f32); }), ErrorCode::unsupported,
              "scale: it binds 10 buffers, and the device binds at most 8.");
  check_error([] { (void)Kernel::create(Device::cpu(), scale()).get(); }, ErrorCode::unsupported,
              "scale: a kernel of WGSL source needs a GPU; the CPU device runs kernels made from expressions.");
}
