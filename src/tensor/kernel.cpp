#include "hearth/kernel.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <mutex>
#include <set>

#include "graph/autodiff.hpp"
#include "graph/context.hpp"
#include "hearth/ops/create.hpp"
#include "tensor/structured.hpp"

namespace hearth {
namespace {

using namespace structured;
using graph::Context;

/// Pending operations point to their label, so it lives as long as the process; there are as many as kernels have names.
const char* lasting(const std::string& label) {
  static std::mutex mutex;
  static std::set<std::string> labels;
  const std::scoped_lock lock(mutex);
  return labels.insert(label).first->c_str();
}

/// What the history of one launch keeps.
struct Record {
  Kernel::Gradient gradient;
  std::vector<Tensor> outputs;  ///< without their history, which would own itself
  std::string label;
};

/// Attributes: which output this is.
std::vector<Tensor> grad_launch(const Operation& operation, const Tensor& output, const Tensor& gradient, std::span<const bool>) {
  const Record& launch = *static_cast<const Record*>(operation.extra.get());
  const auto which = static_cast<std::size_t>(attribute(operation, 0));
  std::vector<Tensor> inputs, outputs = launch.outputs, gradients;
  for (std::size_t i = 0; i < operation.inputs.size(); ++i) inputs.push_back(input(operation, static_cast<int>(i)));
  outputs[which] = output;
  for (std::size_t i = 0; i < outputs.size(); ++i) gradients.push_back(i == which ? gradient : zeros_like(outputs[i]));
  std::vector<Tensor> parts = launch.gradient(inputs, outputs, gradients);
  if (parts.size() != inputs.size())
    fail(ErrorCode::invalid_argument, "{}: its gradient gives {} tensors for {} inputs.", launch.label, parts.size(),
         inputs.size());
  for (std::size_t i = 0; i < parts.size(); ++i)
    if (parts[i] && parts[i].shape() != inputs[i].shape())
      fail(ErrorCode::shape_mismatch, "{}: its gradient of input {} is {}, and the input is {}.", launch.label, i,
           text(parts[i].shape()), text(inputs[i].shape()));
  return parts;
}
constexpr Definition launch_definition{.name = "kernel", .gradient = grad_launch};

/// Gives the outputs of a launch their history when a gradient is declared and an input has one.
void record_launch(const Kernel::Gradient& gradient, const std::string& label, std::span<const Tensor> inputs,
                   std::vector<Tensor>& outputs) {
  bool wanted = false;
  for (const Tensor& x : inputs) wanted |= x.requires_grad();
  if (!gradient || !wanted) return;
  const auto launch = std::make_shared<const Record>(Record{gradient, outputs, label});
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (!is_float(outputs[i].dtype())) continue;
    Operation operation;
    operation.definition = &launch_definition;
    operation.inputs.assign(inputs.begin(), inputs.end());
    operation.shape = outputs[i].shape();
    operation.dtype = outputs[i].dtype();
    operation.attributes = {static_cast<std::int64_t>(i)};
    operation.extra = launch;
    const Context::Guard guard(*outputs[i].node()->context);
    outputs[i] = graph::record(std::move(operation), outputs[i]);
  }
}

Expected<void> check(const KernelDescriptor& descriptor, const DeviceInfo& info) {
  const auto failure = [&](ErrorCode code, std::string rest) { return Failure{code, descriptor.label + ": " + std::move(rest)}; };
  if (descriptor.wgsl.empty()) return failure(ErrorCode::invalid_argument, "the WGSL source is empty.");
  if (descriptor.outputs.empty()) return failure(ErrorCode::invalid_argument, "a kernel needs at least one output.");
  if (descriptor.parameter_count < 0 || descriptor.parameter_count > 64)
    return failure(ErrorCode::invalid_argument,
                   fmt::format("{} parameters are asked for; there are 0 to 64.", descriptor.parameter_count));
  const std::size_t count = descriptor.inputs.size() + descriptor.outputs.size();
  if (count > info.max_storage_buffers)
    return failure(ErrorCode::unsupported,
                   fmt::format("it binds {} buffers, and the device binds at most {}.", count, info.max_storage_buffers));
  for (const std::vector<DType>* list : {&descriptor.inputs, &descriptor.outputs})
    for (const DType dtype : *list)
      if ((dtype == DType::f16 && !info.f16) || (dtype == DType::f64 && !info.f64))
        return failure(ErrorCode::unsupported, fmt::format("a binding is {}, which {} does not have.", text(dtype), info.name));
  return {};
}

}  // namespace

struct Kernel::State {
  Device device;  ///< source kernels
  KernelDescriptor descriptor;
  int input_count = 0;
  std::function<Expr(std::span<const Expr>)> body;  ///< expression kernels
  Gradient gradient;

  /// The compiled kernel for a number of workgroups. Shared with the copies that `with_gradient` makes.
  struct Variants {
    std::mutex mutex;
    std::map<std::array<std::uint32_t, 3>, ir::KernelRef> by_workgroups;
  };
  std::shared_ptr<Variants> variants = std::make_shared<Variants>();

  [[nodiscard]] ir::KernelRef kernel(const std::array<std::uint32_t, 3>& workgroups) const {
    const std::scoped_lock lock(variants->mutex);
    ir::KernelRef& found = variants->by_workgroups[workgroups];
    if (found) return found;
    ir::Kernel made;
    made.label = descriptor.label;
    made.form = ir::Form::source;
    made.bindings = descriptor.inputs;
    made.bindings.insert(made.bindings.end(), descriptor.outputs.begin(), descriptor.outputs.end());
    made.outputs = static_cast<int>(descriptor.outputs.size());
    made.parameters.assign(static_cast<std::size_t>(descriptor.parameter_count), DType::u32);
    made.source = descriptor.wgsl;
    made.entry_point = descriptor.entry_point;
    made.workgroups = workgroups;
    return found = ir::finish(std::move(made));
  }

  void check_launch(std::span<const Tensor> inputs, const LaunchOptions& options) const;
};

Future<Kernel> Kernel::create(const Device& device, KernelDescriptor descriptor) {
  if (!device) fail(ErrorCode::invalid_argument, "{}: the device is null.", descriptor.label);
  Context& context = *device.context();
  if (Expected<void> valid = check(descriptor, context.info()); !valid) return Future<Kernel>::ready_with(valid.error());
  auto state = std::make_shared<State>();
  state->device = device;
  state->input_count = static_cast<int>(descriptor.inputs.size());
  state->descriptor = std::move(descriptor);
  const ir::KernelRef kernel = state->kernel({1, 1, 1});
  const Ref<runtime::Channel> channel = context.client().channel();
  // Not under the context's guard: the server's thread may be running a callback that wants it.
  Future<void> compiled;
  channel->check_thread().value();
  const Expected<void> started = channel->call([&](runtime::Server& server) -> Expected<void> {
    compiled = server.compile(kernel);
    return {};
  });
  if (!started) return Future<Kernel>::ready_with(started.error());
  return runtime::through(channel, std::move(compiled)).then([state] {
    Kernel made;
    made.state_ = state;
    return made;
  });
}

Kernel Kernel::from_expression(std::string label, int input_count, std::function<Expr(std::span<const Expr>)> body) {
  if (input_count < 1) fail(ErrorCode::invalid_argument, "{}: an expression has at least one input, not {}.", label, input_count);
  if (!body) fail(ErrorCode::invalid_argument, "{}: the expression is null.", label);
  auto state = std::make_shared<State>();
  state->descriptor.label = std::move(label);
  state->input_count = input_count;
  state->body = std::move(body);
  Kernel made;
  made.state_ = std::move(state);
  return made;
}

Kernel Kernel::with_gradient(Gradient gradient) const {
  if (!state_) fail(ErrorCode::invalid_argument, "kernel: it was default-made and computes nothing.");
  auto state = std::make_shared<State>(*state_);
  state->gradient = std::move(gradient);
  Kernel made;
  made.state_ = std::move(state);
  return made;
}

void Kernel::State::check_launch(std::span<const Tensor> inputs, const LaunchOptions& options) const {
  const std::string& label = descriptor.label;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i].dtype() != descriptor.inputs[i])
      fail(ErrorCode::dtype_mismatch, "{}: input {} is {}, and the kernel takes {}.", label, i, text(inputs[i].dtype()),
           text(descriptor.inputs[i]));
    if (!(inputs[i].device() == device))
      fail(ErrorCode::wrong_device, "{}: input {} is on another device than the kernel.", label, i);
  }
  if (options.output_shapes.size() != descriptor.outputs.size())
    fail(ErrorCode::invalid_argument, "{}: {} output shapes were given, and the kernel has {} outputs.", label,
         options.output_shapes.size(), descriptor.outputs.size());
  for (const Shape& shape : options.output_shapes) check_shape(shape, label.c_str());
  if (options.parameters.size() != static_cast<std::size_t>(descriptor.parameter_count))
    fail(ErrorCode::invalid_argument, "{}: {} parameters were given, and the kernel has {}.", label, options.parameters.size(),
         descriptor.parameter_count);
  const std::uint32_t most = device.info().max_workgroups_per_dimension;
  for (std::uint32_t count : options.workgroups)
    if (count == 0 || count > most)
      fail(ErrorCode::invalid_argument, "{}: [{}, {}, {}] workgroups are asked for; the device runs 1 to {} a dimension.", label,
           options.workgroups[0], options.workgroups[1], options.workgroups[2], most);
}

std::vector<Tensor> Kernel::launch(std::span<const Tensor> inputs, const LaunchOptions& options) const {
  if (!state_) fail(ErrorCode::invalid_argument, "kernel: it was default-made and computes nothing.");
  const std::string& label = state_->descriptor.label;
  if (inputs.size() != static_cast<std::size_t>(state_->input_count))
    fail(ErrorCode::invalid_argument, "{}: {} inputs were given, and the kernel has {}.", label, inputs.size(),
         state_->input_count);
  for (const Tensor& x : inputs) require(x, label.c_str());
  if (state_->body) return {(*this)(inputs)};
  state_->check_launch(inputs, options);

  Context& context = *state_->device.context();
  const Context::Guard guard(context);
  const Client& client = context.client();
  const std::uint64_t scope = context.eager().scope;
  const auto fresh = [&](std::uint64_t bytes) {
    Handle memory = client.empty(bytes).value();
    memory->scope = scope;
    return memory;
  };
  std::vector<Handle> bindings;
  for (const Tensor& x : inputs) {
    // A tensor without elements still has a binding; one that is given twice would be bound twice, which a kernel that writes
    // its inputs may not have.
    Handle memory = x.elements() == 0 ? fresh(4) : graph::dense_handle(x);
    if (memory->scope != 0 && memory->scope != scope)
      fail(ErrorCode::not_submitted, "{}: an input of shape {} belongs to an encoder that the app has not submitted yet.", label,
           text(x.shape()));
    for (const Handle& other : bindings) {
      if (other != memory) continue;
      Handle copy = fresh(memory->size);
      client.copy(memory, 0, copy, 0, memory->size).value();
      memory = std::move(copy);
      break;
    }
    bindings.push_back(std::move(memory));
  }
  std::vector<Tensor> outputs;
  for (std::size_t i = 0; i < options.output_shapes.size(); ++i) {
    const Shape& shape = options.output_shapes[i];
    const DType dtype = state_->descriptor.outputs[i];
    const std::uint64_t bytes = static_cast<std::uint64_t>(shape.elements()) * size_bytes(dtype);
    Handle memory = fresh(std::max<std::uint64_t>(bytes, 4));
    outputs.push_back(graph::wrap(state_->device, bytes == 0 ? Handle() : memory, shape, dtype));
    bindings.push_back(std::move(memory));
  }
  client.launch(state_->kernel(options.workgroups), bindings, options.parameters).value();
  record_launch(state_->gradient, label, inputs, outputs);
  return outputs;
}

Tensor Kernel::operator()(std::span<const Tensor> inputs) const {
  if (!state_) fail(ErrorCode::invalid_argument, "kernel: it was default-made and computes nothing.");
  const std::string& label = state_->descriptor.label;
  if (!state_->body)
    fail(ErrorCode::invalid_argument, "{}: a kernel from WGSL is started by launch, which takes the outputs' shapes.", label);
  if (inputs.size() != static_cast<std::size_t>(state_->input_count))
    fail(ErrorCode::invalid_argument, "{}: {} inputs were given, and the kernel has {}.", label, inputs.size(),
         state_->input_count);
  Shape shape;
  DType promoted = DType::boolean;
  std::vector<Expr> arguments;
  std::vector<Operand> operands;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    require(inputs[i], label.c_str());
    shape = i == 0 ? inputs[i].shape() : broadcast(shape, inputs[i].shape(), label.c_str());
    promoted = i == 0 ? inputs[i].dtype() : promote(promoted, inputs[i].dtype());
    arguments.push_back(Expr::argument(static_cast<int>(i), inputs[i].dtype()));
    operands.emplace_back(state_->gradient ? inputs[i].detach() : inputs[i]);
  }
  const Expr value = state_->body(arguments);
  if (!value) fail(ErrorCode::invalid_argument, "{}: the expression gives nothing.", label);
  // f16 and bytes are computed wider and stay what they were.
  const DType dtype = compute_dtype(promoted) == value.dtype() ? promoted : value.dtype();
  std::vector<Tensor> outputs{graph::elementwise(lasting(label), value, operands, shape, dtype, inputs[0].device())};
  record_launch(state_->gradient, label, inputs, outputs);
  return outputs[0];
}

}  // namespace hearth
