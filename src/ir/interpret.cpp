#include "ir/interpret.hpp"

#include <algorithm>
#include <limits>
#include <mutex>
#include <optional>

#include "base/assert.hpp"
#include "ir/host/program.hpp"
#include "ir/iteration.hpp"
#include "ir/reduce_plan.hpp"

namespace hearth::ir {

using host::Program;
using host::Run;

/// What a kernel is compiled to at its first run on the CPU.
struct Interpreted {
  Iteration iteration;
  bool columns = false;  ///< reduce: the reduced axes are walked outside of the output's
  std::optional<Program> value;
  std::optional<Program> epilogue;
  DType result = DType::f32;  ///< compute dtype of what is stored
};

namespace {

host::SpaceMap output_space(const Iteration& it) {
  host::SpaceMap map;
  map.extents = it.extent;
  map.output_rank = it.extent.rank();
  for (int axis = 0; axis < it.extent.rank(); ++axis) {
    map.space.sizes[static_cast<std::size_t>(axis)] = it.extent[axis];
    map.axes.push_back(axis);
  }
  map.space.rank = it.extent.rank();
  return map;
}

/// Output and reduced axes; the output's inside when `columns`.
host::SpaceMap full_space(const Iteration& it, bool columns) {
  host::SpaceMap map;
  map.extents = it.sizes;
  map.output_rank = it.extent.rank();
  map.space.rank = it.sizes.rank();
  for (int a = 0; a < it.sizes.rank(); ++a) {
    const bool output = a < it.extent.rank();
    const int axis = !columns ? a : output ? it.reduced.rank() + a : a - it.extent.rank();
    map.axes.push_back(axis);
    map.space.sizes[static_cast<std::size_t>(axis)] = it.sizes[a];
  }
  return map;
}

std::shared_ptr<const Interpreted> compile(const Kernel& kernel) {
  auto compiled = std::make_shared<Interpreted>();
  Interpreted& c = *compiled;
  c.iteration = iterate(kernel);
  const std::span<const DType> storage = kernel.bindings;
  if (kernel.form == Form::map) {
    c.value.emplace(c.iteration.value, output_space(c.iteration), storage, kernel.parameters);
    c.result = c.value->dtype();
    return compiled;
  }
  c.columns = inner_axis_is_output(c.iteration);
  c.value.emplace(c.iteration.value, full_space(c.iteration, c.columns), storage, kernel.parameters);
  c.result = c.value->dtype();
  if (c.iteration.epilogue) {
    c.epilogue.emplace(c.iteration.epilogue, output_space(c.iteration), storage, kernel.parameters);
    c.result = c.epilogue->dtype();
  }
  return compiled;
}

std::shared_ptr<const Interpreted> compiled(const Kernel& kernel) {
  if (!kernel.interpreted) return compile(kernel);
  const std::lock_guard lock(kernel.interpreted->mutex);
  if (!kernel.interpreted->program) kernel.interpreted->program = compile(kernel);
  return kernel.interpreted->program;
}

/// Stores blocks of values of the compute dtype into the output.
class Output {
 public:
  Output(const Kernel& kernel, std::byte* memory, DType computed)
      : stored_(kernel.bindings.back()), memory_(memory), store_(host::loops().find_store(stored_)) {
    HEARTH_ASSERT(compute_dtype(stored_) == computed);
  }
  /// Where values can be computed in place; null when they need a conversion.
  [[nodiscard]] void* direct(std::int64_t begin) const {
    return stored_ == compute_dtype(stored_) ? memory_ + begin * static_cast<std::int64_t>(size_bytes(stored_)) : nullptr;
  }
  void store(std::int64_t begin, const void* values, int count) const {
    std::byte* to = memory_ + begin * static_cast<std::int64_t>(size_bytes(stored_));
    if (to != values) store_(to, values, nullptr, nullptr, count);
  }

 private:
  DType stored_;
  std::byte* memory_;
  host::Loop store_;
};

struct Launch {
  const Kernel& kernel;
  const Interpreted& compiled;
  std::span<std::byte* const> bindings;
  std::span<const std::uint32_t> parameters;
  const ParallelFor& parallel;
};

void run_map(const Launch& launch) {
  const Program& program = *launch.compiled.value;
  const Output output(launch.kernel, launch.bindings.back(), launch.compiled.result);
  // A piece is worth a thread when it takes some 20 microseconds.
  const std::int64_t grain = std::max<std::int64_t>(program.block(), 65536 / program.cost());
  const std::int64_t row = program.strip() ? program.space().sizes[static_cast<std::size_t>(program.space().rank - 1)] : 0;
  launch.parallel(launch.kernel.extent.elements(), grain, [&](std::int64_t begin, std::int64_t end) {
    Run run(program, launch.bindings, launch.parameters, end - begin);
    const auto piece = [&](std::int64_t from, std::int64_t to) {
      for (std::int64_t at = from; at < to; at += program.block()) {
        const int count = static_cast<int>(std::min<std::int64_t>(program.block(), to - at));
        output.store(at, run.evaluate(at, count, output.direct(at)), count);
      }
    };
    const std::int64_t first = row ? (begin + row - 1) / row * row : end;  // whole rows [first, last)
    const std::int64_t last = row ? end / row * row : end;
    if (first >= last) return piece(begin, end);
    piece(begin, first);
    for (std::int64_t column = 0; column < row; column += program.strip())
      for (std::int64_t at = first; at < last; at += row)
        piece(at + column, at + std::min<std::int64_t>(row, column + program.strip()));
    piece(last, end);
  });
}

/// Totals of up to `capacity` outputs, in the accumulator's dtype: f64 for
/// floats.
class Totals {
 public:
  Totals(Combine combine, DType type, std::int64_t capacity) : combine_(combine), type_(type) {
    const auto size = static_cast<std::size_t>(capacity);
    if (is_float(type))
      floats_.resize(size);
    else
      words_.resize(size);
    if (type == DType::f32) converted_.resize(size);
  }
  [[nodiscard]] void* at(std::int64_t i) { return is_float(type_) ? static_cast<void*>(floats_.data() + i) : words_.data() + i; }
  void reset(std::int64_t count) {
    if (is_float(type_))
      std::fill_n(floats_.begin(), count, float_identity());
    else
      std::fill_n(words_.begin(), count, word_identity());
  }
  /// The totals in the dtype of the values.
  [[nodiscard]] const void* values(std::int64_t count) {
    if (type_ != DType::f32) return at(0);
    std::transform(floats_.begin(), floats_.begin() + count, converted_.begin(), [](double x) { return static_cast<float>(x); });
    return converted_.data();
  }

 private:
  [[nodiscard]] double float_identity() const {
    switch (combine_) {
      case Combine::sum: return 0;
      case Combine::prod: return 1;
      case Combine::max: return -std::numeric_limits<double>::infinity();
      default: return std::numeric_limits<double>::infinity();
    }
  }
  [[nodiscard]] std::uint32_t word_identity() const {
    switch (combine_) {
      case Combine::sum: return 0;
      case Combine::prod: return 1;
      case Combine::max: return type_ == DType::i32 ? 0x80000000u : 0u;
      default: return type_ == DType::i32 ? 0x7fffffffu : 0xffffffffu;
    }
  }

  Combine combine_;
  DType type_;
  std::vector<double> floats_;
  std::vector<std::uint32_t> words_;
  std::vector<float> converted_;
};

/// Combines totals with totals.
host::ColumnsLoop join_loop(const Launch& launch) {
  const DType type = launch.compiled.value->dtype();
  return host::loops().find_columns(launch.kernel.combine, type == DType::f32 ? DType::f64 : type);
}

/// One reduction's loops, for a range of outputs and a range of the reduced
/// elements.
class Reducer {
 public:
  explicit Reducer(const Launch& launch)
      : launch_(launch),
        program_(*launch.compiled.value),
        outputs_(launch.kernel.extent.elements()),
        count_(launch.kernel.reduced.elements()),
        rows_(host::loops().find_rows(launch.kernel.combine, program_.dtype())),
        columns_(host::loops().find_columns(launch.kernel.combine, program_.dtype())) {}

  /// Combines elements [first, last) of outputs [begin, end) into
  /// totals.at(0...).
  void accumulate(Run& run, Totals& totals, std::int64_t begin, std::int64_t end, std::int64_t first, std::int64_t last) const {
    if (launch_.compiled.columns)
      by_columns(run, totals, begin, end, first, last);
    else
      by_rows(run, totals, begin, end, first, last);
  }

 private:
  void by_rows(Run& run, Totals& totals, std::int64_t begin, std::int64_t end, std::int64_t first, std::int64_t last) const {
    if (first != 0 || last != count_) {
      for (std::int64_t o = begin; o < end; ++o)
        for (std::int64_t r = first; r < last; r += program_.block()) {
          const int count = static_cast<int>(std::min<std::int64_t>(program_.block(), last - r));
          rows_(totals.at(o - begin), run.evaluate(o * count_ + r, count), 1, count);
        }
      return;
    }
    // Whole rows: a block runs over as many of them as it holds, and cuts the
    // long ones.
    for (std::int64_t at = begin * count_; at < end * count_;) {
      const int count = static_cast<int>(std::min<std::int64_t>(program_.block(), end * count_ - at));
      const auto* values = static_cast<const std::byte*>(run.evaluate(at, count));
      const std::size_t size = size_bytes(program_.dtype());
      for (int done = 0; done < count;) {
        const std::int64_t row = (at + done) / count_;
        const std::int64_t column = (at + done) % count_;
        const int whole = column == 0 ? static_cast<int>((count - done) / count_) : 0;
        const int length =
            whole > 0 ? static_cast<int>(count_) : static_cast<int>(std::min<std::int64_t>(count - done, count_ - column));
        rows_(totals.at(row - begin), values + static_cast<std::size_t>(done) * size, std::max(whole, 1), length);
        done += length * std::max(whole, 1);
      }
      at += count;
    }
  }

  void by_columns(Run& run, Totals& totals, std::int64_t begin, std::int64_t end, std::int64_t first, std::int64_t last) const {
    if (begin == 0 && end == outputs_ && outputs_ <= program_.block() / 4) return by_wide_columns(run, totals, first, last);
    for (std::int64_t r = first; r < last; ++r)
      for (std::int64_t o = begin; o < end; o += program_.block()) {
        const int count = static_cast<int>(std::min<std::int64_t>(program_.block(), end - o));
        columns_(totals.at(o - begin), run.evaluate(r * outputs_ + o, count), count);
      }
  }

  /// Few columns: a block holds several rows of them, which are joined at the end.
  void by_wide_columns(Run& run, Totals& totals, std::int64_t first, std::int64_t last) const {
    const std::int64_t width = program_.block() / outputs_ * outputs_;
    Totals wide(launch_.kernel.combine, program_.dtype(), width);
    wide.reset(width);
    for (std::int64_t at = first * outputs_; at < last * outputs_; at += width) {
      const int count = static_cast<int>(std::min(width, last * outputs_ - at));
      columns_(wide.at(0), run.evaluate(at, count), count);
    }
    const host::ColumnsLoop join = join_loop(launch_);
    for (std::int64_t at = 0; at < width; at += outputs_) join(totals.at(0), wide.at(at), static_cast<int>(outputs_));
  }

  const Launch& launch_;
  const Program& program_;
  std::int64_t outputs_, count_;
  host::RowsLoop rows_;
  host::ColumnsLoop columns_;
};

/// Applies the epilogue to the totals of outputs [begin, begin + count) and
/// stores them.
void finish_outputs(const Launch& launch, const Output& output, Run* epilogue, std::int64_t begin, std::int64_t count,
                    const void* totals) {
  if (!epilogue) return output.store(begin, totals, static_cast<int>(count));
  const Program& program = *launch.compiled.epilogue;
  const std::size_t size = size_bytes(launch.compiled.value->dtype());
  for (std::int64_t at = 0; at < count; at += program.block()) {
    const int n = static_cast<int>(std::min<std::int64_t>(program.block(), count - at));
    const auto* argument = static_cast<const std::byte*>(totals) + static_cast<std::size_t>(at) * size;
    output.store(begin + at, epilogue->evaluate(begin + at, n, output.direct(begin + at), argument), n);
  }
}

constexpr std::int64_t outputs_at_once = 1024;

void run_reduce(const Launch& launch) {
  const Interpreted& compiled = launch.compiled;
  const Program& program = *compiled.value;
  const Output output(launch.kernel, launch.bindings.back(), compiled.result);
  const Reducer reducer(launch);
  const std::int64_t outputs = launch.kernel.extent.elements();
  const std::int64_t count = launch.kernel.reduced.elements();
  const std::int64_t work = std::max<std::int64_t>(1, 65536 / program.cost());  // elements that are worth a thread
  const auto make_epilogue = [&](std::optional<Run>& run) {
    if (compiled.epilogue) run.emplace(*compiled.epilogue, launch.bindings, launch.parameters, outputs);
  };

  // Few outputs over many elements: the reduced range is cut into parts, always
  // the same ones, whatever the number of threads.
  const bool few = outputs <= 16 || (compiled.columns && outputs <= 1024 && count >= 1024);
  const std::int64_t parts = !few ? 1 : std::clamp<std::int64_t>(outputs * count / (2 * work), 1, 64);
  if (parts > 1) {
    std::vector<Totals> totals;
    for (std::int64_t p = 0; p < parts; ++p) {
      totals.emplace_back(launch.kernel.combine, program.dtype(), outputs);
      totals.back().reset(outputs);
    }
    launch.parallel(parts, 1, [&](std::int64_t begin, std::int64_t end) {
      Run run(program, launch.bindings, launch.parameters, outputs * count);
      for (std::int64_t p = begin; p < end; ++p)
        reducer.accumulate(run, totals[static_cast<std::size_t>(p)], 0, outputs, count * p / parts, count * (p + 1) / parts);
    });
    const host::ColumnsLoop join = join_loop(launch);
    for (std::int64_t p = 1; p < parts; ++p)
      join(totals[0].at(0), totals[static_cast<std::size_t>(p)].at(0), static_cast<int>(outputs));
    std::optional<Run> epilogue;
    make_epilogue(epilogue);
    finish_outputs(launch, output, epilogue ? &*epilogue : nullptr, 0, outputs, totals[0].values(outputs));
    return;
  }

  const std::int64_t grain = std::max<std::int64_t>(1, work / std::max<std::int64_t>(count, 1));
  launch.parallel(outputs, compiled.columns ? std::max<std::int64_t>(grain, 64) : grain,
                  [&](std::int64_t begin, std::int64_t end) {
                    Run run(program, launch.bindings, launch.parameters, outputs * count);
                    std::optional<Run> epilogue;
                    make_epilogue(epilogue);
                    Totals totals(launch.kernel.combine, program.dtype(), std::min(outputs_at_once, end - begin));
                    for (std::int64_t at = begin; at < end; at += outputs_at_once) {
                      const std::int64_t n = std::min(outputs_at_once, end - at);
                      totals.reset(n);
                      reducer.accumulate(run, totals, at, at + n, 0, count);
                      finish_outputs(launch, output, epilogue ? &*epilogue : nullptr, at, n, totals.values(n));
                    }
                  });
}

}  // namespace

void interpret(const Kernel& kernel, std::span<std::byte* const> bindings, std::span<const std::uint32_t> parameters,
               const ParallelFor& parallel) {
  HEARTH_ASSERT(kernel.form == Form::map || kernel.form == Form::reduce);
  if (kernel.extent.elements() == 0) return;
  const std::shared_ptr<const Interpreted> program = compiled(kernel);
  const Launch launch{kernel, *program, bindings, parameters, parallel};
  if (kernel.form == Form::map)
    run_map(launch);
  else
    run_reduce(launch);
}

}  // namespace hearth::ir
