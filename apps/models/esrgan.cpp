#include "models/esrgan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "hearth/ops.hpp"

namespace hearth::models {
namespace {

/// Beyond this a layer is cut into tiles even where the device would bind more: a pool should not grow without need.
constexpr std::uint64_t largest_layer_bytes = std::uint64_t{1} << 30;

Network load(const std::string& model_json, const EsrganOptions& options) {
  io::TfjsLayersModel model = io::load_tfjs_layers_model(model_json);
  Topology topology = parse_topology(model);
  if (topology.input().channels != 3 || topology.output().channels != 3)
    throw Error(ErrorCode::io, fmt::format("model \"{}\": it turns {} channels into {}, a picture has 3.", model_json,
                                           topology.input().channels, topology.output().channels));
  Network network{std::move(topology), std::move(model.weights)};
  return options.fold ? fold_concatenation(fold_upsampling(std::move(network))) : network;
}

void check_image(const Tensor& image) {
  if (image.rank() != 3 || image.shape()[2] < 3 || image.shape()[0] < 1 || image.shape()[1] < 1)
    throw Error(ErrorCode::shape_mismatch,
                fmt::format("esrgan: the image has shape {}, it must be [height, width, 3 or more].", to_string(image.shape())));
}

Tensor crop(const Tensor& image, const Rect& rect) {
  return slice(image, {rect.y, rect.x, 0}, {rect.y + rect.height, rect.x + rect.width, 3});
}

}  // namespace

Esrgan::Esrgan(const std::string& model_json, const Device& device, const EsrganOptions& options)
    : network_(load(model_json, options)), device_(device) {
  for (const Layer& layer : network_.topology.layers) {
    if (layer.kind != LayerKind::conv2d) continue;
    for (const std::string& name : {layer.name + "/kernel", layer.name + "/bias"})
      if (const auto found = network_.weights.find(name); found != network_.weights.end())
        weights_.emplace(name, io::to_tensor(found->second, device));
  }
}

std::int64_t Esrgan::weight_count() const {
  std::int64_t count = 0;
  for (const auto& [name, tensor] : weights_) count += tensor.elements();
  return count;
}

std::int64_t Esrgan::max_pixels() const {
  const DeviceInfo& info = device_.info();
  const std::uint64_t bytes = std::min({info.max_binding_bytes, info.max_buffer_bytes, largest_layer_bytes});
  return static_cast<std::int64_t>(bytes) / (topology().elements_per_pixel() * std::int64_t{sizeof(float)});
}

Tensor Esrgan::run(const Tensor& image) const {
  const std::int64_t height = image.shape()[0], width = image.shape()[1];
  const std::vector<Layer>& layers = topology().layers;
  // A value is let go after its last reader: what nobody holds may be fused away, and its memory be used again.
  std::vector<std::size_t> last_reader(layers.size(), 0);
  for (std::size_t i = 0; i < layers.size(); ++i)
    for (int input : layers[i].inputs) last_reader[static_cast<std::size_t>(input)] = i;
  std::vector<Tensor> values;
  for (const Layer& layer : layers) {
    const auto in = [&](std::size_t i) -> const Tensor& { return values[static_cast<std::size_t>(layer.inputs[i])]; };
    switch (layer.kind) {
      case LayerKind::input: values.push_back(reshape(image, {1, height, width, 3})); break;
      case LayerKind::conv2d: {
        Tensor y = conv2d(
            in(0), weights_.at(layer.name + "/kernel"),
            {.padding = {layer.radius, layer.radius}, .dilation = {layer.dilation, layer.dilation}, .layout = ImageLayout::nhwc});
        if (layer.bias) y = y + weights_.at(layer.name + "/bias");
        values.push_back(layer.relu ? relu(y) : y);
        break;
      }
      case LayerKind::relu: values.push_back(relu(in(0))); break;
      case LayerKind::concatenate: {
        std::vector<Tensor> parts;
        for (std::size_t i = 0; i < layer.inputs.size(); ++i) parts.push_back(in(i));
        values.push_back(concatenate(parts, 3));
        break;
      }
      case LayerKind::add: {
        Tensor sum = in(0);
        for (std::size_t i = 1; i < layer.inputs.size(); ++i) sum = sum + in(i);
        values.push_back(sum);
        break;
      }
      case LayerKind::upsample:
        values.push_back(upsample_nearest(in(0), {.scale = {layer.factor, layer.factor}, .layout = ImageLayout::nhwc}));
        break;
      case LayerKind::depth_to_space: values.push_back(depth_to_space(in(0), layer.factor, {.layout = ImageLayout::nhwc})); break;
    }
    for (int input : layer.inputs)
      if (last_reader[static_cast<std::size_t>(input)] + 1 == values.size()) values[static_cast<std::size_t>(input)] = {};
  }
  return reshape(values.back(), {height * scale(), width * scale(), 3});
}

Tensor Esrgan::enlarge(const Tensor& image) const {
  check_image(image);
  return run(crop(image, {0, 0, static_cast<int>(image.shape()[1]), static_cast<int>(image.shape()[0])}));
}

std::vector<Tile> Esrgan::enlarge_in_tiles(const Tensor& image, std::int64_t max_pixels) const {
  check_image(image);
  const std::int64_t limit = max_pixels > 0 ? std::min(max_pixels, this->max_pixels()) : this->max_pixels();
  const int height = static_cast<int>(image.shape()[0]), width = static_cast<int>(image.shape()[1]), halo = topology().halo();
  const std::vector<Window> windows = cut_into_windows(width, height, halo, limit);
  if (windows.empty())
    throw Error(ErrorCode::unsupported,
                fmt::format("esrgan: one pixel with its halo of {} needs {} pixels at once, the device takes {}.", halo,
                            (2 * halo + 1) * (2 * halo + 1), limit));
  std::vector<Tile> tiles;
  for (const Window& window : windows) {
    tiles.push_back({run(crop(image, window.window)), window});
    if (windows.size() > 1) device_.sync(SyncType::flush);
  }
  return tiles;
}

std::vector<float> read_tiles(const std::vector<Tile>& tiles, int width, int height, int scale) {
  const std::size_t row_floats = std::size_t(width) * std::size_t(scale) * 3;
  std::vector<float> picture(row_floats * std::size_t(height) * std::size_t(scale));
  for (const Tile& tile : tiles) {
    const std::vector<float> values = tile.pixels.read<float>().get();
    const Rect& window = tile.window.window;
    const Rect& core = tile.window.core;
    const std::size_t tile_row = std::size_t(window.width) * std::size_t(scale) * 3;
    const std::size_t bytes = std::size_t(core.width) * std::size_t(scale) * 3 * sizeof(float);
    for (int y = core.y * scale; y < (core.y + core.height) * scale; ++y)
      std::memcpy(picture.data() + std::size_t(y) * row_floats + std::size_t(core.x * scale) * 3,
                  values.data() + std::size_t(y - window.y * scale) * tile_row + std::size_t((core.x - window.x) * scale) * 3,
                  bytes);
  }
  return picture;
}

}  // namespace hearth::models
