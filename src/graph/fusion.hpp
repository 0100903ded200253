#pragma once
#include <memory>
#include <unordered_map>
#include <vector>

#include "graph/compose.hpp"
#include "graph/eager.hpp"
#include "graph/executor.hpp"

namespace hearth::graph {

/// Defers operations and hands chains of them down as one: producers are computed in place where a consumer loads them, so views
/// and broadcasting are coordinate arithmetic. A reduction, a matrix product or a convolution takes the elementwise work after it
/// along; a reduction also the work before it.
class Fusion final : public Executor {
 public:
  Fusion(Context& context, Executor& below, int max_inputs) : context_(context), below_(below), max_inputs_(max_inputs) {}

  Tensor execute(Operation operation) override;
  void materialise(Node& node) override { force(node); }
  bool view(Node& node) override { return below_.view(node); }
  void flush() override;

  /// A pending node dies unused.
  void forget(Node& node) noexcept;

 private:
  /// What fusion needs to know of an operation's family.
  struct Traits {
    ir::Form form = ir::Form::map;
    bool view = false;         ///< moves elements only
    bool elementwise = false;  ///< reads its inputs at the output's own coordinates
    bool reads_once = true;
    int cost = 0;  ///< nodes of the expression
  };
  struct TraitsKey {
    const Definition* definition;
    const void* spec;
    std::uint64_t extra_hash;
    friend bool operator==(const TraitsKey&, const TraitsKey&) = default;
  };
  struct TraitsHash {
    std::size_t operator()(const TraitsKey& key) const noexcept;
  };
  struct Collected;

  const Traits& traits(const Operation& operation);
  void force(Node& root);
  void collect(Node& root, Collected& group);
  [[nodiscard]] bool joins(Node& producer, Collected& group, const Node& root);
  void finish(Node& node, const Node& result);
  std::shared_ptr<const Body> compose(const Group& group);

  Context& context_;
  Executor& below_;
  int max_inputs_;
  std::vector<Node*> pending_;  ///< in order of creation; not owned: a node takes itself out when it dies
  std::uint64_t mark_ = 0;
  std::uint64_t finished_ = 0;  ///< values that are in memory now
  bool flushing_ = false;
  std::unordered_map<TraitsKey, Traits, TraitsHash> traits_;
  Key key_;
  std::unordered_map<Key, std::shared_ptr<const Body>, KeyHash> bodies_;
  std::uint64_t bodies_made_ = 0;
};

}  // namespace hearth::graph
