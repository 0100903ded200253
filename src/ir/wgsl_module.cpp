#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "base/assert.hpp"
#include "ir/wgsl_parts.hpp"

namespace hearth::ir {

const char* wgsl_type(DType compute) {
  switch (compute_dtype(compute)) {
    case DType::boolean: return "bool";
    case DType::i32: return "i32";
    case DType::u32: return "u32";
    default: return "f32";
  }
}

const char* wgsl_storage_type(DType storage) {
  switch (storage) {
    case DType::f16: return "f16";
    case DType::f32: return "f32";
    case DType::i32: return "i32";
    default: return "u32";
  }
}

Expected<Grid> fold_grid(std::uint64_t workgroups, const DeviceInfo& info, std::string_view label) {
  const std::uint64_t limit = info.max_workgroups_per_dimension;
  Grid grid;
  if (workgroups <= limit) {
    grid.workgroups[0] = static_cast<std::uint32_t>(workgroups);
    grid.linear = "wg.x";
    return grid;
  }
  const auto divide_up = [](std::uint64_t a, std::uint64_t b) { return (a + b - 1) / b; };
  // As few dimensions, and of them as even ones, as fit: little is launched in
  // vain.
  const std::uint64_t planes = divide_up(workgroups, limit * limit);
  const std::uint64_t per_plane = divide_up(workgroups, planes);
  const std::uint64_t rows = divide_up(per_plane, limit);
  const std::uint64_t columns = divide_up(per_plane, rows);
  if (planes > limit)
    return Failure{ErrorCode::unsupported, fmt::format("{}: {} workgroups do not fit the device's "
                                                       "limit of {} in each of three dimensions.",
                                                       label, workgroups, limit)};
  grid.workgroups = {static_cast<std::uint32_t>(columns), static_cast<std::uint32_t>(rows), static_cast<std::uint32_t>(planes)};
  grid.linear = planes == 1 ? fmt::format("(wg.y * {}u + wg.x)", columns)
                            : fmt::format("((wg.z * {}u + wg.y) * {}u + wg.x)", rows, columns);
  return grid;
}

void WgslModule::fail(ErrorCode code, std::string message) {
  if (!failed()) failure_ = {code, std::move(message)};
}

void WgslModule::declare(const std::string& name, const std::string& text) {
  if (declared_.emplace(name, true).second) declarations_ += text + "\n";
}

void WgslModule::enable(const std::string& directive) {
  if (declared_.emplace(directive, true).second) enables_ += directive + "\n";
}

std::string WgslModule::binding(int index) {
  if (std::find(bindings_.begin(), bindings_.end(), index) == bindings_.end()) {
    bindings_.push_back(index);
    if (index >= 0) {
      const DType dtype = kernel_.bindings[static_cast<std::size_t>(index)];
      if (dtype == DType::f64)
        fail(ErrorCode::unsupported, fmt::format("{}: the device has no f64; it exists on the CPU device only.", kernel_.label));
      if (dtype == DType::f16) {
        if (!info_.f16)
          fail(ErrorCode::unsupported, fmt::format("{}: the device has no f16 (feature shader-f16).", kernel_.label));
        enable("enable f16;");
      }
    }
  }
  return index < 0 ? "scratch" : fmt::format("b{}", index);
}

void WgslModule::vectorise(int index) { vectors_.push_back(index); }

std::string WgslModule::load(int index, const std::string& at) {
  const DType dtype = kernel_.bindings[static_cast<std::size_t>(index)];
  const std::string name = binding(index);
  switch (dtype) {
    case DType::boolean: return fmt::format("({}[{}] != 0u)", name, at);
    case DType::u8: return fmt::format("extractBits({}[u32({}) / 4u], (u32({}) & 3u) * 8u, 8u)", name, at, at);
    case DType::i8: return fmt::format("extractBits(bitcast<i32>({}[u32({}) / 4u]), (u32({}) & 3u) * 8u, 8u)", name, at, at);
    case DType::f16: return fmt::format("f32({}[{}])", name, at);
    default: return fmt::format("{}[{}]", name, at);
  }
}

std::string WgslModule::store(int index, const std::string& at, const std::string& value) {
  const DType dtype = kernel_.bindings[static_cast<std::size_t>(index)];
  HEARTH_ASSERT(!is_packed(dtype));
  const std::string name = binding(index);
  switch (dtype) {
    case DType::boolean: return fmt::format("{}[{}] = select(0u, 1u, {});", name, at, value);
    case DType::f16: return fmt::format("{}[{}] = f16({});", name, at, value);
    default: return fmt::format("{}[{}] = {};", name, at, value);
  }
}

std::string WgslModule::store_packed(int index, const std::string& word, std::span<const std::string> values, int count) {
  const std::string name = binding(index);
  std::string packed;
  for (int i = 0; i < count; ++i)
    packed += fmt::format("{}((u32({}) & 255u) << {}u)", i ? " | " : "", values[static_cast<std::size_t>(i)], 8 * i);
  if (count < 4) packed += fmt::format(" | ({}[{}] & {}u)", name, word, 0xffffffffu << (8 * count));
  return fmt::format("{}[{}] = {};", name, word, packed);
}

std::string WgslModule::parameter(int index) {
  parameters_ = true;
  std::size_t word = 0;
  for (int i = 0; i < index; ++i) word += kernel_.parameters[static_cast<std::size_t>(i)] == DType::f64 ? 2 : 1;
  const std::string text = fmt::format("params[{}].{}", word / 4, "xyzw"[word % 4]);
  switch (compute_dtype(kernel_.parameters[static_cast<std::size_t>(index)])) {
    case DType::boolean: return "(" + text + " != 0u)";
    case DType::u32: return text;
    case DType::i32: return "bitcast<i32>(" + text + ")";
    case DType::f64:
      fail(ErrorCode::unsupported, fmt::format("{}: the device has no f64; it exists on the CPU device only.", kernel_.label));
      return "0f";
    default: return "bitcast<f32>(" + text + ")";
  }
}

std::string WgslModule::literal(double value, DType dtype) {
  switch (dtype) {
    case DType::boolean: return value != 0 ? "true" : "false";
    case DType::u32: return fmt::format("{}u", static_cast<std::uint32_t>(value));
    case DType::i32:
      if (value < -2147483647.0) return "i32(-2147483648)";
      return value < 0 ? fmt::format("({}i)", static_cast<std::int32_t>(value))
                       : fmt::format("{}i", static_cast<std::int32_t>(value));
    default: break;
  }
  const auto f = static_cast<float>(value);
  // WGSL has no constant for these, and an expression of constants that gives
  // one does not compile.
  const bool tiny = f != 0 && std::abs(f) < 1.17549435e-38f;
  if (!std::isfinite(f) || tiny || (f == 0 && std::signbit(f))) {
    declare("h_zero", "var<private> h_zero: u32 = 0u;");
    return fmt::format("bitcast<f32>({}u | h_zero)", std::bit_cast<std::uint32_t>(f));
  }
  std::string digits = fmt::format("{:.9g}", f);
  if (digits.find_first_of(".e") == std::string::npos) digits += ".0";
  return f < 0 ? "(" + digits + "f)" : digits + "f";
}

Expected<WgslStage> WgslModule::finish(const std::string& body, std::array<std::uint32_t, 3> workgroup_size,
                                       std::array<std::uint32_t, 3> workgroups) {
  if (failed()) return failure_;
  if (bindings_.size() > info_.max_storage_buffers)
    return Failure{ErrorCode::unsupported, fmt::format("{}: the kernel needs {} storage buffers; the "
                                                       "device has {} a stage.",
                                                       kernel_.label, bindings_.size(), info_.max_storage_buffers)};
  const std::uint64_t invocations = std::uint64_t(workgroup_size[0]) * workgroup_size[1] * workgroup_size[2];
  if (invocations > info_.max_workgroup_invocations)
    return Failure{ErrorCode::unsupported, fmt::format("{}: a workgroup of {} invocations exceeds the "
                                                       "device's limit of {}.",
                                                       kernel_.label, invocations, info_.max_workgroup_invocations)};
  WgslStage stage;
  std::string& out = stage.source;
  out = enables_;
  for (std::size_t i = 0; i < bindings_.size(); ++i) {
    const int index = bindings_[i];
    std::string element = index < 0 ? scratch_type : wgsl_storage_type(kernel_.bindings[static_cast<std::size_t>(index)]);
    if (std::find(vectors_.begin(), vectors_.end(), index) != vectors_.end()) element = "vec4<" + element + ">";
    out += fmt::format("@group(0) @binding({}) var<storage, read_write> {}: array<{}>;\n", i, binding(index), element);
  }
  if (parameters_) {
    std::size_t words = 0;
    for (DType dtype : kernel_.parameters) words += dtype == DType::f64 ? 2 : 1;
    out += fmt::format("@group(0) @binding({}) var<uniform> params: array<vec4<u32>, {}>;\n", bindings_.size(), (words + 3) / 4);
  }
  out += declarations_;
  out += fmt::format(
      "@compute @workgroup_size({}, {}, {})\n"
      "fn main(@builtin(workgroup_id) wg: vec3<u32>, "
      "@builtin(local_invocation_id) lid: vec3<u32>) {{\n{}}}\n",
      workgroup_size[0], workgroup_size[1], workgroup_size[2], body);
  stage.workgroups = workgroups;
  stage.bindings = bindings_;
  stage.parameters = parameters_;
  return stage;
}

}  // namespace hearth::ir
