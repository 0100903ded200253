#pragma once
#include <cstdint>
#include <vector>

#include "demo/gpu.hpp"
#include "hearth/io/image.hpp"
#include "models/windows.hpp"

namespace hearth::demo {

/// A part of the enlarged photo in a buffer: f32 [window.height, window.width, 3] in pixels of the enlarged photo.
struct DrawnTile {
  WGPUBuffer buffer = nullptr;
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
  models::Rect window;
  models::Rect core;  ///< what of it is drawn
};

/// The app's own drawing: the photo enlarged by bicubic on the left, the network's tiles on the right, into textures that it can
/// copy out. A picture larger than a texture may be is drawn in cells.
class Picture {
 public:
  Picture(Gpu& gpu, WGPUTexture photo, int photo_width, int photo_height, int scale);

  /// Encodes one frame and submits it.
  void draw(const std::vector<DrawnTile>& tiles);
  /// The last frame, RGB.
  [[nodiscard]] io::Image read();

 private:
  struct Cell {
    models::Rect place;  ///< in the picture
    Texture texture;
    TextureView view;
  };

  void make_pipelines();
  void make_cells();
  void encode_cell(WGPUCommandEncoder encoder, const Cell& cell, const std::vector<DrawnTile>& tiles,
                   const std::vector<BindGroup>& groups);
  [[nodiscard]] std::uint32_t add_uniform(const Cell& cell, const DrawnTile* tile);

  Gpu& gpu_;
  int photo_width_, photo_height_, scale_;
  int width_, height_, panel_;
  ShaderModule module_;
  BindGroupLayout photo_layout_, tile_layout_;
  RenderPipeline bicubic_, network_;
  TextureView photo_view_;
  Buffer uniforms_;
  BindGroup photo_group_;
  std::vector<std::uint8_t> uniform_bytes_;
  std::vector<Cell> cells_;
};

}  // namespace hearth::demo
