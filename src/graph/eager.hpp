#pragma once
#include <memory>
#include <unordered_map>
#include <vector>

#include "graph/executor.hpp"
#include "hearth/client.hpp"

namespace hearth::graph {

/// Words that tell one operation from another, with their hash. Reused between calls: no allocation in the steady state.
struct Key {
  std::vector<std::uint64_t> words;
  std::uint64_t hash = 0;

  void clear() {
    words.clear();
    hash = 0;
  }
  void add(std::uint64_t word) { words.push_back(word); }
  void add(const void* pointer) { words.push_back(reinterpret_cast<std::uintptr_t>(pointer)); }
  void add(const Shape& shape) {
    words.push_back(static_cast<std::uint64_t>(shape.rank()) | 1ull << 32);
    for (std::int64_t dim : shape) words.push_back(static_cast<std::uint64_t>(dim));
  }
  /// The operation without its inputs.
  void add(const Operation& operation);
  void finish();
  friend bool operator==(const Key& a, const Key& b) { return a.hash == b.hash && a.words == b.words; }
};
struct KeyHash {
  std::size_t operator()(const Key& key) const noexcept { return key.hash; }
};

/// Lowers each operation at once and records it with the client. What an operation lowers to is cached by its key.
class Eager final : public Executor {
 public:
  Eager(Context& context, Client client) : context_(context), client_(std::move(client)) {}

  Tensor execute(Operation operation) override;
  void materialise(Node& node) override;
  bool view(Node& node) override;
  void flush() override {}

  /// Makes the value dense in an allocation of its own, at its start.
  void make_dense(Node& node);
  /// Number of the app's encoder that work goes to now; 0: Hearth's own.
  std::uint64_t scope = 0;

 private:
  struct Parameter {
    int input;       ///< of the operation
    bool is_offset;  ///< the input's offset in elements (i32), else its number
    DType dtype;
  };
  struct Plan {
    bool view = false;
    Shape strides;  ///< view
    std::int64_t offset = 0;
    bool dense = false;
    ir::KernelRef kernel;
    std::vector<int> binding_inputs;  ///< the input whose memory each binding is
    std::vector<Parameter> parameters;
  };

  void run(const Operation& operation, Node& output);
  const Plan& plan(const Operation& operation);
  Plan lower(const Operation& operation, Body body);
  Plan lower_structured(const Operation& operation, const Body& body);
  void check_usable(const Operation& operation, const Node& input) const;
  static void become_view(const Plan& plan, const Node& base, Node& output);
  void densify_operands(Operation& operation, const Body& body);

  Context& context_;
  Client client_;
  Key key_;
  std::unordered_map<Key, Plan, KeyHash> plans_;
};

}  // namespace hearth::graph
