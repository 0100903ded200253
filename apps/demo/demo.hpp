#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "hearth/device.hpp"
#include "hearth/io/image.hpp"

/// `hearth demo`: a photo, enlarged by a real network on the app's own WebGPU device and drawn in the app's own render pass
/// beside a bicubic enlargement.
namespace hearth::demo {

struct Options {
  std::string photo;           ///< empty: a part of chelsea.png of the set-up
  int scale = 2;               ///< 2, 3 or 4
  std::string device = "gpu";  ///< "gpu", "cpu" or a part of an adapter's name
  std::string output = "hearth_demo.png";
  std::string raw;    ///< .npy for the network's result; empty: none
  std::string model;  ///< folder of model.json or of x2/model.json etc.; empty: that of the set-up
  int frames = 5;
  std::int64_t max_tile_pixels = 0;  ///< 0: as many as the device allows
};

/// What a run did.
struct Report {
  std::string device, backend;
  std::string photo, output, raw;
  int photo_width = 0, photo_height = 0;
  int picture_width = 0, picture_height = 0;
  int scale = 0;
  std::int64_t weights = 0;
  std::int64_t weight_bytes = 0;  ///< uploaded before the first frame
  int tiles = 0;
  std::vector<double> frame_ms;
  Statistics frames;  ///< Hearth's counters over all frames, before the PNG is read
  std::uint64_t app_submits = 0;
  [[nodiscard]] std::uint64_t bytes_through_host() const { return frames.bytes_read + frames.bytes_written; }
};

/// Runs the demo and writes its files. Throws Error with one clear sentence.
[[nodiscard]] Report run(const Options& options);

[[nodiscard]] std::string to_text(const Report& report);
[[nodiscard]] std::string to_json(const Report& report);

/// What a run works on.
struct Work {
  Options options;
  io::Image photo;  ///< RGBA
  std::string photo_name;
  std::string model_json;
};
/// Throws Error when the model enlarges by another factor than was asked for.
void check_scale(int model_scale, const Work& work);

/// The picture and the network's result, [height * scale, width * scale, 3] (empty unless it was asked for).
struct Result {
  io::Image picture;
  std::vector<float> raw;
};
[[nodiscard]] Result run_on_cpu(const Work& work, Report& report);
[[nodiscard]] Result run_on_gpu(const Work& work, Report& report);

}  // namespace hearth::demo
