#include "graph/fusion.hpp"

#include <algorithm>
#include <array>

#include "base/assert.hpp"
#include "base/hash.hpp"
#include "graph/compose.hpp"
#include "graph/context.hpp"
#include "ir/expr.hpp"

namespace hearth::graph {

namespace {

// Pending operations before work is recorded anyway: bounds the memory of the graph and the depth of its walks.
constexpr std::size_t max_pending = 256;
// Size of one fused kernel. Larger ones gain nothing and take long to compile.
constexpr std::size_t max_members = 64;
constexpr int max_cost = 400;
// Launch parameters are 64 words; an f64 takes two, and view offsets come on top.
constexpr std::size_t max_numbers = 24;
// A producer that costs more nodes than this is not computed again and again for a larger consumer.
constexpr int cheap_cost = 6;

Body lower_fused(const Operation& operation) { return *static_cast<const Body*>(operation.extra.get()); }
constexpr Definition fused_definition{.name = "fused", .lower = lower_fused};

}  // namespace

std::size_t Fusion::TraitsHash::operator()(const TraitsKey& key) const noexcept {
  return base::hash_combine(
      base::hash_combine(reinterpret_cast<std::uintptr_t>(key.definition), reinterpret_cast<std::uintptr_t>(key.spec)),
      key.extra_hash);
}

const Fusion::Traits& Fusion::traits(const Operation& operation) {
  const TraitsKey key{operation.definition, operation.spec, operation.extra_hash};
  if (auto found = traits_.find(key); found != traits_.end()) return found->second;
  const Body body = operation.definition->lower(operation);
  Traits made{body.form, body.view, body.form == ir::Form::map, body.reads_once, 0};
  if (body.value) {
    ir::visit(body.value, [&](const ir::Node& node) {
      ++made.cost;
      if (node.op == ir::Op::load || node.op == ir::Op::coordinate) made.elementwise = false;
    });
  }
  return traits_.emplace(key, made).first->second;
}

Tensor Fusion::execute(Operation operation) {
  if (pending_.size() >= max_pending && !flushing_) flush();
  auto node = make_ref<Node>(Ref<Context>(&context_), operation.shape, operation.dtype);
  node->strides = row_major_strides(operation.shape);
  node->sequence = context_.next_sequence();
  if (node->elements() == 0) return {std::move(node), {}};
  for (Operand& input : operation.inputs) {
    input.tape = {};
    if (input.node) ++input.node->consumers;
  }
  node->operation = std::move(operation);
  node->pending = true;
  pending_.push_back(node.get());
  return {std::move(node), {}};
}

void Fusion::forget(Node& node) noexcept {
  for (const Operand& input : node.operation.inputs)
    if (input.node) --input.node->consumers;
  node.pending = false;
  const auto place = std::lower_bound(pending_.begin(), pending_.end(), node.sequence,
                                      [](const Node* a, std::uint64_t sequence) { return a->sequence < sequence; });
  if (place != pending_.end() && *place == &node) pending_.erase(place);
}

/// The node is in memory now: takes over `result` and lets go of its operation.
void Fusion::finish(Node& node, const Node& result) {
  ++finished_;
  if (&node != &result) {
    node.memory = result.memory;
    node.strides = result.strides;
    node.offset = result.offset;
    node.dense = result.dense;
  }
  forget(node);
  Operation done;
  std::swap(done, node.operation);
}

/// One kernel in the making: members in order of creation (the root last), what they load, and how they are wired.
struct Fusion::Collected : Group {
  int cost = 0;
  int inputs = 0;     ///< leaves and undecided candidates
  bool plain = true;  ///< every member so far is elementwise with the root's shape
  std::int64_t iterations = 0;
  std::vector<Node*> candidates;
};

/// Whether `producer` is computed inside the group's kernel.
bool Fusion::joins(Node& producer, Collected& group, const Node& root) {
  if (!producer.pending || group.members.size() >= max_members) return false;
  const Operation& operation = producer.operation;
  const Traits& t = traits(operation);
  if (t.view && operation.inputs[0].node->ready() && below_.view(producer)) {
    finish(producer, producer);
    return false;
  }
  if (producer.in_memory == 2 || (producer.in_memory == 1 && !t.view)) return false;
  if (group.cost + t.cost > max_cost) return false;
  // Narrow integers are cut to their range when they are stored.
  if (!t.view && (producer.dtype == DType::i8 || producer.dtype == DType::u8)) return false;

  int fresh = 0;
  std::size_t numbers = 0;
  bool reads_tensors = false;
  for (std::size_t i = 0; i < operation.inputs.size(); ++i) {
    const Operand& input = operation.inputs[i];
    if (input.is_number()) {
      ++numbers;
      continue;
    }
    reads_tensors = true;
    if (input.node->mark == mark_ && input.node->in_memory == 2) return false;  // a product's operand
    if (input.node->mark == mark_) continue;
    bool repeated = false;
    for (std::size_t j = 0; j < i; ++j) repeated |= operation.inputs[j].node == input.node;
    fresh += !repeated;
  }
  if (group.inputs - 1 + fresh > max_inputs_ || group.numbers + numbers > max_numbers) return false;

  const bool free = t.view || (!reads_tensors && t.cost <= cheap_cost);
  const bool only_here =
      producer.uses == producer.consumers && producer.use_count() == static_cast<std::uint32_t>(producer.consumers);
  if (!free && !only_here) return false;
  if (t.form != ir::Form::map) {
    // Becomes the core: what comes after it is its epilogue.
    if (group.core >= 0 || !group.plain || producer.shape != root.shape) return false;
    if (t.form == ir::Form::reduce) return true;
    // Its operands are bindings of their own: none is the other one, or read by the epilogue too.
    if (operation.inputs[0].node == operation.inputs[1].node) return false;
    for (const Operand& input : operation.inputs)
      if (input.node->mark == mark_) return false;
    return true;
  }
  return free || t.cost <= cheap_cost || producer.elements() * 2 >= group.iterations;
}

void Fusion::collect(Node& root, Collected& group) {
  ++mark_;
  group.iterations = root.elements();
  const auto consider = [&](Node& member, const Traits& t) {
    const std::uint8_t in_memory = t.form == ir::Form::matmul || t.form == ir::Form::conv2d ? 2 : t.reads_once ? 0 : 1;
    for (const Operand& input : member.operation.inputs) {
      if (input.is_number()) {
        ++group.numbers;
        continue;
      }
      Node& node = *input.node;
      if (node.mark != mark_) {
        node.mark = mark_;
        node.uses = 0;
        node.member = -1;
        node.in_memory = 0;
        ++group.inputs;
        group.candidates.push_back(&node);
        std::push_heap(group.candidates.begin(), group.candidates.end(),
                       [](Node* a, Node* b) { return a->sequence < b->sequence; });
      }
      ++node.uses;
      node.in_memory = std::max(node.in_memory, in_memory);
    }
  };

  const Traits& root_traits = traits(root.operation);
  group.members.push_back(&root);
  root.mark = mark_;
  group.cost = root_traits.cost;
  group.plain = root_traits.elementwise && root_traits.form == ir::Form::map;
  if (root_traits.form != ir::Form::map) group.core = 0;
  if (root_traits.form == ir::Form::reduce && root.operation.inputs[0].node)
    group.iterations = std::max(group.iterations, root.operation.inputs[0].node->elements());
  consider(root, root_traits);

  while (!group.candidates.empty()) {
    // The latest candidate: all members that can consume it are known.
    std::pop_heap(group.candidates.begin(), group.candidates.end(), [](Node* a, Node* b) { return a->sequence < b->sequence; });
    Node& node = *group.candidates.back();
    group.candidates.pop_back();
    if (!joins(node, group, root)) {
      node.member = -1 - static_cast<int>(group.leaves.size());
      group.leaves.push_back(Operand(Tensor(Ref<Node>(&node), {})));
      continue;
    }
    const Traits& t = traits(node.operation);
    --group.inputs;
    if (t.form != ir::Form::map) {
      group.core = static_cast<int>(group.members.size());
      if (t.form == ir::Form::reduce && node.operation.inputs[0].node)
        group.iterations = std::max(group.iterations, node.operation.inputs[0].node->elements());
    }
    group.plain = group.plain && t.elementwise && t.form == ir::Form::map && node.shape == root.shape;
    group.cost += t.cost;
    group.members.push_back(&node);
    consider(node, t);
  }
}

void Fusion::force(Node& root) {
  if (!root.pending) return;
  const Ref<Node> keep(&root);
  const Traits& t = traits(root.operation);
  if (t.view && root.operation.inputs[0].node->ready() && below_.view(root)) {
    finish(root, root);
    return;
  }
  Collected group;
  for (;;) {
    group = {};
    collect(root, group);
    if (group.members.size() > 1) group.wire();
    const std::uint64_t before = finished_;
    std::uint64_t forced = 0;
    for (const Operand& leaf : group.leaves) {
      if (!leaf.node || !leaf.node->pending) continue;
      force(*leaf.node);
      ++forced;
    }
    // What a leaf needed may have been a member here, a view say, which is in memory now and a member no more.
    if (finished_ - before == forced) break;
  }

  if (group.members.size() == 1) {
    const Tensor result = below_.execute(root.operation);
    finish(root, *result.node());
    return;
  }
  Operation operation;
  operation.definition = &fused_definition;
  operation.label = group.members[static_cast<std::size_t>(std::max(group.core, 0))]->operation.name();
  operation.shape = root.shape;
  operation.dtype = root.dtype;
  operation.extra = compose(group);
  operation.extra_hash = static_cast<const ComposedBody*>(operation.extra.get())->number;
  operation.inputs = std::move(group.leaves);
  const Tensor result = below_.execute(std::move(operation));
  finish(root, *result.node());
}

std::shared_ptr<const Body> Fusion::compose(const Group& group) {
  key_.clear();
  group.add_to(key_);
  key_.finish();
  if (auto found = bodies_.find(key_); found != bodies_.end()) return found->second;
  if (bodies_.size() >= 8192) bodies_.clear();
  auto made = std::make_shared<ComposedBody>();
  static_cast<Body&>(*made) = graph::compose(group);
  made->number = ++bodies_made_;
  bodies_.emplace(key_, made);
  return made;
}

void Fusion::flush() {
  if (flushing_) return;
  flushing_ = true;
  struct Reset {
    bool& flag;
    ~Reset() { flag = false; }
  } reset{flushing_};
  // Only what somebody outside holds; the rest is computed inside its consumers or not at all.
  std::vector<Ref<Node>> wanted;
  wanted.reserve(pending_.size());
  for (Node* node : pending_)
    if (node->use_count() > static_cast<std::uint32_t>(node->consumers) && node->try_add_ref())
      wanted.push_back(Ref<Node>::adopt(node));
  for (Ref<Node>& node : wanted) {
    try {
      force(*node);
    } catch (const Error& error) {
      if (error.code() != ErrorCode::not_submitted) throw;
    }
    node = {};
  }
}

}  // namespace hearth::graph
