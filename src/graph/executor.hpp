#pragma once
#include "graph/node.hpp"

namespace hearth::graph {

/// Runs operations. Decorators (autodiff, fusion) and backends implement it alike; none of them knows an op by name.
/// Called with the context's guard held. Throws Error; a call that throws leaves every value as it was.
class Executor {
 public:
  virtual ~Executor() = default;
  virtual Tensor execute(Operation operation) = 0;
  /// The value is in memory afterwards.
  virtual void materialise(Node& node) = 0;
  /// Makes a pending value whose inputs are in memory a strided view of them, when that says it: true then, and nothing ran.
  virtual bool view(Node& node) = 0;
  /// All pending work is recorded with the client afterwards. Values that depend on an encoder which the app has not submitted
  /// yet stay pending.
  virtual void flush() = 0;
};

}  // namespace hearth::graph
