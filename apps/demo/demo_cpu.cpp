#include <chrono>

#include "demo/compose.hpp"
#include "demo/demo.hpp"
#include "models/esrgan.hpp"

namespace hearth::demo {

Result run_on_cpu(const Work& work, Report& report) {
  const Device device = Device::cpu();
  const models::Esrgan network(work.model_json, device);
  check_scale(network.scale(), work);
  device.sync(SyncType::wait);
  report.device = device.info().name;
  report.backend = device.info().backend;
  report.weights = network.weight_count();

  // The photo is on the host already; its upload is no part of a frame.
  const Tensor image = io::to_tensor(work.photo, device);
  device.sync(SyncType::wait);
  report.weight_bytes = report.weights * 4;
  const Statistics before = device.statistics();
  std::vector<models::Tile> tiles;
  for (int frame = 0; frame < work.options.frames; ++frame) {
    const auto start = std::chrono::steady_clock::now();
    tiles = network.enlarge_in_tiles(image, work.options.max_tile_pixels);
    device.sync(SyncType::wait);
    report.frame_ms.push_back(std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count());
  }
  report.frames = device.statistics() - before;
  report.tiles = int(tiles.size());
  std::vector<float> values = models::read_tiles(tiles, work.photo.width, work.photo.height, network.scale());
  io::Image picture = compose(work.photo, values, network.scale());
  return {std::move(picture), std::move(values)};
}

}  // namespace hearth::demo
