#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "hearth/device.hpp"
#include "hearth/tensor.hpp"
#include "models/fold.hpp"
#include "models/windows.hpp"

namespace hearth::models {

struct EsrganOptions {
  /// Do upsampling and concatenation inside the convolutions behind them (fold_upsampling, fold_concatenation).
  bool fold = true;
};

/// A part of the enlarged picture.
struct Tile {
  Tensor pixels;  ///< f32 [window.height * scale, window.width * scale, 3]
  Window window;  ///< in pixels of the small picture
};

/// A super-resolution network of the npm package @upscalerjs/esrgan-slim: any Keras network of its layers.
/// It was trained on pixels in 0..1.
class Esrgan {
 public:
  /// Reads `model_json` and its weights onto `device`. Throws Error(io).
  Esrgan(const std::string& model_json, const Device& device, const EsrganOptions& options = {});

  [[nodiscard]] int scale() const { return network_.topology.output().scale; }
  [[nodiscard]] const Topology& topology() const { return network_.topology; }
  [[nodiscard]] std::int64_t weight_count() const;
  /// Most pixels of the small picture that the device can take at once: its largest layer has to fit into one binding.
  [[nodiscard]] std::int64_t max_pixels() const;

  /// The whole picture at once: [height, width, 3 or more channels] in 0..1 -> [height * scale, width * scale, 3], not clamped.
  [[nodiscard]] Tensor enlarge(const Tensor& image) const;
  /// In as few tiles as the device allows, or with at most `max_pixels` pixels each. With several tiles each is flushed, so that
  /// memory is reused; nothing waits. Throws Error(unsupported) when the device is too small for one pixel and its halo.
  [[nodiscard]] std::vector<Tile> enlarge_in_tiles(const Tensor& image, std::int64_t max_pixels = 0) const;

 private:
  [[nodiscard]] Tensor run(const Tensor& image) const;

  Network network_;
  Device device_;
  std::map<std::string, Tensor> weights_;
};

/// The tiles' cores put together on the host, [height * scale, width * scale, 3]. Reads and waits.
[[nodiscard]] std::vector<float> read_tiles(const std::vector<Tile>& tiles, int width, int height, int scale);

}  // namespace hearth::models
