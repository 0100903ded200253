#pragma once
#include <utility>
#include <vector>

#include "graph/executor.hpp"

namespace hearth::graph {

/// Records what it forwards when an input has a history.
class Autodiff final : public Executor {
 public:
  explicit Autodiff(Executor& below) : below_(below) {}
  Tensor execute(Operation operation) override;
  void materialise(Node& node) override { below_.materialise(node); }
  bool view(Node& node) override { return below_.view(node); }
  void flush() override { below_.flush(); }

 private:
  Executor& below_;
};

/// Gives `output` the history `operation`; for values that were not made by an executor (a user's kernel).
[[nodiscard]] Tensor record(Operation operation, const Tensor& output);

/// Gradients of `output` (with gradient `seed`) with respect to every leaf of its history.
[[nodiscard]] std::vector<std::pair<Ref<Tape>, Tensor>> backward(const Tensor& output, const Tensor& seed, bool create_graph);

}  // namespace hearth::graph
