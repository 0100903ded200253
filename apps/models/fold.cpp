#include "models/fold.hpp"

#include <algorithm>
#include <span>
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

}  // namespace

Network fold_upsampling(Network network) {
  std::vector<Layer>& layers = network.topology.layers;
  std::vector<int> readers(layers.size(), 0);
  for (const Layer& layer : layers)
    for (int input : layer.inputs) ++readers[std::size_t(input)];
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

}  // namespace hearth::models
