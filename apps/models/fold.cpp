#include "models/fold.hpp"

#include <algorithm>
#include <span>
#include <string>
#include <vector>

namespace hearth::models {
namespace {

/// a / b rounded down, for b > 0.
int floor_div(int a, int b) { return a >= 0 ? a / b : -((-a + b - 1) / b); }

/// The filters [k, k, in, out] of a convolution behind an upsampling by `factor`, as filters [n, n, in, factor * factor * out] on
/// the picture before it: tap t of place p falls on the small pixel floor((p + t) / factor). Taps that fall on one pixel add up.
/// At the border nothing changes: the pixels beyond the large picture are those beyond the small one.
io::Array small_filters(const io::Array& filters, int radius, int factor, int small_radius) {
  const std::vector<float> from = filters.values<float>();
  const int in = int(filters.shape[2]), out = int(filters.shape[3]), side = 2 * radius + 1, small_side = 2 * small_radius + 1;
  const int places = factor * factor;
  std::vector<double> to(std::size_t(small_side * small_side * in * places * out));
  for (int place = 0; place < places; ++place)
    for (int tap = 0; tap < side * side; ++tap) {
      const int row = floor_div(place / factor + tap / side - radius, factor) + small_radius;
      const int column = floor_div(place % factor + tap % side - radius, factor) + small_radius;
      for (int i = 0; i < in; ++i)
        for (int o = 0; o < out; ++o)
          to[std::size_t((((row * small_side + column) * in + i) * places + place) * out + o)] +=
              double(from[std::size_t((tap * in + i) * out + o)]);
    }
  const std::vector<float> rounded(to.begin(), to.end());
  return io::make_array<float>(rounded, {small_side, small_side, in, places * out});
}

io::Array repeated(const io::Array& bias, int times) {
  const std::vector<float> one = bias.values<float>();
  std::vector<float> all;
  for (int i = 0; i < times; ++i) all.insert(all.end(), one.begin(), one.end());
  return io::make_array<float>(all, {std::int64_t(all.size())});
}

/// Input channels [first, first + count) of filters [k, k, in, out].
io::Array input_channels(const io::Array& filters, int first, int count) {
  const std::vector<float> from = filters.values<float>();
  const std::int64_t taps = filters.shape[0] * filters.shape[1], in = filters.shape[2], out = filters.shape[3];
  std::vector<float> to;
  for (std::int64_t tap = 0; tap < taps; ++tap) {
    const auto begin = from.begin() + (tap * in + first) * out;
    to.insert(to.end(), begin, begin + count * out);
  }
  return io::make_array<float>(to, {filters.shape[0], filters.shape[1], count, out});
}

/// How many layers read each.
std::vector<int> count_readers(const std::vector<Layer>& layers) {
  std::vector<int> readers(layers.size(), 0);
  for (const Layer& layer : layers)
    for (int input : layer.inputs) ++readers[std::size_t(input)];
  return readers;
}

}  // namespace

Network fold_upsampling(Network network) {
  std::vector<Layer>& layers = network.topology.layers;
  const std::vector<int> readers = count_readers(layers);
  for (std::size_t i = 0; i < layers.size(); ++i) {
    Layer& conv = layers[i];
    if (conv.kind != LayerKind::conv2d || conv.dilation != 1) continue;
    const std::size_t before = std::size_t(conv.inputs[0]);
    if (layers[before].kind != LayerKind::upsample || readers[before] != 1) continue;

    // The upsampling's place in the list takes the convolution, the convolution's place the depth_to_space.
    Layer& upsample = layers[before];
    const int factor = upsample.factor, small_radius = (conv.radius + factor - 1) / factor;
    io::Array& kernel = network.weights.at(conv.name + "/kernel");
    kernel = small_filters(kernel, conv.radius, factor, small_radius);
    if (conv.bias) {
      io::Array& bias = network.weights.at(conv.name + "/bias");
      bias = repeated(bias, factor * factor);
    }
    Layer small = conv;
    small.inputs = upsample.inputs;
    small.scale = conv.scale / factor;
    small.channels = conv.channels * factor * factor;
    small.radius = small_radius;
    small.kernel = 2 * small_radius + 1;
    Layer places{.name = upsample.name,
                 .kind = LayerKind::depth_to_space,
                 .inputs = {int(before)},
                 .channels = conv.channels,
                 .scale = conv.scale,
                 .factor = factor};
    layers[before] = std::move(small);
    layers[i] = std::move(places);
  }
  return network;
}

Network fold_concatenation(Network network) {
  const std::vector<Layer> from = std::move(network.topology.layers);
  const std::vector<int> readers = count_readers(from);
  std::vector<bool> left_out(from.size(), false);
  for (const Layer& layer : from) {
    if (layer.kind != LayerKind::conv2d) continue;
    const std::size_t before = std::size_t(layer.inputs[0]);
    left_out[before] = from[before].kind == LayerKind::concatenate && readers[before] == 1;
  }
  std::vector<Layer> to;
  std::vector<int> place(from.size(), -1);  // of each old layer in the new list
  for (std::size_t i = 0; i < from.size(); ++i) {
    if (left_out[i]) continue;
    Layer layer = from[i];
    if (layer.kind != LayerKind::conv2d || !left_out[std::size_t(layer.inputs[0])]) {
      for (int& input : layer.inputs) input = place[std::size_t(input)];
      to.push_back(std::move(layer));
      place[i] = int(to.size()) - 1;
      continue;
    }
    const io::Array filters = std::move(network.weights.at(layer.name + "/kernel"));
    network.weights.erase(layer.name + "/kernel");
    Layer sum{.name = layer.name, .kind = LayerKind::add, .channels = layer.channels, .scale = layer.scale};
    int channel = 0;
    for (int input : from[std::size_t(layer.inputs[0])].inputs) {
      Layer part = layer;
      part.inputs = {place[std::size_t(input)]};
      part.relu = false;
      part.bias = layer.bias && channel == 0;
      part.name = layer.name + "/" + std::to_string(channel);
      const int count = from[std::size_t(input)].channels;
      network.weights.emplace(part.name + "/kernel", input_channels(filters, channel, count));
      if (part.bias) network.weights.emplace(part.name + "/bias", network.weights.at(layer.name + "/bias"));
      channel += count;
      to.push_back(std::move(part));
      sum.inputs.push_back(int(to.size()) - 1);
    }
    network.weights.erase(layer.name + "/bias");
    to.push_back(std::move(sum));
    if (layer.relu)
      to.push_back({.name = layer.name + "/relu",
                    .kind = LayerKind::relu,
                    .inputs = {int(to.size()) - 1},
                    .channels = layer.channels,
                    .scale = layer.scale});
    place[i] = int(to.size()) - 1;
  }
  network.topology.layers = std::move(to);
  return network;
}

}  // namespace hearth::models
