#include "demo/picture.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "demo/compare_shader.hpp"
#include "demo/compose.hpp"
#include "hearth/error.hpp"

namespace hearth::demo {
namespace {

/// Larger render targets need larger copies back; 4096 x 4096 x 4 bytes fit into the smallest buffer limit.
constexpr int max_cell_side = 4096;
/// The smallest offset alignment that every device has.
constexpr std::uint32_t uniform_stride = 256;
constexpr std::uint32_t uniform_size = 48;

models::Rect intersection(const models::Rect& a, const models::Rect& b) {
  const int x = std::max(a.x, b.x), y = std::max(a.y, b.y);
  return {x, y, std::min(a.x + a.width, b.x + b.width) - x, std::min(a.y + a.height, b.y + b.height) - y};
}

BindGroupLayout make_layout(WGPUDevice device, const std::vector<WGPUBindGroupLayoutEntry>& entries) {
  WGPUBindGroupLayoutDescriptor descriptor = {};
  descriptor.entryCount = entries.size();
  descriptor.entries = entries.data();
  return BindGroupLayout(wgpuDeviceCreateBindGroupLayout(device, &descriptor));
}

BindGroup make_group(WGPUDevice device, WGPUBindGroupLayout layout, const std::vector<WGPUBindGroupEntry>& entries) {
  WGPUBindGroupDescriptor descriptor = {};
  descriptor.layout = layout;
  descriptor.entryCount = entries.size();
  descriptor.entries = entries.data();
  return BindGroup(wgpuDeviceCreateBindGroup(device, &descriptor));
}

RenderPipeline make_pipeline(WGPUDevice device, WGPUShaderModule module, const char* entry,
                             const std::vector<WGPUBindGroupLayout>& groups) {
  WGPUPipelineLayoutDescriptor layout_descriptor = {};
  layout_descriptor.bindGroupLayoutCount = groups.size();
  layout_descriptor.bindGroupLayouts = groups.data();
  const PipelineLayout layout(wgpuDeviceCreatePipelineLayout(device, &layout_descriptor));
  WGPUColorTargetState target = {};
  target.format = WGPUTextureFormat_RGBA8Unorm;
  target.writeMask = WGPUColorWriteMask_All;
  WGPUFragmentState fragment = {};
  fragment.module = module;
  fragment.entryPoint = view(entry);
  fragment.targetCount = 1;
  fragment.targets = &target;
  WGPURenderPipelineDescriptor descriptor = {};
  descriptor.label = view(entry);
  descriptor.layout = layout.get();
  descriptor.vertex.module = module;
  descriptor.vertex.entryPoint = view("vertex");
  descriptor.primitive.topology = WGPUPrimitiveTopology_TriangleList;
  descriptor.multisample.count = 1;
  descriptor.multisample.mask = 0xFFFFFFFFu;
  descriptor.fragment = &fragment;
  return RenderPipeline(wgpuDeviceCreateRenderPipeline(device, &descriptor));
}

}  // namespace

Picture::Picture(Gpu& gpu, WGPUTexture photo, int photo_width, int photo_height, int scale)
    : gpu_(gpu),
      photo_width_(photo_width),
      photo_height_(photo_height),
      scale_(scale),
      width_(2 * photo_width * scale + divider_width),
      height_(photo_height * scale),
      panel_(photo_width * scale + divider_width),
      photo_view_(wgpuTextureCreateView(photo, nullptr)) {
  make_pipelines();
  make_cells();
  gpu_.check();
}

void Picture::make_pipelines() {
  WGPUShaderSourceWGSL source = {};
  source.chain.sType = WGPUSType_ShaderSourceWGSL;
  source.code = view(compare_wgsl);
  WGPUShaderModuleDescriptor descriptor = {};
  descriptor.nextInChain = &source.chain;
  module_ = ShaderModule(wgpuDeviceCreateShaderModule(gpu_.device(), &descriptor));

  WGPUBindGroupLayoutEntry uniform = {};
  uniform.binding = 0;
  uniform.visibility = WGPUShaderStage_Fragment;
  uniform.buffer.type = WGPUBufferBindingType_Uniform;
  uniform.buffer.hasDynamicOffset = true;
  uniform.buffer.minBindingSize = uniform_size;
  WGPUBindGroupLayoutEntry texture = {};
  texture.binding = 1;
  texture.visibility = WGPUShaderStage_Fragment;
  texture.texture.sampleType = WGPUTextureSampleType_UnfilterableFloat;
  texture.texture.viewDimension = WGPUTextureViewDimension_2D;
  photo_layout_ = make_layout(gpu_.device(), {uniform, texture});
  WGPUBindGroupLayoutEntry storage = {};
  storage.binding = 0;
  storage.visibility = WGPUShaderStage_Fragment;
  storage.buffer.type = WGPUBufferBindingType_ReadOnlyStorage;
  storage.buffer.minBindingSize = 4;
  tile_layout_ = make_layout(gpu_.device(), {storage});
  bicubic_ = make_pipeline(gpu_.device(), module_.get(), "bicubic", {photo_layout_.get()});
  network_ = make_pipeline(gpu_.device(), module_.get(), "network", {photo_layout_.get(), tile_layout_.get()});
}

void Picture::make_cells() {
  const int side = std::min(max_cell_side, static_cast<int>(gpu_.max_texture_side()));
  for (int y = 0; y < height_; y += side)
    for (int x = 0; x < width_; x += side) {
      Cell cell{.place = {x, y, std::min(side, width_ - x), std::min(side, height_ - y)}};
      cell.texture = gpu_.make_texture(cell.place.width, cell.place.height,
                                       WGPUTextureUsage_RenderAttachment | WGPUTextureUsage_CopySrc, "picture");
      cell.view = TextureView(wgpuTextureCreateView(cell.texture.get(), nullptr));
      cells_.push_back(std::move(cell));
    }
}

std::uint32_t Picture::add_uniform(const Cell& cell, const DrawnTile* tile) {
  const std::array<std::int32_t, uniform_size / 4> values = {photo_width_,
                                                             photo_height_,
                                                             cell.place.x,
                                                             cell.place.y,
                                                             tile ? tile->window.x : 0,
                                                             tile ? tile->window.y : 0,
                                                             tile ? tile->window.width : 0,
                                                             scale_,
                                                             panel_,
                                                             photo_width_ * scale_};
  const std::size_t offset = uniform_bytes_.size();
  uniform_bytes_.resize(offset + uniform_stride);
  std::memcpy(uniform_bytes_.data() + offset, values.data(), sizeof values);
  return static_cast<std::uint32_t>(offset);
}

void Picture::encode_cell(WGPUCommandEncoder encoder, const Cell& cell, const std::vector<DrawnTile>& tiles,
                          const std::vector<BindGroup>& groups) {
  WGPURenderPassColorAttachment attachment = {};
  attachment.view = cell.view.get();
  attachment.depthSlice = WGPU_DEPTH_SLICE_UNDEFINED;
  attachment.loadOp = WGPULoadOp_Clear;
  attachment.storeOp = WGPUStoreOp_Store;
  WGPURenderPassDescriptor descriptor = {};
  descriptor.colorAttachmentCount = 1;
  descriptor.colorAttachments = &attachment;
  const RenderPass pass(wgpuCommandEncoderBeginRenderPass(encoder, &descriptor));
  const auto draw = [&](const models::Rect& part, const DrawnTile* tile) {
    const models::Rect visible = intersection(part, cell.place);
    if (visible.width <= 0 || visible.height <= 0) return;
    const std::uint32_t offset = add_uniform(cell, tile);
    wgpuRenderPassEncoderSetScissorRect(pass.get(), static_cast<std::uint32_t>(visible.x - cell.place.x),
                                        static_cast<std::uint32_t>(visible.y - cell.place.y),
                                        static_cast<std::uint32_t>(visible.width), static_cast<std::uint32_t>(visible.height));
    wgpuRenderPassEncoderSetBindGroup(pass.get(), 0, photo_group_.get(), 1, &offset);
    wgpuRenderPassEncoderDraw(pass.get(), 3, 1, 0, 0);
  };
  wgpuRenderPassEncoderSetPipeline(pass.get(), bicubic_.get());
  draw({0, 0, panel_, height_}, nullptr);
  wgpuRenderPassEncoderSetPipeline(pass.get(), network_.get());
  for (std::size_t i = 0; i < tiles.size(); ++i) {
    wgpuRenderPassEncoderSetBindGroup(pass.get(), 1, groups[i].get(), 0, nullptr);
    const models::Rect& core = tiles[i].core;
    draw({core.x + panel_, core.y, core.width, core.height}, &tiles[i]);
  }
  wgpuRenderPassEncoderEnd(pass.get());
}

void Picture::draw(const std::vector<DrawnTile>& tiles) {
  std::vector<BindGroup> groups;
  for (const DrawnTile& tile : tiles) {
    WGPUBindGroupEntry entry = {};
    entry.binding = 0;
    entry.buffer = tile.buffer;
    entry.offset = tile.offset;
    entry.size = tile.size;
    groups.push_back(make_group(gpu_.device(), tile_layout_.get(), {entry}));
  }
  if (!uniforms_) {
    const std::uint64_t size = std::uint64_t{uniform_stride} * cells_.size() * (tiles.size() + 1);
    uniforms_ = gpu_.make_buffer(size, WGPUBufferUsage_Uniform | WGPUBufferUsage_CopyDst);
    WGPUBindGroupEntry uniform = {};
    uniform.binding = 0;
    uniform.buffer = uniforms_.get();
    uniform.size = uniform_size;
    WGPUBindGroupEntry texture = {};
    texture.binding = 1;
    texture.textureView = photo_view_.get();
    photo_group_ = make_group(gpu_.device(), photo_layout_.get(), {uniform, texture});
  }
  uniform_bytes_.clear();
  const CommandEncoder encoder(wgpuDeviceCreateCommandEncoder(gpu_.device(), nullptr));
  for (const Cell& cell : cells_) encode_cell(encoder.get(), cell, tiles, groups);
  wgpuQueueWriteBuffer(gpu_.queue(), uniforms_.get(), 0, uniform_bytes_.data(), uniform_bytes_.size());
  gpu_.submit(encoder.get());
}

io::Image Picture::read() {
  io::Image image{width_, height_, 3, std::vector<std::uint8_t>(std::size_t(width_) * std::size_t(height_) * 3)};
  for (const Cell& cell : cells_) {
    const models::Rect& place = cell.place;
    const WGPUExtent3D size = {static_cast<std::uint32_t>(place.width), static_cast<std::uint32_t>(place.height), 1};
    WGPUTexelCopyTextureInfo from = {};
    from.texture = cell.texture.get();
    from.aspect = WGPUTextureAspect_All;
    WGPUTexelCopyBufferInfo to = {};
    to.layout.bytesPerRow = (size.width * 4 + 255) / 256 * 256;
    to.layout.rowsPerImage = size.height;
    const std::size_t bytes = std::size_t{to.layout.bytesPerRow} * size.height;
    const Buffer buffer = gpu_.make_buffer(bytes, WGPUBufferUsage_CopyDst | WGPUBufferUsage_MapRead);
    to.buffer = buffer.get();
    const CommandEncoder encoder(wgpuDeviceCreateCommandEncoder(gpu_.device(), nullptr));
    wgpuCommandEncoderCopyTextureToBuffer(encoder.get(), &from, &to, &size);
    gpu_.submit(encoder.get());
    const std::vector<std::uint8_t> pixels = gpu_.read(buffer.get(), bytes);
    for (int y = 0; y < place.height; ++y)
      for (int x = 0; x < place.width; ++x) {
        const std::uint8_t* source = pixels.data() + std::size_t(y) * to.layout.bytesPerRow + std::size_t(x) * 4;
        std::uint8_t* target =
            image.pixels.data() + (std::size_t(place.y + y) * std::size_t(width_) + std::size_t(place.x + x)) * 3;
        std::copy_n(source, 3, target);
      }
  }
  return image;
}

}  // namespace hearth::demo
