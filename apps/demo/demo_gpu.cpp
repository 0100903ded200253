#include <chrono>

#include "demo/demo.hpp"
#include "demo/gpu.hpp"
#include "demo/picture.hpp"
#include "hearth/webgpu.hpp"
#include "models/esrgan.hpp"

namespace hearth::demo {
namespace {

models::Rect enlarged(const models::Rect& rect, int scale) {
  return {rect.x * scale, rect.y * scale, rect.width * scale, rect.height * scale};
}

}  // namespace

Result run_on_gpu(const Work& work, Report& report) {
  // The app's part: its own device, and the photo as its own texture.
  Gpu gpu(work.options.device == "gpu" ? std::string() : work.options.device);
  report.device = gpu.name();
  report.backend = gpu.backend();
  const Texture photo = gpu.upload(work.photo);

  // Hearth works on that device.
  const Device device = webgpu::init_existing_device(
      {.instance = gpu.instance(), .adapter = gpu.adapter(), .device = gpu.device(), .queue = gpu.queue()});
  const models::Esrgan network(work.model_json, device);
  check_scale(network.scale(), work);
  device.sync(SyncType::flush);
  report.weights = network.weight_count();
  report.weight_bytes = static_cast<std::int64_t>(device.statistics().bytes_written);

  Picture picture(gpu, photo.get(), work.photo.width, work.photo.height, work.options.scale);
  const Statistics before = device.statistics();
  std::vector<models::Tile> tiles;
  for (int frame = 0; frame < work.options.frames; ++frame) {
    const auto start = std::chrono::steady_clock::now();
    const Tensor image = webgpu::import_texture(device, photo.get());
    tiles = network.enlarge_in_tiles(image, work.options.max_tile_pixels);
    device.sync(SyncType::flush);

    // The app's render pass reads the tensors' own buffers; the pins keep them until its commands are submitted.
    std::vector<webgpu::Resource> resources;
    std::vector<DrawnTile> drawn;
    for (const models::Tile& tile : tiles) {
      resources.push_back(webgpu::get_resource(tile.pixels));
      drawn.push_back({resources.back().buffer, resources.back().offset, resources.back().size,
                       enlarged(tile.window.window, network.scale()), enlarged(tile.window.core, network.scale())});
    }
    picture.draw(drawn);
    gpu.wait();  // the app's own wait, to measure
    report.frame_ms.push_back(std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count());
  }
  report.frames = device.statistics() - before;
  report.app_submits = gpu.submits();
  report.tiles = static_cast<int>(tiles.size());

  Result result;
  result.picture = picture.read();
  if (!work.options.raw.empty()) result.raw = models::read_tiles(tiles, work.photo.width, work.photo.height, network.scale());
  gpu.check();
  return result;
}

}  // namespace hearth::demo
