#include "graph/eager.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "base/assert.hpp"
#include "base/hash.hpp"
#include "graph/context.hpp"
#include "graph/lower.hpp"

namespace hearth::graph {

void Key::add(const Operation& operation) {
  add(operation.definition);
  add(operation.spec);
  words.push_back(operation.extra_hash);
  words.push_back(static_cast<std::uint64_t>(operation.dtype) | operation.attributes.size() << 8);
  for (std::int64_t attribute : operation.attributes) words.push_back(static_cast<std::uint64_t>(attribute));
  add(operation.shape);
}

void Key::finish() {
  hash = 0;
  for (std::uint64_t word : words) hash = base::hash_combine(hash, word);
}

static constexpr std::size_t max_plans = 8192;

Tensor Eager::execute(Operation operation) {
  auto node = make_ref<Node>(Ref<Context>(&context_), operation.shape, operation.dtype);
  node->strides = row_major_strides(operation.shape);
  node->sequence = context_.next_sequence();
  if (node->elements() != 0) run(operation, *node);
  return {std::move(node), {}};
}

void Eager::materialise(Node& node) { HEARTH_ASSERT(node.ready()); }

void Eager::check_usable(const Operation& operation, const Node& input) const {
  const runtime::Allocation& memory = *input.memory;
  if (memory.scope != 0 && memory.scope != scope)
    throw Error(ErrorCode::not_submitted,
                fmt::format("{}: an input of shape {} belongs to an encoder that the app has not submitted yet.",
                            operation.name(), to_string(input.shape)));
  if (memory.failure) throw Error(*memory.failure);
}

void Eager::become_view(const Plan& plan, const Node& base, Node& output) {
  output.memory = base.memory;
  output.strides = plan.strides;
  output.offset = base.offset + plan.offset;
  output.dense = plan.dense;
}

bool Eager::view(Node& node) {
  const Operation& operation = node.operation;
  if (!operation.inputs[0].node->memory) return false;
  const Plan& found = plan(operation);
  if (!found.view) return false;
  become_view(found, *operation.inputs[0].node, node);
  return true;
}

void Eager::run(const Operation& operation, Node& output) {
  for (const Operand& input : operation.inputs)
    if (input.node && input.node->memory) check_usable(operation, *input.node);
  const Plan* plan = &this->plan(operation);
  Operation densified;
  const Operation* source = &operation;
  if (!plan->view && !plan->kernel) {
    // The form needs dense operands that some of these are not.
    densified = operation;
    densify_operands(densified, operation.definition->lower(operation));
    source = &densified;
    plan = &this->plan(densified);
    HEARTH_ASSERT(plan->kernel);
  }

  if (plan->view) {
    become_view(*plan, *source->inputs[0].node, output);
    return;
  }

  const std::uint64_t bytes = output.bytes();
  if (bytes > context_.info().max_binding_bytes)
    throw Error(ErrorCode::unsupported,
                fmt::format("{}: the result {} of {} takes {} bytes, and the device binds at most {}.", operation.name(),
                            to_string(operation.shape), to_string(operation.dtype), bytes, context_.info().max_binding_bytes));

  std::array<std::uint32_t, 64> words;
  std::size_t word_count = 0;
  for (const Parameter& parameter : plan->parameters) {
    const Operand& input = source->inputs[static_cast<std::size_t>(parameter.input)];
    const double value = parameter.is_offset ? static_cast<double>(input.node->offset) : input.number;
    word_count += encode_parameter(value, parameter.dtype, words.data() + word_count);
  }

  Handle memory = client_.empty(bytes).value();
  memory->scope = scope;
  std::array<Handle, 32> bindings;
  std::size_t count = 0;
  for (int input : plan->binding_inputs) bindings[count++] = source->inputs[static_cast<std::size_t>(input)].node->memory;
  bindings[count++] = memory;
  client_.launch(plan->kernel, std::span(bindings.data(), count), std::span(words.data(), word_count)).value();
  output.memory = std::move(memory);
}

/// Appends what the lowering of an operation depends on, beside the operation itself.
static void add_inputs(Key& key, const Operation& operation) {
  std::array<const runtime::Allocation*, 64> seen;
  std::size_t distinct = 0;
  for (const Operand& input : operation.inputs) {
    if (input.is_number()) {
      key.add(0x100ull | static_cast<std::uint64_t>(input.dtype));
      continue;
    }
    const Node& node = *input.node;
    std::size_t binding = 0;
    while (binding < distinct && seen[binding] != node.memory.get()) ++binding;
    if (binding == distinct && distinct < seen.size()) seen[distinct++] = node.memory.get();
    key.add(0x200ull | static_cast<std::uint64_t>(node.dtype) | static_cast<std::uint64_t>(node.dense) << 10 |
            static_cast<std::uint64_t>(node.offset != 0) << 11 | binding << 12);
    key.add(node.shape);
    if (!node.dense) key.add(node.strides);
  }
}

const Eager::Plan& Eager::plan(const Operation& operation) {
  key_.clear();
  key_.add(operation);
  add_inputs(key_, operation);
  key_.finish();
  if (auto found = plans_.find(key_); found != plans_.end()) return found->second;
  Key key = key_;  // lowering may run operations of its own
  Plan made = lower(operation, operation.definition->lower(operation));
  // Slices at ever new places would grow this without end.
  if (plans_.size() >= max_plans) plans_.clear();
  return plans_.emplace(std::move(key), std::move(made)).first->second;
}

Eager::Plan Eager::lower(const Operation& operation, Body body) {
  if (body.form == ir::Form::matmul || body.form == ir::Form::conv2d) return lower_structured(operation, body);
  HEARTH_ASSERT(body.form == ir::Form::map || body.form == ir::Form::reduce);
  if (body.form == ir::Form::reduce && body.reduced.elements() == 0) body = empty_reduction(body);
  Plan plan;
  Lowering lowering(operation, body.reduced);
  const Expr value = lowering.value(body.value);

  if (body.view) {
    if (auto affine = ir::affine(lowering.view_index(body.value), operation.shape, operation.shape.rank())) {
      plan.view = true;
      plan.strides = affine->strides;
      plan.offset = affine->offset;
      plan.dense = is_dense(operation.shape, plan.strides);
      return plan;
    }
  }

  ir::Kernel kernel;
  kernel.label = operation.name();
  kernel.form = body.form;
  kernel.value = value;
  kernel.extent = lowering.extent();
  kernel.reduced = body.reduced;
  kernel.combine = body.combine;
  if (body.epilogue) kernel.epilogue = lowering.epilogue(body.epilogue);
  lowering.bind(kernel);
  kernel.bindings.push_back(operation.dtype);
  plan.binding_inputs = lowering.binding_inputs();
  for (const auto& p : lowering.parameters()) plan.parameters.push_back({p.input, p.is_offset, p.dtype});
  const int limit = static_cast<int>(context_.info().max_storage_buffers);
  if (static_cast<int>(kernel.bindings.size()) > limit)
    throw Error(ErrorCode::unsupported, fmt::format("{}: needs {} buffers in one kernel, and the device binds at most {}.",
                                                    operation.name(), kernel.bindings.size(), limit));
  plan.kernel = ir::finish(std::move(kernel));
  return plan;
}

/// The first two inputs are the operands of the product or the convolution; an epilogue may load the others at the output's
/// own coordinates.
Eager::Plan Eager::lower_structured(const Operation& operation, const Body& body) {
  Plan plan;
  const Node& a = *operation.inputs[0].node;
  const Node& b = *operation.inputs[1].node;
  if (body.form == ir::Form::matmul && body.matmul.k == 0) {
    Body zeros;
    zeros.value = Expr::constant(0, compute_dtype(operation.dtype));
    return lower(operation, zeros);
  }
  ir::Kernel kernel;
  kernel.label = operation.name();
  kernel.form = body.form;
  kernel.extent = operation.shape;
  if (body.form == ir::Form::matmul) {
    ir::Matmul& m = kernel.matmul = body.matmul;
    const auto batch_strides = [&](const Node& node) {
      Shape strides;
      const int missing = m.batch.rank() - (node.shape.rank() - 2);
      for (int i = 0; i < m.batch.rank(); ++i) {
        const int axis = i - missing;
        strides.push_back(axis < 0 || node.shape[axis] == 1 ? 0 : node.strides[axis]);
      }
      return strides;
    };
    m.a_batch = batch_strides(a);
    m.b_batch = batch_strides(b);
    m.a_row = a.strides[a.shape.rank() - 2];
    m.a_column = a.strides[a.shape.rank() - 1];
    m.b_row = b.strides[b.shape.rank() - 2];
    m.b_column = b.strides[b.shape.rank() - 1];
    // A negative stride, an offset (not in the plan's key) or one binding twice: copies first.
    if (a.offset != 0 || b.offset != 0 || a.memory == b.memory) return plan;
  } else {
    kernel.conv2d = body.conv2d;
    if (!a.dense || !b.dense || a.offset != 0 || b.offset != 0 || a.memory == b.memory) return plan;
  }
  Lowering lowering(operation, {}, 2);
  if (body.epilogue) kernel.epilogue = lowering.epilogue(body.epilogue);
  for (int input : lowering.binding_inputs()) {
    const Handle& memory = operation.inputs[static_cast<std::size_t>(input)].node->memory;
    if (input >= 2 && (memory == a.memory || memory == b.memory)) return plan;
  }
  lowering.bind(kernel);
  kernel.bindings.push_back(operation.dtype);
  plan.binding_inputs = lowering.binding_inputs();
  for (const auto& p : lowering.parameters()) plan.parameters.push_back({p.input, p.is_offset, p.dtype});
  plan.kernel = ir::finish(std::move(kernel));
  return plan;
}

/// Replaces operands that a structured kernel cannot take by dense copies of their own.
void Eager::densify_operands(Operation& operation, const Body& body) {
  HEARTH_ASSERT(body.form == ir::Form::matmul || body.form == ir::Form::conv2d);
  const Node& a = *operation.inputs[0].node;
  const Node& b = *operation.inputs[1].node;
  for (std::size_t i = 0; i < operation.inputs.size(); ++i) {
    Operand& input = operation.inputs[i];
    if (input.is_number()) continue;
    const Node& node = *input.node;
    const bool strided = i < 2 && (node.offset != 0 || (body.form == ir::Form::conv2d && !node.dense));
    const bool shared = i >= 1 && (node.memory == a.memory || (i >= 2 && node.memory == b.memory));
    if (!strided && !shared) continue;
    Operation copy = copy_of(input);
    input = Operand(execute(std::move(copy)));
  }
}

void Eager::make_dense(Node& node) {
  if (node.elements() == 0 || (node.dense && node.offset == 0 && node.memory->size == node.bytes())) return;
  auto source = make_ref<Node>(node.context, node.shape, node.dtype);
  source->memory = node.memory;
  source->strides = node.strides;
  source->offset = node.offset;
  source->dense = node.dense;
  const Tensor copy = execute(copy_of(Operand(Tensor(source, {}))));
  node.memory = copy.node()->memory;
  node.strides = copy.node()->strides;
  node.offset = 0;
  node.dense = true;
}

}  // namespace hearth::graph
