#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "hearth/io/tfjs.hpp"

namespace hearth::models {

enum class LayerKind : unsigned char { input, conv2d, relu, concatenate, add, upsample, depth_to_space };

/// One layer of an image-to-image network: channels last, the picture's size kept or multiplied.
struct Layer {
  std::string name;
  LayerKind kind = LayerKind::input;
  std::vector<int> inputs;  ///< indices of layers that come before
  int channels = 0;         ///< of its output
  int scale = 1;            ///< output pixels per pixel of the network's input, along one side
  int radius = 0;           ///< conv2d: (kernel - 1) / 2 * dilation; its padding
  int kernel = 1;           ///< conv2d: side length
  int dilation = 1;         ///< conv2d
  bool bias = false;        ///< conv2d
  bool relu = false;        ///< conv2d: applied to its result
  int factor = 1;           ///< upsample, depth_to_space
};

/// The layers of a Keras network, in an order in which each comes after its inputs. The last one is the output.
struct Topology {
  std::vector<Layer> layers;
  [[nodiscard]] const Layer& input() const { return layers.front(); }
  [[nodiscard]] const Layer& output() const { return layers.back(); }
  /// How far a pixel of the input reaches: output pixels that are further than this from a cut do not feel it. In input pixels.
  [[nodiscard]] int halo() const;
  /// Elements that the largest layer has for each pixel of the input.
  [[nodiscard]] std::int64_t elements_per_pixel() const;
};

/// Reads the network's layers and checks every weight that they need. Throws Error(io), naming the file and the layer, when a
/// layer is of a kind that is not known, or a weight is missing or has another shape.
[[nodiscard]] Topology parse_topology(const io::TfjsLayersModel& model);

}  // namespace hearth::models
