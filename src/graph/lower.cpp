#include "graph/lower.hpp"

#include <cmath>
#include <cstring>

#include "base/assert.hpp"

namespace hearth::graph {

Expr flat_index(std::span<const Expr> coordinates, const Shape& strides) {
  Expr index;
  for (int i = 0; i < strides.rank(); ++i) {
    if (strides[i] == 0) continue;
    const Expr& coordinate = coordinates[static_cast<std::size_t>(i)];
    const Expr term = strides[i] == 1 ? coordinate : coordinate * static_cast<int>(strides[i]);
    index = index ? index + term : term;
  }
  return index ? index : Expr::constant(0, DType::i32);
}

bool is_dense(const Shape& shape, const Shape& strides) {
  std::int64_t expected = 1;
  for (int i = shape.rank() - 1; i >= 0; --i) {
    if (shape[i] != 1 && strides[i] != expected) return false;
    expected *= shape[i];
  }
  return true;
}

std::size_t encode_parameter(double value, DType dtype, std::uint32_t* words) {
  switch (dtype) {
    case DType::f64: std::memcpy(words, &value, sizeof value); return 2;
    case DType::i32: {
      const auto v = static_cast<std::int32_t>(value);
      std::memcpy(words, &v, sizeof v);
      return 1;
    }
    case DType::u32: words[0] = static_cast<std::uint32_t>(static_cast<std::int64_t>(value)); return 1;
    case DType::boolean: words[0] = value != 0; return 1;
    default: {
      const auto v = static_cast<float>(value);
      std::memcpy(words, &v, sizeof v);
      return 1;
    }
  }
}

static Body lower_copy(const Operation& operation) { return {.value = Expr::argument(0, compute_dtype(operation.dtype))}; }
static constexpr Definition copy_definition{.name = "copy", .lower = lower_copy};

Operation copy_of(const Operand& input) {
  Operation operation;
  operation.definition = &copy_definition;
  operation.inputs = {input};
  operation.inputs[0].tape = {};
  operation.shape = input.node->shape;
  operation.dtype = input.node->dtype;
  return operation;
}

Body empty_reduction(const Body& body) {
  const DType dtype = body.value.dtype();
  double identity = 0;
  switch (body.combine) {
    case Combine::sum: break;
    case Combine::prod: identity = 1; break;
    case Combine::max: identity = is_float(dtype) ? -INFINITY : dtype == DType::i32 ? -2147483648.0 : 0.0; break;
    case Combine::min:
      identity = is_float(dtype) ? INFINITY : dtype == DType::i32 ? 2147483647.0 : dtype == DType::u32 ? 4294967295.0 : 1.0;
      break;
  }
  Body map;
  map.value = Expr::constant(identity, dtype);
  if (body.epilogue)
    map.value = ir::rewrite(body.epilogue, [&](const ir::Node& node, std::span<const Expr>) -> Expr {
      if (node.op != ir::Op::argument) return {};
      return node.index == 0 ? map.value : Expr::argument(node.index - 1, node.dtype);
    });
  return map;
}

Lowering::Lowering(const Operation& operation, const Shape& reduced, int operands) : operation_(operation), operands_(operands) {
  int next = 0;
  for (std::int64_t dim : operation.shape) {
    if (dim == 1 && operands == 0) {
      axes_.push_back(Expr::constant(0, DType::i32));
      continue;
    }
    axes_.push_back(Expr::coordinate(next++));
    extent_.push_back(dim);
  }
  extents_ = extent_;
  for (std::int64_t dim : reduced) {
    axes_.push_back(Expr::coordinate(next++));
    extents_.push_back(dim);
  }
  for (int i = 0; i < operands; ++i) binding_inputs_.push_back(i);
}

int Lowering::binding(int input) {
  const auto& memory = operation_.inputs[static_cast<std::size_t>(input)].node->memory;
  // An operand's binding is declared in the width that the product reads: nobody else loads from it.
  for (std::size_t b = static_cast<std::size_t>(operands_); b < binding_inputs_.size(); ++b)
    if (operation_.inputs[static_cast<std::size_t>(binding_inputs_[b])].node->memory == memory &&
        operation_.inputs[static_cast<std::size_t>(binding_inputs_[b])].node->dtype ==
            operation_.inputs[static_cast<std::size_t>(input)].node->dtype)
      return static_cast<int>(b);
  binding_inputs_.push_back(input);
  return static_cast<int>(binding_inputs_.size()) - 1;
}

Expr Lowering::number(int input) {
  const DType dtype = compute_dtype(operation_.inputs[static_cast<std::size_t>(input)].dtype);
  for (std::size_t p = 0; p < parameters_.size(); ++p)
    if (parameters_[p].input == input && !parameters_[p].is_offset) return Expr::parameter(static_cast<int>(p), dtype);
  parameters_.push_back({input, false, dtype});
  return Expr::parameter(static_cast<int>(parameters_.size()) - 1, dtype);
}

Expr Lowering::offset(int input) {
  const Node& node = *operation_.inputs[static_cast<std::size_t>(input)].node;
  if (node.offset == 0) return {};
  for (std::size_t p = 0; p < parameters_.size(); ++p)
    if (parameters_[p].input == input && parameters_[p].is_offset) return Expr::parameter(static_cast<int>(p), DType::i32);
  parameters_.push_back({input, true, DType::i32});
  return Expr::parameter(static_cast<int>(parameters_.size()) - 1, DType::i32);
}

Expr Lowering::load_input(int input, std::span<const Expr> coordinates) {
  const Node& node = *operation_.inputs[static_cast<std::size_t>(input)].node;
  HEARTH_ASSERT(static_cast<int>(coordinates.size()) == node.shape.rank());
  if (node.elements() == 0) return Expr::constant(0, compute_dtype(node.dtype));  // never used
  Expr index = ir::simplify(flat_index(coordinates, node.strides), extents_, extent_.rank());
  if (Expr start = offset(input)) index = start + index;
  return Expr::load(binding(input), compute_dtype(node.dtype), {index});
}

Expr Lowering::at_output(int input) {
  const Node& node = *operation_.inputs[static_cast<std::size_t>(input)].node;
  if (node.dense && node.shape == operation_.shape) {
    Expr index = Expr::coordinate(ir::flat_coordinate);
    if (Expr start = offset(input)) index = start + index;
    return Expr::load(binding(input), compute_dtype(node.dtype), {index});
  }
  std::vector<Expr> coordinates;
  const int missing = operation_.shape.rank() - node.shape.rank();
  for (int i = 0; i < node.shape.rank(); ++i)
    coordinates.push_back(node.shape[i] == 1 ? Expr::constant(0, DType::i32) : axes_[static_cast<std::size_t>(i + missing)]);
  return load_input(input, coordinates);
}

Expr Lowering::finish(const Expr& e) const { return ir::simplify(e, extents_, extent_.rank()); }

Expr Lowering::value(const Expr& body) {
  return finish(ir::rewrite(body, [&](const ir::Node& node, std::span<const Expr> operands) -> Expr {
    switch (node.op) {
      case ir::Op::argument:
        return operation_.inputs[static_cast<std::size_t>(node.index)].is_number() ? number(node.index) : at_output(node.index);
      case ir::Op::load: return load_input(node.index, operands);
      case ir::Op::coordinate: return node.index < 0 ? Expr{} : axes_[static_cast<std::size_t>(node.index)];
      default: return {};
    }
  }));
}

Expr Lowering::epilogue(const Expr& body) {
  return finish(ir::rewrite(body, [&](const ir::Node& node, std::span<const Expr> operands) -> Expr {
    switch (node.op) {
      case ir::Op::argument: {
        if (node.index == 0) return {};
        const int input = node.index - 1;
        return operation_.inputs[static_cast<std::size_t>(input)].is_number() ? number(input) : at_output(input);
      }
      case ir::Op::load: return load_input(node.index - 1, operands);
      case ir::Op::coordinate: return node.index < 0 ? Expr{} : axes_[static_cast<std::size_t>(node.index)];
      default: return {};
    }
  }));
}

Expr Lowering::view_index(const Expr& body) const {
  const ir::Node& load = *body.node();
  const Node& base = *operation_.inputs[static_cast<std::size_t>(load.index)].node;
  std::vector<Expr> coordinates;
  if (load.op == ir::Op::load) {
    coordinates = load.operands;
  } else {
    const int missing = operation_.shape.rank() - base.shape.rank();
    for (int i = 0; i < base.shape.rank(); ++i)
      coordinates.push_back(base.shape[i] == 1 ? Expr::constant(0, DType::i32) : Expr::coordinate(i + missing));
  }
  return ir::simplify(flat_index(coordinates, base.strides), operation_.shape, operation_.shape.rank());
}

void Lowering::bind(ir::Kernel& kernel) const {
  for (int input : binding_inputs_) kernel.bindings.push_back(operation_.inputs[static_cast<std::size_t>(input)].node->dtype);
  for (const Parameter& parameter : parameters_) kernel.parameters.push_back(parameter.dtype);
}

}  // namespace hearth::graph
