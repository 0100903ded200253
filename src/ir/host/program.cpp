#include "ir/host/program.hpp"

#include <algorithm>
#include <cstdlib>
#include <unordered_map>

#include "base/assert.hpp"
#include "ir/simplify.hpp"

namespace hearth::ir::host {
namespace {

/// Place of a launch parameter: f64 takes two words.
int parameter_word(std::span<const DType> parameters, int index) {
  int word = 0;
  for (int i = 0; i < index; ++i) word += parameters[static_cast<std::size_t>(i)] == DType::f64 ? 2 : 1;
  return word;
}

}  // namespace

std::int64_t Space::elements() const {
  std::int64_t product = 1;
  for (int i = 0; i < rank; ++i) product *= sizes[static_cast<std::size_t>(i)];
  return product;
}

struct Program::Builder {
  Program& program;
  const SpaceMap& map;
  std::span<const DType> storage;
  std::span<const DType> parameters;
  std::unordered_map<const Node*, int> value{};  ///< the register of each node

  int fresh() { return program.registers_++; }

  [[nodiscard]] std::array<std::int64_t, max_axes> space_strides(const Affine& index) const {
    std::array<std::int64_t, max_axes> strides{};
    for (std::size_t i = 0; i < map.axes.size(); ++i)
      if (map.extents[static_cast<int>(i)] > 1)
        strides[static_cast<std::size_t>(map.axes[i])] += index.strides[static_cast<int>(i)];
    return strides;
  }

  [[nodiscard]] bool dense(const std::array<std::int64_t, max_axes>& strides) const {
    std::int64_t expected = 1;
    for (int axis = map.space.rank - 1; axis >= 0; --axis) {
      const std::int64_t size = map.space.sizes[static_cast<std::size_t>(axis)];
      if (size == 1) continue;
      if (strides[static_cast<std::size_t>(axis)] != expected) return false;
      expected *= size;
    }
    return true;
  }

  int load(const Node& node) {
    const DType stored = storage[static_cast<std::size_t>(node.index)];
    Step step;
    step.dtype = node.dtype;
    step.binding = node.index;
    step.element_bytes = size_bytes(stored);
    step.load = loops().find_load(stored);
    const std::optional<Affine> index = affine(node.operands[0], map.extents, map.output_rank);
    if (!index) {
      step.kind = Kind::gather;
      step.gather = loops().find_gather(stored);
      step.a = value.at(node.operands[0].node().get());
    } else {
      step.offset = index->offset;
      step.strides = space_strides(*index);
      if (std::all_of(step.strides.begin(), step.strides.end(), [](std::int64_t s) { return s == 0; })) {
        const int reg = fresh();
        program.constants_.push_back({.reg = reg,
                                      .dtype = node.dtype,
                                      .binding = node.index,
                                      .offset = index->offset,
                                      .load = step.load,
                                      .element_bytes = step.element_bytes});
        return reg;
      }
      const bool same_type = stored == compute_dtype(stored) && stored != DType::boolean;
      step.kind = same_type && dense(step.strides) ? Kind::direct : Kind::strided;
    }
    step.dst = fresh();
    program.steps_.push_back(step);
    return step.dst;
  }

  int coordinate(const Node& node) {
    Step step;
    step.dtype = DType::i32;
    step.kind = Kind::coordinate;
    if (node.index == flat_coordinate) {
      Affine index;
      std::int64_t stride = 1;
      index.strides = Shape::filled(map.extents.rank(), 0);
      for (int a = map.output_rank - 1; a >= 0; --a) {
        index.strides[a] = stride;
        stride *= map.extents[a];
      }
      step.strides = space_strides(index);
      step.kind = Kind::flat;
    } else {
      step.axis = map.axes[static_cast<std::size_t>(node.index)];
    }
    step.dst = fresh();
    program.steps_.push_back(step);
    return step.dst;
  }

  int operation(const Node& node) {
    Step step;
    step.dtype = node.dtype;
    const auto reg = [&](std::size_t i) { return i < node.operands.size() ? value.at(node.operands[i].node().get()) : -1; };
    step.a = reg(0);
    step.b = reg(1);
    step.c = reg(2);
    if (node.op == Op::native) {
      step.kind = Kind::native;
      step.native = &node.unary->spec.native;
    } else if (node.op == Op::native_binary) {
      step.kind = Kind::native_binary;
      step.native_binary = &node.binary->spec.native;
    } else {
      const DType operand = node.operands[node.op == Op::select ? 1 : 0].dtype();
      step.loop = loops().find(node.op, operand, node.dtype);
      HEARTH_ASSERT(step.loop);
    }
    step.dst = fresh();
    program.steps_.push_back(step);
    return step.dst;
  }

  int constant(const Node& node) {
    Constant constant;
    constant.reg = fresh();
    constant.dtype = node.dtype;
    constant.value = node.value;
    if (node.op == Op::parameter) {
      constant.parameter_word = parameter_word(parameters, node.index);
      constant.value = 0;
    }
    program.constants_.push_back(constant);
    return constant.reg;
  }

  int argument(const Node& node) {
    Step step;
    step.kind = Kind::argument;
    step.dtype = node.dtype;
    step.dst = fresh();
    program.steps_.push_back(step);
    return step.dst;
  }

  int compile(const Node& node) {
    switch (node.op) {
      case Op::literal:
      case Op::parameter: return constant(node);
      case Op::load: return load(node);
      case Op::coordinate: return coordinate(node);
      case Op::argument: return argument(node);
      default: return operation(node);
    }
  }

  /// Nodes whose values are needed: the index of an affine load is not.
  void compile_all(const Expr& e) {
    std::vector<std::pair<const Node*, std::size_t>> stack{{e.node().get(), 0}};
    while (!stack.empty()) {
      auto& [node, next] = stack.back();
      const bool skip = node->op == Op::load && affine(node->operands[0], map.extents, map.output_rank);
      if (skip || next == node->operands.size()) {
        const Node* done = node;
        stack.pop_back();
        if (!value.count(done)) value.emplace(done, compile(*done));
        continue;
      }
      const Node* operand = node->operands[next++].node().get();
      if (!value.count(operand)) stack.emplace_back(operand, 0);
    }
    program.result_ = value.at(e.node().get());
  }

  void find_periods();
  [[nodiscard]] int find_strip() const;

  /// Registers are given back after their last use; constants keep theirs.
  void share_registers() {
    std::vector<int> last(static_cast<std::size_t>(program.registers_), -1);
    const auto at = [&](int reg) -> int& { return last[static_cast<std::size_t>(reg)]; };
    for (int i = 0; i < static_cast<int>(program.steps_.size()); ++i) {
      const Step& step = program.steps_[static_cast<std::size_t>(i)];
      for (int reg : {step.a, step.b, step.c})
        if (reg >= 0) at(reg) = i;
      at(step.dst) = std::max(at(step.dst), i);
    }
    const int end = static_cast<int>(program.steps_.size());
    for (const Constant& constant : program.constants_) at(constant.reg) = end;
    at(program.result_) = end;
    std::vector<int> place(last.size(), -1);
    std::vector<int> free;
    int count = 0;
    const auto take = [&](int reg) {
      int& p = place[static_cast<std::size_t>(reg)];
      if (free.empty()) {
        p = count++;
      } else {
        p = free.back();
        free.pop_back();
      }
      return p;
    };
    for (Constant& constant : program.constants_) constant.reg = take(constant.reg);
    for (int i = 0; i < end; ++i) {
      Step& step = program.steps_[static_cast<std::size_t>(i)];
      const std::array<int, 3> used{step.a, step.b, step.c};
      step.dst = take(step.dst);
      for (int* reg : {&step.a, &step.b, &step.c})
        if (*reg >= 0) *reg = place[static_cast<std::size_t>(*reg)];
      for (std::size_t k = 0; k < used.size(); ++k) {
        const int reg = used[k];
        if (reg < 0 || last[static_cast<std::size_t>(reg)] != i) continue;
        if (std::find(used.begin(), used.begin() + static_cast<std::ptrdiff_t>(k), reg) ==
            used.begin() + static_cast<std::ptrdiff_t>(k))
          free.push_back(place[static_cast<std::size_t>(reg)]);
      }
    }
    program.result_ = place[static_cast<std::size_t>(program.result_)];
    program.registers_ = count;
  }

  /// Neighbouring axes that every step walks as one become one: longer runs,
  /// fewer segments.
  void merge_axes() {
    Space& space = program.space_;
    for (int axis = space.rank - 2; axis >= 0; --axis) {
      const auto i = static_cast<std::size_t>(axis);
      bool mergeable = true;
      for (const Step& step : program.steps_) {
        if (step.kind == Kind::coordinate && (step.axis == axis || step.axis == axis + 1)) mergeable = false;
        if (step.kind == Kind::strided || step.kind == Kind::flat) {
          if (space.sizes[i] != 1 && space.sizes[i + 1] != 1 && step.strides[i] != step.strides[i + 1] * space.sizes[i + 1])
            mergeable = false;
        }
      }
      if (!mergeable) continue;
      for (Step& step : program.steps_) {
        if (step.kind == Kind::coordinate && step.axis > axis) --step.axis;
        const std::int64_t joined = space.sizes[i + 1] != 1 ? step.strides[i + 1] : step.strides[i];
        std::copy(step.strides.begin() + axis + 2, step.strides.end(), step.strides.begin() + axis + 1);
        step.strides[i] = joined;
      }
      space.sizes[i] *= space.sizes[i + 1];
      std::copy(space.sizes.begin() + axis + 2, space.sizes.end(), space.sizes.begin() + axis + 1);
      --space.rank;
    }
  }
};

/// Loads that repeat within a block: along a bias of some channels, say.
void Program::Builder::find_periods() {
  for (Step& step : program.steps_) {
    if (step.kind != Kind::strided) continue;
    std::int64_t period = 1;
    int axis = program.space_.rank - 1;
    for (int a = axis; a >= 0; --a) {
      if (step.strides[static_cast<std::size_t>(a)] != 0) axis = a;
    }
    for (int a = axis; a < program.space_.rank; ++a) period *= program.space_.sizes[static_cast<std::size_t>(a)];
    constexpr std::int64_t longest = 512;
    if (axis == 0 || period > longest) continue;
    step.kind = Kind::periodic;
    step.period = static_cast<int>(period);
  }
}

int Program::Builder::find_strip() const {
  const Space& space = program.space_;
  if (space.rank < 2) return 0;
  const auto inner = static_cast<std::size_t>(space.rank - 1);
  constexpr std::int64_t line = 16;  // elements
  constexpr int strip = 16;          // lines that a first-level cache keeps even when they fall in few of its sets
  for (const Step& step : program.steps_) {
    const bool jumps = step.kind == Kind::strided && std::abs(step.strides[inner]) >= line;
    const bool returns = std::abs(step.strides[inner - 1]) > 0 && std::abs(step.strides[inner - 1]) < line;
    if (jumps && returns && space.sizes[inner] >= 2 * strip && space.sizes[inner - 1] >= 4) return strip;
  }
  return 0;
}

Program::Program(const Expr& original, SpaceMap map, std::span<const DType> storage, std::span<const DType> parameters)
    : space_(map.space) {
  const Expr e = simplify(expand(original, Target::cpu), map.extents, map.output_rank);
  dtype_ = e.dtype();
  Builder builder{*this, map, storage, parameters};
  builder.compile_all(e);
  builder.merge_axes();
  builder.find_periods();
  builder.share_registers();
  strip_ = builder.find_strip();
  std::size_t element = 4;
  for (const Step& step : steps_) element = step.dtype == DType::f64 ? 8 : element;
  for (const Constant& constant : constants_) element = constant.dtype == DType::f64 ? 8 : element;
  // The registers stay in a first-level cache of 32 KiB, beside the inputs.
  block_ = 1024;
  while (block_ > 128 && static_cast<std::size_t>(block_ * registers_) * element > 20480) block_ /= 2;
  register_bytes_ = static_cast<std::size_t>(block_) * element;
}

}  // namespace hearth::ir::host
