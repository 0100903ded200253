#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "runtime/webgpu/server.hpp"

namespace hearth::runtime::webgpu {

namespace {

struct Format {
  WGPUTextureFormat format;
  const char* name;
  bool read, written;
};
constexpr Format formats[] = {
    {WGPUTextureFormat_R8Unorm, "r8unorm", true, false},         {WGPUTextureFormat_RG8Unorm, "rg8unorm", true, false},
    {WGPUTextureFormat_RGBA8Unorm, "rgba8unorm", true, true},    {WGPUTextureFormat_BGRA8Unorm, "bgra8unorm", true, false},
    {WGPUTextureFormat_R16Float, "r16float", true, false},       {WGPUTextureFormat_RG16Float, "rg16float", true, false},
    {WGPUTextureFormat_RGBA16Float, "rgba16float", true, false}, {WGPUTextureFormat_R32Float, "r32float", true, false},
    {WGPUTextureFormat_RG32Float, "rg32float", true, false},     {WGPUTextureFormat_RGBA32Float, "rgba32float", true, true},
};

std::string known_formats(bool Format::*direction) {
  std::string names;
  for (const Format& format : formats)
    if (format.*direction) names += (names.empty() ? "" : ", ") + std::string(format.name);
  return names;
}

bool is_known(WGPUTextureFormat wanted, bool Format::*direction) {
  return std::any_of(std::begin(formats), std::end(formats),
                     [&](const Format& format) { return format.format == wanted && format.*direction; });
}

constexpr std::uint32_t tile = 8;  ///< a workgroup covers 8 by 8 texels
constexpr const char* import_source = R"(
@group(0) @binding(0) var image: texture_2d<f32>;
@group(0) @binding(1) var<storage, read_write> texels: array<vec4<f32>>;
@compute @workgroup_size(8, 8)
fn main(@builtin(global_invocation_id) at: vec3<u32>) {
  let size = textureDimensions(image);
  if (at.x >= size.x || at.y >= size.y) { return; }
  texels[at.y * size.x + at.x] = textureLoad(image, at.xy, 0);
}
)";

/// Rows of the texture as a copy wants them: `params` = width, channels, words a row, first row; rows.
constexpr const char* export_source = R"(
@group(0) @binding(0) var<storage, read_write> image: array<f32>;
@group(0) @binding(1) var<storage, read_write> rows: array<u32>;
@group(0) @binding(2) var<uniform> params: array<vec4<u32>, 2>;
@compute @workgroup_size(8, 8)
fn main(@builtin(global_invocation_id) at: vec3<u32>) {
  let width = params[0].x;
  let channels = params[0].y;
  if (at.x >= width || at.y >= params[1].x) { return; }
  let source_at = ((params[0].w + at.y) * width + at.x) * channels;
  var color = vec4<f32>(image[source_at], image[source_at + 1u], image[source_at + 2u], 1.0);
  if (channels == 4u) { color.a = image[source_at + 3u]; }
  let target_at = at.y * params[0].z;
  STORE
}
)";

}  // namespace

Expected<ImportedTexture> WebGpuServer::import_texture(WGPUTexture texture) {
  if (Expected<void> healthy = check_healthy("import_texture"); !healthy) return healthy.error();
  const auto refuse = [](std::string message) { return Failure{ErrorCode::invalid_argument, "import_texture: " + message}; };
  if (!(wgpuTextureGetUsage(texture) & WGPUTextureUsage_TextureBinding))
    return refuse("the texture lacks the usage TextureBinding.");
  if (wgpuTextureGetDimension(texture) != WGPUTextureDimension_2D || wgpuTextureGetDepthOrArrayLayers(texture) != 1)
    return refuse("the texture is no 2D texture of one layer.");
  if (wgpuTextureGetSampleCount(texture) != 1)
    return refuse(fmt::format("the texture has {} samples a texel, only 1 is possible.", wgpuTextureGetSampleCount(texture)));
  if (!is_known(wgpuTextureGetFormat(texture), &Format::read))
    return refuse(fmt::format("the texture's format (WGPUTextureFormat {}) is none of {}.",
                              static_cast<int>(wgpuTextureGetFormat(texture)), known_formats(&Format::read)));
  const std::uint32_t width = wgpuTextureGetWidth(texture), height = wgpuTextureGetHeight(texture);
  const std::uint64_t bytes = std::uint64_t{16} * width * height;
  if (bytes > info_.max_binding_bytes)
    return Failure{ErrorCode::unsupported,
                   fmt::format("import_texture: {} by {} texels take {} bytes as f32, this device binds at most "
                               "{} bytes (maxStorageBufferBindingSize).",
                               width, height, bytes, info_.max_binding_bytes)};
  if (Expected<void> made = make_texture_pipeline(); !made) return lose(made.error());
  Handle handle = memory_->make(bytes);
  if (Expected<void> placed = place(*handle); !placed) return placed.error();

  ErrorScope scope(*gpu_);
  WGPUTextureViewDescriptor shown = {};
  shown.format = wgpuTextureGetFormat(texture);
  shown.dimension = WGPUTextureViewDimension_2D;
  shown.mipLevelCount = 1;
  shown.arrayLayerCount = 1;
  shown.aspect = WGPUTextureAspect_All;
  const auto image = Owned<WGPUTextureView>::adopt(wgpuTextureCreateView(texture, &shown));
  std::array<WGPUBindGroupEntry, 2> entries = {};
  entries[0].textureView = image.get();
  entries[1].binding = 1;
  entries[1].buffer = static_cast<WGPUBuffer>(handle->block->buffer);
  entries[1].offset = handle->offset;
  entries[1].size = bytes;
  WGPUBindGroupDescriptor descriptor = {};
  descriptor.label = view("import_texture");
  descriptor.layout = texture_layout_.get();
  descriptor.entryCount = entries.size();
  descriptor.entries = entries.data();
  const auto group = Owned<WGPUBindGroup>::adopt(wgpuDeviceCreateBindGroup(gpu_->device.get(), &descriptor));
  if (Expected<void> made = scope.close("import_texture"); !made) return lose(made.error());

  if (Expected<void> opened = target().open_pass(); !opened) return lose(opened.error());
  target().dispatch(texture_pipeline_.get(), {group.get(), bind_groups_.new_serial()}, false, 0,
                    {(width + tile - 1) / tile, (height + tile - 1) / tile, 1});
  use_written(*handle);
  if (!borrowed_) foreign_textures_.push_back(Owned<WGPUTexture>::borrow(texture));
  return ImportedTexture{std::move(handle), width, height};
}

Expected<void> WebGpuServer::make_texture_pipeline() {
  if (texture_pipeline_) return {};
  std::array<WGPUBindGroupLayoutEntry, 2> entries = {};
  entries[0].visibility = entries[1].visibility = WGPUShaderStage_Compute;
  entries[0].texture.sampleType = WGPUTextureSampleType_UnfilterableFloat;
  entries[0].texture.viewDimension = WGPUTextureViewDimension_2D;
  entries[1].binding = 1;
  entries[1].buffer.type = WGPUBufferBindingType_Storage;
  WGPUBindGroupLayoutDescriptor descriptor = {};
  descriptor.label = view("import_texture");
  descriptor.entryCount = entries.size();
  descriptor.entries = entries.data();
  ErrorScope scope(*gpu_);
  auto group = Owned<WGPUBindGroupLayout>::adopt(wgpuDeviceCreateBindGroupLayout(gpu_->device.get(), &descriptor));
  const WGPUBindGroupLayout handle = group.get();
  WGPUPipelineLayoutDescriptor pipeline_descriptor = {};
  pipeline_descriptor.bindGroupLayoutCount = 1;
  pipeline_descriptor.bindGroupLayouts = &handle;
  const auto layout = Owned<WGPUPipelineLayout>::adopt(wgpuDeviceCreatePipelineLayout(gpu_->device.get(), &pipeline_descriptor));
  if (Expected<void> made = scope.close("import_texture"); !made) return made;
  Expected<Owned<WGPUShaderModule>> shader = pipelines_.shader(import_source, "import_texture", false);
  if (!shader) return shader.error();
  Expected<Owned<WGPUComputePipeline>> pipeline = pipelines_.pipeline(shader->get(), layout.get(), "main", "import_texture");
  if (!pipeline) return pipeline.error();
  statistics_.pipelines = pipelines_.made();
  texture_layout_ = std::move(group);
  texture_pipeline_ = std::move(*pipeline);
  return {};
}

Expected<void> WebGpuServer::export_texture(const Handle& from, std::uint32_t width, std::uint32_t height, std::uint32_t channels,
                                            WGPUTexture texture) {
  if (Expected<void> healthy = check_healthy("export_texture"); !healthy) return healthy;
  if (from->failure) return *from->failure;
  if (Expected<void> fits = check_scope(*from, "export_texture"); !fits) return fits;
  const auto refuse = [](std::string message) { return Failure{ErrorCode::invalid_argument, "export_texture: " + message}; };
  if (channels != 3 && channels != 4) return refuse(fmt::format("{} channels are given, 3 or 4 are possible.", channels));
  if (!(wgpuTextureGetUsage(texture) & WGPUTextureUsage_CopyDst)) return refuse("the texture lacks the usage CopyDst.");
  const WGPUTextureFormat format = wgpuTextureGetFormat(texture);
  if (!is_known(format, &Format::written))
    return refuse(fmt::format("the texture's format (WGPUTextureFormat {}) is none of {}.", static_cast<int>(format),
                              known_formats(&Format::written)));
  if (wgpuTextureGetDimension(texture) != WGPUTextureDimension_2D || wgpuTextureGetWidth(texture) != width ||
      wgpuTextureGetHeight(texture) != height || wgpuTextureGetDepthOrArrayLayers(texture) != 1)
    return refuse(fmt::format("the tensor has {} by {} texels, the texture {} by {} in {} layers.", width, height,
                              wgpuTextureGetWidth(texture), wgpuTextureGetHeight(texture),
                              wgpuTextureGetDepthOrArrayLayers(texture)));

  const bool bytes = format == WGPUTextureFormat_RGBA8Unorm;
  // A copy wants rows of a multiple of 256 bytes.
  const std::uint64_t row = (std::uint64_t{width} * (bytes ? 4 : 16) + 255) / 256 * 256;
  const auto most_rows = static_cast<std::uint32_t>(std::min<std::uint64_t>(height, info_.max_binding_bytes / row));
  for (std::uint32_t first = 0; first < height; first += most_rows) {
    const std::uint32_t rows = std::min(most_rows, height - first);
    Handle staged = memory_->make(row * rows);
    const ir::KernelRef kernel = export_kernel(bytes, (width + tile - 1) / tile, (rows + tile - 1) / tile);
    const std::array<Allocation*, 2> bindings = {from.get(), staged.get()};
    const std::array<std::uint32_t, 8> parameters = {width, channels, static_cast<std::uint32_t>(row / 4), first, rows};
    if (Expected<void> launched = launch(kernel, bindings, parameters); !launched) return launched;
    Expected<WGPUCommandEncoder> encoder = target().open_for_copies();
    if (!encoder) return lose(encoder.error());
    WGPUTexelCopyBufferInfo source = {};
    source.buffer = static_cast<WGPUBuffer>(staged->block->buffer);
    source.layout.offset = staged->offset;
    source.layout.bytesPerRow = static_cast<std::uint32_t>(row);
    source.layout.rowsPerImage = rows;
    WGPUTexelCopyTextureInfo to = {};
    to.texture = texture;
    to.origin = {0, first, 0};
    to.aspect = WGPUTextureAspect_All;
    const WGPUExtent3D extent = {width, rows, 1};
    ErrorScope scope(*gpu_);
    wgpuCommandEncoderCopyBufferToTexture(*encoder, &source, &to, &extent);
    if (Expected<void> copied = scope.close("export_texture"); !copied) return lose(copied.error());
  }
  if (!borrowed_) foreign_textures_.push_back(Owned<WGPUTexture>::borrow(texture));
  return {};
}

ir::KernelRef WebGpuServer::export_kernel(bool bytes, std::uint32_t columns, std::uint32_t rows) {
  ir::KernelRef& cached = export_kernels_[bytes ? 0 : 1];
  if (cached && cached->workgroups[0] == columns && cached->workgroups[1] == rows) return cached;
  ir::Kernel kernel;
  kernel.label = "export_texture";
  kernel.form = ir::Form::source;
  kernel.source = export_source;
  const std::string store = bytes ? "rows[target_at + at.x] = pack4x8unorm(color);"
                                  : "for (var i = 0u; i < 4u; i++) { rows[target_at + at.x * 4u + i] = bitcast<u32>(color[i]); }";
  kernel.source.replace(kernel.source.find("STORE"), 5, store);
  kernel.entry_point = "main";
  kernel.bindings = {DType::f32, DType::u32};
  kernel.parameters.assign(8, DType::u32);
  kernel.workgroups = {columns, rows, 1};
  return cached = ir::finish(std::move(kernel));
}

}  // namespace hearth::runtime::webgpu
