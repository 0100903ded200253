#include "runtime/webgpu/pipelines.hpp"

#include <fmt/format.h>

#include <array>

#include "ir/print_wgsl.hpp"
#ifdef HEARTH_WEBGPU_IS_WGPU
#include <webgpu/wgpu.h>
#endif

namespace hearth::runtime::webgpu {
namespace {

/// Kernels whose every index follows from checked shapes: the library's own products and convolutions. (What a user writes, or an
/// expression loads, keeps its checks.)
bool is_proved(const ir::Kernel& kernel) { return kernel.form == ir::Form::matmul || kernel.form == ir::Form::conv2d; }

WGPUShaderModule create_shader(WGPUDevice device, const WGPUShaderModuleDescriptor& descriptor, [[maybe_unused]] bool proved) {
#ifdef HEARTH_WEBGPU_IS_WGPU
  // Checks of indices and of loops cost such kernels up to a third of their speed.
  if (proved) return wgpuDeviceCreateShaderModuleTrusted(device, &descriptor, WGPUShaderRuntimeChecks_None);
#endif
  return wgpuDeviceCreateShaderModule(device, &descriptor);
}

}  // namespace

Expected<const Compiled*> Pipelines::find_equal(const ir::KernelRef& kernel) {
  const auto [first, last] = compiled_.equal_range(kernel->hash);
  for (auto it = first; it != last; ++it) {
    if (!ir::same(*it->second->kernel, *kernel)) continue;
    const Compiled* found = it->second.get();
    if (found->failure) return *found->failure;
    remember(kernel, found);
    return found;
  }
  auto compiled = std::make_unique<Compiled>();
  compiled->kernel = kernel;
  if (Expected<void> done = compile(*compiled); !done) {
    // What is wrong with the kernel stays wrong; what is wrong with the device may pass.
    const bool lasting = done.error().code == ErrorCode::compilation || done.error().code == ErrorCode::unsupported;
    if (lasting) {
      compiled->failure = std::make_unique<Failure>(done.error());
      compiled->stages.clear();
      compiled_.emplace(kernel->hash, std::move(compiled));
    }
    return done.error();
  }
  const Compiled* made = compiled.get();
  compiled_.emplace(kernel->hash, std::move(compiled));
  remember(kernel, made);
  return made;
}

void Pipelines::remember(const ir::KernelRef& kernel, const Compiled* compiled) {
  constexpr std::size_t most_aliases = 1u << 15;
  if (aliases_.size() >= most_aliases) {
    aliases_.clear();
    slots_.assign(slots_.size(), {});
  }
  if (2 * (aliases_.size() + 1) > slots_.size()) {
    std::vector<Slot> old = std::exchange(slots_, std::vector<Slot>(slots_.size() * 4));
    for (const Slot& slot : old) {
      if (!slot.kernel) continue;
      std::size_t at = hash(slot.kernel);
      while (slots_[at & (slots_.size() - 1)].kernel) ++at;
      slots_[at & (slots_.size() - 1)] = slot;
    }
  }
  std::size_t at = hash(kernel.get());
  while (slots_[at & (slots_.size() - 1)].kernel) ++at;
  slots_[at & (slots_.size() - 1)] = {kernel.get(), compiled};
  aliases_.push_back(kernel);
}

Expected<void> Pipelines::compile(Compiled& compiled) {
  const ir::Kernel& kernel = *compiled.kernel;
  Expected<ir::Wgsl> wgsl = ir::print_wgsl(kernel, gpu_.info);
  if (!wgsl) return wgsl.error();
  compiled.scratch_bytes = wgsl->scratch_bytes;
  std::uint64_t words = 0;
  for (const DType dtype : kernel.parameters) words += dtype == DType::f64 ? 2 : 1;
  compiled.parameter_bytes = (words + 3) / 4 * 16;
  if (kernel.form == ir::Form::source) compiled.read_only = read_only_bindings(kernel.source);
  const std::string label = gpu_.label + " " + (kernel.label.empty() ? "kernel" : kernel.label);

  for (ir::WgslStage& printed : wgsl->stages) {
    Stage& stage = compiled.stages.emplace_back();
    stage.bindings = std::move(printed.bindings);
    stage.workgroups = printed.workgroups;
    if (stage.bindings.size() >= BindGroups::most_bindings)
      return Failure{ErrorCode::unsupported, fmt::format("{}: it binds {} buffers, at most {} are possible.", label,
                                                         stage.bindings.size(), BindGroups::most_bindings - 1)};
    Expected<const Layout*> layout =
        this->layout(static_cast<std::uint32_t>(stage.bindings.size()), compiled.read_only, printed.parameters);
    if (!layout) return layout.error();
    stage.layout = *layout;
    Expected<Owned<WGPUShaderModule>> shader = this->shader(printed.source, label, is_proved(kernel));
    if (!shader) return shader.error();
    Expected<Owned<WGPUComputePipeline>> pipeline =
        this->pipeline(shader->get(), stage.layout->pipeline.get(), printed.entry_point, label);
    if (!pipeline) return pipeline.error();
    stage.pipeline = std::move(*pipeline);
  }
  return {};
}

Expected<Owned<WGPUShaderModule>> Pipelines::shader(std::string_view source, std::string_view label, bool proved) {
  WGPUShaderSourceWGSL wgsl = {};
  wgsl.chain.sType = WGPUSType_ShaderSourceWGSL;
  wgsl.code = view(source);
  WGPUShaderModuleDescriptor descriptor = {};
  descriptor.nextInChain = &wgsl.chain;
  descriptor.label = view(label);
  ErrorScope scope(gpu_, validation | out_of_memory | internal);
  auto shader = Owned<WGPUShaderModule>::adopt(create_shader(gpu_.device.get(), descriptor, proved));
  if (Expected<void> made = scope.close(label, ErrorCode::compilation); !made) return made.error();
  if (!shader) return device_lost(label);
  return shader;
}

Expected<Owned<WGPUComputePipeline>> Pipelines::pipeline(WGPUShaderModule shader, WGPUPipelineLayout layout,
                                                         std::string_view entry_point, std::string_view label) {
  WGPUComputePipelineDescriptor descriptor = {};
  descriptor.label = view(label);
  descriptor.layout = layout;
  descriptor.compute.module = shader;
  descriptor.compute.entryPoint = view(entry_point);
  ErrorScope scope(gpu_, validation | out_of_memory | internal);
  auto pipeline = Owned<WGPUComputePipeline>::adopt(wgpuDeviceCreateComputePipeline(gpu_.device.get(), &descriptor));
  if (Expected<void> made = scope.close(label, ErrorCode::compilation); !made) return made.error();
  if (!pipeline) return device_lost(label);
  ++made_;
  return pipeline;
}

Expected<const Layout*> Pipelines::layout(std::uint32_t storage, std::uint32_t read_only, bool uniform) {
  for (const auto& layout : layouts_)
    if (layout->storage == storage && layout->read_only == read_only && layout->uniform == uniform) return layout.get();

  std::vector<WGPUBindGroupLayoutEntry> entries(storage + (uniform ? 1 : 0));
  for (std::uint32_t i = 0; i < entries.size(); ++i) {
    entries[i].binding = i;
    entries[i].visibility = WGPUShaderStage_Compute;
    if (i == storage) {
      entries[i].buffer.type = WGPUBufferBindingType_Uniform;
      entries[i].buffer.hasDynamicOffset = 1;
    } else {
      entries[i].buffer.type = read_only >> i & 1 ? WGPUBufferBindingType_ReadOnlyStorage : WGPUBufferBindingType_Storage;
    }
  }
  WGPUBindGroupLayoutDescriptor descriptor = {};
  descriptor.label = view(gpu_.label);
  descriptor.entryCount = entries.size();
  descriptor.entries = entries.data();
  auto layout = std::make_unique<Layout>();
  layout->storage = storage;
  layout->read_only = read_only;
  layout->uniform = uniform;
  ErrorScope scope(gpu_);
  layout->group = Owned<WGPUBindGroupLayout>::adopt(wgpuDeviceCreateBindGroupLayout(gpu_.device.get(), &descriptor));
  WGPUPipelineLayoutDescriptor pipeline = {};
  const WGPUBindGroupLayout group = layout->group.get();
  pipeline.label = view(gpu_.label);
  pipeline.bindGroupLayoutCount = 1;
  pipeline.bindGroupLayouts = &group;
  layout->pipeline = Owned<WGPUPipelineLayout>::adopt(wgpuDeviceCreatePipelineLayout(gpu_.device.get(), &pipeline));
  if (Expected<void> made = scope.close("kernel layout"); !made) return made.error();
  if (!layout->pipeline) return device_lost("kernel layout");
  layouts_.push_back(std::move(layout));
  return layouts_.back().get();
}

namespace {

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

/// The source without comments and white space; block comments nest in WGSL.
std::string bare(std::string_view wgsl) {
  std::string text;
  int depth = 0;
  for (std::size_t i = 0; i < wgsl.size(); ++i) {
    const std::string_view rest = wgsl.substr(i, 2);
    if (rest == "/*") {
      ++depth;
      ++i;
    } else if (depth > 0) {
      if (rest == "*/") {
        --depth;
        ++i;
      }
    } else if (rest == "//") {
      while (i < wgsl.size() && wgsl[i] != '\n') ++i;
    } else if (!is_space(wgsl[i])) {
      text += wgsl[i];
    }
  }
  return text;
}

}  // namespace

std::uint32_t read_only_bindings(std::string_view wgsl) {
  const std::string text = bare(wgsl);
  std::uint32_t read_only = 0;
  constexpr std::string_view attribute = "@binding(", storage = "var<storage";
  for (std::size_t at = text.find(attribute); at != std::string::npos; at = text.find(attribute, at + 1)) {
    std::uint32_t binding = 0;
    for (std::size_t i = at + attribute.size(); i < text.size() && text[i] >= '0' && text[i] <= '9'; ++i)
      binding = binding * 10 + static_cast<std::uint32_t>(text[i] - '0');
    const std::size_t variable = text.find("var<", at);
    if (variable == std::string::npos || text.compare(variable, storage.size(), storage) != 0) continue;
    // `read` is the default of the storage address space.
    const std::string_view mode = std::string_view(text).substr(variable + storage.size(), 6);
    if (binding < 32 && (mode.starts_with(">") || mode.starts_with(",read>"))) read_only |= 1u << binding;
  }
  return read_only;
}

}  // namespace hearth::runtime::webgpu
