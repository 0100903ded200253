#include "graph/node.hpp"

#include "graph/context.hpp"

namespace hearth::graph {

void Node::destroy() noexcept {
  // The context may go with its last node: after its mutex is free again.
  const Ref<Context> keep = context;
  if (pending) {
    const std::scoped_lock lock(keep->mutex());
    if (pending) keep->fusion()->forget(*this);
    delete this;
    return;
  }
  delete this;
}

void Tape::destroy() noexcept {
  // Deleting a tape releases the tapes of its inputs; they queue up here instead of nesting.
  thread_local std::vector<Tape*>* queue = nullptr;
  if (queue) {
    queue->push_back(this);
    return;
  }
  std::vector<Tape*> waiting{this};
  queue = &waiting;
  while (!waiting.empty()) {
    Tape* tape = waiting.back();
    waiting.pop_back();
    delete tape;
  }
  queue = nullptr;
}

}  // namespace hearth::graph
