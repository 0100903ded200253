// The app's render pass by itself, with tiles in the app's own buffers.
#include "demo/picture.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>

#include "demo/compose.hpp"
#include "model.hpp"

using namespace hearth;

namespace {

int largest_difference(const io::Image& a, const io::Image& b) {
  if (a.width != b.width || a.height != b.height || a.pixels.size() != b.pixels.size()) return 256;
  int largest = 0;
  for (std::size_t i = 0; i < a.pixels.size(); ++i) largest = std::max(largest, std::abs(int(a.pixels[i]) - int(b.pixels[i])));
  return largest;
}

io::Image noise(int width, int height) {
  io::Image image{width, height, 4, {}};
  for (std::uint32_t i = 0; i < std::uint32_t(width * height * 4); ++i)
    image.pixels.push_back(i % 4 == 3 ? 255 : static_cast<std::uint8_t>((i * 2654435761u) >> 24));
  return image;
}

/// Draws `enlarged` in tiles with halos, and compares with the CPU's picture.
void check_drawing(int width, int height, int scale, std::int64_t max_pixels) {
  demo::Gpu gpu("");
  const io::Image photo = noise(width, height);
  std::vector<float> enlarged(std::size_t(width * scale * height * scale * 3));
  for (std::size_t i = 0; i < enlarged.size(); ++i) enlarged[i] = float((i * 7919) % 1000) / 900.0f - 0.05f;

  const demo::Texture texture = gpu.upload(photo);
  demo::Picture picture(gpu, texture.get(), width, height, scale);
  std::vector<demo::Buffer> buffers;
  std::vector<demo::DrawnTile> tiles;
  const std::size_t row = std::size_t(width * scale) * 3;
  for (const auto& [window, core] : models::cut_into_windows(width, height, 3, max_pixels)) {
    std::vector<float> values;
    for (int y = window.y * scale; y < (window.y + window.height) * scale; ++y) {
      const auto begin = enlarged.begin() + std::ptrdiff_t(std::size_t(y) * row + std::size_t(window.x * scale) * 3);
      values.insert(values.end(), begin, begin + window.width * scale * 3);
    }
    // Behind 256 other bytes: the tile's offset has to be used.
    buffers.push_back(gpu.make_buffer(256 + values.size() * 4, WGPUBufferUsage_Storage | WGPUBufferUsage_CopyDst));
    wgpuQueueWriteBuffer(gpu.queue(), buffers.back().get(), 256, values.data(), values.size() * 4);
    const auto large = [&](const models::Rect& r) {
      return models::Rect{r.x * scale, r.y * scale, r.width * scale, r.height * scale};
    };
    tiles.push_back({buffers.back().get(), 256, values.size() * 4, large(window), large(core)});
  }
  for (int frame = 0; frame < 2; ++frame) picture.draw(tiles);
  CHECK(largest_difference(picture.read(), demo::compose(photo, enlarged, scale)) <= 1);
  gpu.check();
}

}  // namespace

TEST_CASE("the render pass draws what the CPU composes") {
  if (!model::has_gpu()) return;
  check_drawing(24, 18, 2, 10000);
  check_drawing(17, 23, 3, 10000);
}

TEST_CASE("the render pass joins tiles") {
  if (!model::has_gpu()) return;
  check_drawing(40, 30, 4, 20 * 20);
}

TEST_CASE("a picture wider than a render target is drawn in cells") {
  if (!model::has_gpu()) return;
  check_drawing(1100, 3, 4, 4000);
}
