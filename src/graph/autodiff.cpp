#include "graph/autodiff.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <queue>
#include <unordered_map>

#include "graph/context.hpp"
#include "graph/execute.hpp"

namespace hearth::graph {

Tensor Autodiff::execute(Operation operation) {
  bool recorded = false;
  if (operation.definition->gradient && is_float(operation.dtype))
    for (const Operand& input : operation.inputs) recorded |= static_cast<bool>(input.tape);
  if (!recorded) return below_.execute(std::move(operation));
  Tensor output = below_.execute(operation);
  return record(std::move(operation), output);
}

Tensor record(Operation operation, const Tensor& output) {
  auto tape = make_ref<Tape>();
  tape->operation = std::move(operation);
  tape->output = output.node();
  tape->sequence = output.node()->context->next_sequence();
  return {output.node(), std::move(tape)};
}

std::vector<std::pair<Ref<Tape>, Tensor>> backward(const Tensor& output, const Tensor& seed, bool create_graph) {
  struct Later {
    bool operator()(const Tape* a, const Tape* b) const { return a->sequence < b->sequence; }
  };
  std::vector<std::pair<Ref<Tape>, Tensor>> leaves;
  std::unordered_map<Tape*, Tensor> gradients;
  std::priority_queue<Tape*, std::vector<Tape*>, Later> next;
  if (!output.tape()) return leaves;
  gradients.emplace(output.tape().get(), seed);
  next.push(output.tape().get());

  // Later values first: all gradients of a value are there before it is taken.
  while (!next.empty()) {
    Tape* tape = next.top();
    next.pop();
    Tensor gradient = std::move(gradients.at(tape));
    if (tape->leaf()) {
      leaves.emplace_back(Ref<Tape>(tape), std::move(gradient));
      continue;
    }
    const std::size_t count = tape->operation.inputs.size();
    const auto needed = std::make_unique<bool[]>(count);
    for (std::size_t i = 0; i < count; ++i) needed[i] = static_cast<bool>(tape->operation.inputs[i].tape);

    std::vector<Tensor> parts;
    const std::span<const bool> needed_span(needed.get(), count);
    if (create_graph) {
      parts = tape->operation.definition->gradient(tape->operation, Tensor(tape->output, Ref<Tape>(tape)), gradient, needed_span);
    } else {
      Operation plain = tape->operation;
      for (Operand& input : plain.inputs) input.tape = {};
      parts = plain.definition->gradient(plain, Tensor(tape->output, {}), gradient.detach(), needed_span);
    }
    for (std::size_t i = 0; i < count && i < parts.size(); ++i) {
      if (!needed[i] || !parts[i]) continue;
      Tape* input = tape->operation.inputs[i].tape.get();
      auto [place, fresh] = gradients.try_emplace(input, parts[i]);
      if (fresh) {
        next.push(input);
        continue;
      }
      const DType dtype = compute_dtype(parts[i].dtype());
      const Operand operands[] = {place->second, parts[i]};
      place->second = elementwise("accumulate", Expr::argument(0, dtype) + Expr::argument(1, dtype), operands, parts[i].shape(),
                                  parts[i].dtype());
    }
  }
  return leaves;
}

}  // namespace hearth::graph
