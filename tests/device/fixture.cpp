#include "device/fixture.hpp"

#include <cstring>

#include "ir/expr.hpp"

namespace hearth::test {

namespace {

Expr element(int binding) { return Expr::load(binding, DType::f32, {Expr::coordinate(ir::flat_coordinate)}); }

}  // namespace

Fixture::Fixture(const RuntimeOptions& options) {
  channel = runtime::open_webgpu(app.native(), options).value();
  client = Client(channel);
}

Handle Fixture::make(const std::vector<float>& values) const { return client.create(bytes_of(values)).value(); }

std::vector<float> Fixture::read(const Handle& handle) const {
  return floats(client.read(handle, 0, handle->size / 4 * 4).get());
}

Handle Fixture::run(const ir::KernelRef& kernel, std::vector<Handle> inputs, const std::vector<float>& parameters) const {
  const auto count =
      kernel->form == ir::Form::source ? inputs.at(0)->size / 4 : static_cast<std::size_t>(kernel->extent.elements());
  inputs.push_back(empty(count));
  std::vector<std::uint32_t> words(parameters.size());
  if (!words.empty()) std::memcpy(words.data(), parameters.data(), words.size() * sizeof(float));
  client.launch(kernel, inputs, words).value();
  return inputs.back();
}

ir::KernelRef add(std::int64_t count) {
  ir::Kernel kernel;
  kernel.label = "add";
  kernel.bindings = {DType::f32, DType::f32, DType::f32};
  kernel.extent = {count};
  kernel.value = element(0) + element(1);
  return ir::finish(std::move(kernel));
}

ir::KernelRef affine(std::int64_t count) {
  ir::Kernel kernel;
  kernel.label = "affine";
  kernel.bindings = {DType::f32, DType::f32};
  kernel.parameters = {DType::f32, DType::f32};
  kernel.extent = {count};
  kernel.value = element(0) * Expr::parameter(0, DType::f32) + Expr::parameter(1, DType::f32);
  return ir::finish(std::move(kernel));
}

ir::KernelRef fill(std::int64_t count) {
  ir::Kernel kernel;
  kernel.label = "fill";
  kernel.bindings = {DType::f32};
  kernel.parameters = {DType::f32};
  kernel.extent = {count};
  kernel.value = Expr::parameter(0, DType::f32);
  return ir::finish(std::move(kernel));
}

ir::KernelRef sum(std::int64_t count) {
  ir::Kernel kernel;
  kernel.label = "sum";
  kernel.form = ir::Form::reduce;
  kernel.bindings = {DType::f32, DType::f32};
  kernel.extent = {};
  kernel.reduced = {count};
  kernel.value = Expr::load(0, DType::f32, {Expr::coordinate(0)});
  return ir::finish(std::move(kernel));
}

ir::KernelRef source(std::string label, std::string wgsl, std::size_t bindings, std::uint32_t workgroups) {
  ir::Kernel kernel;
  kernel.label = std::move(label);
  kernel.form = ir::Form::source;
  kernel.source = std::move(wgsl);
  kernel.entry_point = "main";
  kernel.bindings.assign(bindings, DType::f32);
  kernel.workgroups = {workgroups, 1, 1};
  return ir::finish(std::move(kernel));
}

std::vector<float> floats(const std::vector<std::byte>& bytes) {
  std::vector<float> values(bytes.size() / sizeof(float));
  if (!values.empty()) std::memcpy(values.data(), bytes.data(), values.size() * sizeof(float));
  return values;
}

std::span<const std::byte> bytes_of(const std::vector<float>& values) { return std::as_bytes(std::span(values)); }

std::vector<float> range(std::size_t count, float first, float step) {
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = first + step * static_cast<float>(i);
  return values;
}

}  // namespace hearth::test
