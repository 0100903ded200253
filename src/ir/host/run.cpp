#include <algorithm>
#include <cstring>

#include "base/assert.hpp"
#include "ir/host/program.hpp"

namespace hearth::ir::host {
namespace {

template <typename T>
void fill(std::byte* buffer, T value, int count) {
  std::fill_n(reinterpret_cast<T*>(buffer), count, value);
}

void fill(std::byte* buffer, DType dtype, double value, int count) {
  switch (dtype) {
    case DType::f64: return fill(buffer, value, count);
    case DType::i32: return fill(buffer, static_cast<std::int32_t>(value), count);
    case DType::u32:
    case DType::boolean: return fill(buffer, static_cast<std::uint32_t>(value), count);
    default: return fill(buffer, static_cast<float>(value), count);
  }
}

void run_native(const Native& native, DType dtype, void* dst, const void* a, int count) {
  if (dtype == DType::f64) {
    const auto* x = static_cast<const double*>(a);
    auto* y = static_cast<double*>(dst);
    for (int i = 0; i < count; ++i)
      y[i] = native.f64 ? native.f64(x[i]) : static_cast<double>(native.f32(static_cast<float>(x[i])));
    return;
  }
  const auto* x = static_cast<const float*>(a);
  auto* y = static_cast<float*>(dst);
  if (native.block) return native.block(x, y, count);
  for (int i = 0; i < count; ++i) y[i] = native.f32(x[i]);
}

void run_native(const NativeBinary& native, DType dtype, void* dst, const void* a, const void* b, int count) {
  if (dtype == DType::f64) {
    const auto* x = static_cast<const double*>(a);
    const auto* y = static_cast<const double*>(b);
    auto* z = static_cast<double*>(dst);
    for (int i = 0; i < count; ++i)
      z[i] = native.f64 ? native.f64(x[i], y[i])
                        : static_cast<double>(native.f32(static_cast<float>(x[i]), static_cast<float>(y[i])));
    return;
  }
  const auto* x = static_cast<const float*>(a);
  const auto* y = static_cast<const float*>(b);
  auto* z = static_cast<float*>(dst);
  for (int i = 0; i < count; ++i) z[i] = native.f32(x[i], y[i]);
}

constexpr std::size_t alignment = 64;

}  // namespace

Run::Run(const Program& program, std::span<std::byte* const> bindings, std::span<const std::uint32_t> parameters,
         std::int64_t longest)
    : program_(program), bindings_(bindings) {
  const auto count = static_cast<std::size_t>(program.registers_);
  const int length = static_cast<int>(std::min<std::int64_t>(program.block_, longest));
  const std::size_t element = program.register_bytes_ / static_cast<std::size_t>(program.block_);
  const std::size_t stride = (static_cast<std::size_t>(length) * element + alignment - 1) / alignment * alignment;
  memory_ = std::make_unique_for_overwrite<std::byte[]>(count * stride + alignment);
  const auto start = reinterpret_cast<std::uintptr_t>(memory_.get());
  std::byte* first = memory_.get() + (alignment - start % alignment) % alignment;
  buffers_.reserve(count);
  for (std::size_t i = 0; i < count; ++i) buffers_.push_back(first + i * stride);
  values_.assign(buffers_.begin(), buffers_.end());
  fill_constants(parameters, length);
  fill_periods(length);
}

void Run::fill_constants(std::span<const std::uint32_t> parameters, int count) {
  for (const Program::Constant& constant : program_.constants_) {
    std::byte* buffer = buffers_[static_cast<std::size_t>(constant.reg)];
    if (constant.binding >= 0) {
      const std::byte* source = bindings_[static_cast<std::size_t>(constant.binding)] +
                                constant.offset * static_cast<std::int64_t>(constant.element_bytes);
      constant.load(buffer, source, 0, count);
    } else if (constant.parameter_word >= 0) {
      const std::uint32_t* word = parameters.data() + constant.parameter_word;
      if (constant.dtype == DType::f64) {
        double value = 0;
        std::memcpy(&value, word, sizeof value);
        fill(buffer, value, count);
      } else {
        fill(buffer, constant.dtype == DType::boolean ? std::uint32_t(*word != 0) : *word, count);
      }
    } else {
      fill(buffer, constant.dtype, constant.value, count);
    }
  }
}

/// A block that begins anywhere in a period is a piece of one buffer, a period longer than a block.
void Run::fill_periods(int count) {
  for (std::size_t i = 0; i < program_.steps_.size(); ++i) {
    const Program::Step& step = program_.steps_[i];
    if (step.kind != Program::Kind::periodic) continue;
    periods_.resize(program_.steps_.size());
    const std::size_t size = step.dtype == DType::f64 ? 8 : 4;
    const std::size_t period = static_cast<std::size_t>(step.period) * size;
    const std::size_t bytes = static_cast<std::size_t>(count) * size + period;
    periods_[i] = std::make_unique_for_overwrite<std::byte[]>(bytes);
    seek(0);
    load_strided(step, periods_[i].get(), step.period);
    for (std::size_t at = period; at < bytes; at *= 2)
      std::memcpy(periods_[i].get() + at, periods_[i].get(), std::min(at, bytes - at));
  }
}

void Run::seek(std::int64_t begin) {
  for (int axis = program_.space_.rank - 1; axis >= 0; --axis) {
    const std::int64_t size = program_.space_.sizes[static_cast<std::size_t>(axis)];
    at_[static_cast<std::size_t>(axis)] = begin % size;
    begin /= size;
  }
}

/// Calls f(coordinates, offset in the block, length) for each run along the
/// innermost axis.
template <typename F>
void Run::segments(std::int64_t count, F f) const {
  const Space& space = program_.space_;
  std::array<std::int64_t, max_axes> at = at_;
  if (space.rank == 0) return f(at, 0, static_cast<int>(count));
  const auto inner = static_cast<std::size_t>(space.rank - 1);
  std::int64_t done = 0;
  while (done < count) {
    const std::int64_t length = std::min(count - done, space.sizes[inner] - at[inner]);
    f(at, static_cast<int>(done), static_cast<int>(length));
    done += length;
    at[inner] += length;
    for (std::size_t axis = inner; axis > 0 && at[axis] == space.sizes[axis]; --axis) {
      at[axis] = 0;
      ++at[axis - 1];
    }
  }
}

void Run::load_strided(const Program::Step& step, std::byte* dst, std::int64_t count) const {
  const auto rank = static_cast<std::size_t>(program_.space_.rank);
  const std::byte* source = bindings_[static_cast<std::size_t>(step.binding)];
  const std::int64_t stride = rank ? step.strides[rank - 1] : 0;
  const std::size_t size = step.dtype == DType::f64 ? 8 : 4;
  segments(count, [&](const auto& at, int offset, int length) {
    std::int64_t index = step.offset;
    for (std::size_t axis = 0; axis < rank; ++axis) index += step.strides[axis] * at[axis];
    step.load(dst + static_cast<std::size_t>(offset) * size, source + index * static_cast<std::int64_t>(step.element_bytes),
              stride, length);
  });
}

const void* Run::evaluate(std::int64_t begin, int count, void* destination, const void* argument) {
  HEARTH_ASSERT(count <= program_.block_);
  using Kind = Program::Kind;
  seek(begin);
  const auto rank = static_cast<std::size_t>(program_.space_.rank);
  const auto start = [&](const Program::Step& step, const auto& at) {
    std::int64_t index = step.offset;
    for (std::size_t axis = 0; axis < rank; ++axis) index += step.strides[axis] * at[axis];
    return index;
  };
  for (const Program::Step& step : program_.steps_) {
    const auto value = [&](int reg) { return reg < 0 ? nullptr : values_[static_cast<std::size_t>(reg)]; };
    const bool last = &step == &program_.steps_.back();
    std::byte* dst = last && destination ? static_cast<std::byte*>(destination) : buffers_[static_cast<std::size_t>(step.dst)];
    const std::byte* source = step.binding >= 0 ? bindings_[static_cast<std::size_t>(step.binding)] : nullptr;
    const void* result = dst;
    switch (step.kind) {
      case Kind::loop: step.loop(dst, value(step.a), value(step.b), value(step.c), count); break;
      case Kind::native: run_native(*step.native, step.dtype, dst, value(step.a), count); break;
      case Kind::native_binary: run_native(*step.native_binary, step.dtype, dst, value(step.a), value(step.b), count); break;
      case Kind::gather: step.gather(dst, source, static_cast<const std::int32_t*>(value(step.a)), count); break;
      case Kind::argument: result = argument; break;
      case Kind::direct: result = source + (step.offset + begin) * static_cast<std::int64_t>(step.element_bytes); break;
      case Kind::strided: load_strided(step, dst, count); break;
      case Kind::periodic: {
        const auto number = static_cast<std::size_t>(&step - program_.steps_.data());
        result = periods_[number].get() + static_cast<std::size_t>(begin % step.period) * (step.dtype == DType::f64 ? 8 : 4);
        break;
      }
      case Kind::coordinate: {
        auto* out = reinterpret_cast<std::int32_t*>(dst);
        const auto axis = static_cast<std::size_t>(step.axis);
        const int each = axis + 1 == rank ? 1 : 0;
        segments(count, [&](const auto& at, int offset, int length) {
          for (int i = 0; i < length; ++i) out[offset + i] = static_cast<std::int32_t>(at[axis]) + i * each;
        });
        break;
      }
      case Kind::flat: {
        auto* out = reinterpret_cast<std::int32_t*>(dst);
        const auto each = static_cast<std::int32_t>(rank ? step.strides[rank - 1] : 0);
        segments(count, [&](const auto& at, int offset, int length) {
          const auto first = static_cast<std::int32_t>(start(step, at));
          for (int i = 0; i < length; ++i) out[offset + i] = first + i * each;
        });
        break;
      }
    }
    values_[static_cast<std::size_t>(step.dst)] = result;
  }
  return values_[static_cast<std::size_t>(program_.result_)];
}

}  // namespace hearth::ir::host
