#include "reference.hpp"

#include <cmath>
#include <cstring>
#include <fstream>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace reference {
namespace {

struct Weight {
  std::vector<int> shape;
  std::vector<float> values;
};
using Weights = std::map<std::string, Weight>;

Weights read_weights(const std::string& folder) {
  std::ifstream json_file(folder + "/model.json");
  std::ifstream values(folder + "/group1-shard1of1.bin", std::ios::binary);
  if (!json_file || !values) throw std::runtime_error("the model is not in " + folder + "; ./hearth test fetches it");
  Weights weights;
  const nlohmann::json model = nlohmann::json::parse(json_file);
  for (const auto& entry : model["weightsManifest"][0]["weights"]) {
    Weight weight{entry["shape"].get<std::vector<int>>(), {}};
    std::size_t count = 1;
    for (int size : weight.shape) count *= std::size_t(size);
    weight.values.resize(count);
    values.read(reinterpret_cast<char*>(weight.values.data()), std::streamsize(count * 4));
    weights[entry["name"]] = weight;
  }
  return weights;
}

Picture convolve(const Picture& x, const Weights& weights, const std::string& name) {
  const Weight& kernel = weights.at(name + "/kernel");
  const Weight& bias = weights.at(name + "/bias");
  const int side = kernel.shape[0], radius = side / 2, in = kernel.shape[2], out = kernel.shape[3];
  if (in != x.channels) throw std::runtime_error("reference: channels differ in " + name);
  Picture y{x.height, x.width, out, std::vector<double>(std::size_t(x.height * x.width * out))};
  for (int row = 0; row < x.height; ++row)
    for (int column = 0; column < x.width; ++column) {
      double* sum = y.values.data() + (row * x.width + column) * out;
      for (int o = 0; o < out; ++o) sum[o] = double(bias.values[std::size_t(o)]);
      for (int ky = 0; ky < side; ++ky)
        for (int kx = 0; kx < side; ++kx) {
          const int from_row = row + ky - radius, from_column = column + kx - radius;
          if (from_row < 0 || from_row >= x.height || from_column < 0 || from_column >= x.width) continue;
          const double* pixel = x.values.data() + (from_row * x.width + from_column) * in;
          const float* taps = kernel.values.data() + (ky * side + kx) * in * out;
          for (int i = 0; i < in; ++i)
            for (int o = 0; o < out; ++o) sum[o] += pixel[i] * double(taps[i * out + o]);
        }
    }
  return y;
}

Picture relu(Picture x) {
  for (double& value : x.values) value = value > 0 ? value : 0;
  return x;
}

Picture add(Picture a, const Picture& b) {
  for (std::size_t i = 0; i < a.values.size(); ++i) a.values[i] += b.values[i];
  return a;
}

Picture concatenate(const Picture& a, const Picture& b) {
  Picture y{a.height, a.width, a.channels + b.channels, {}};
  for (int pixel = 0; pixel < a.height * a.width; ++pixel) {
    y.values.insert(y.values.end(), a.values.begin() + pixel * a.channels, a.values.begin() + (pixel + 1) * a.channels);
    y.values.insert(y.values.end(), b.values.begin() + pixel * b.channels, b.values.begin() + (pixel + 1) * b.channels);
  }
  return y;
}

Picture repeat_pixels(const Picture& x, int scale) {
  Picture y{x.height * scale, x.width * scale, x.channels, {}};
  for (int row = 0; row < y.height; ++row)
    for (int column = 0; column < y.width; ++column) {
      const auto pixel = x.values.begin() + (row / scale * x.width + column / scale) * x.channels;
      y.values.insert(y.values.end(), pixel, pixel + x.channels);
    }
  return y;
}

}  // namespace

Picture enlarge(const std::string& folder, int scale, const Picture& image) {
  const Weights w = read_weights(folder);
  const Picture first = convolve(image, w, "F_m1");
  const Picture f0 = convolve(first, w, "F_0");
  const Picture l1 = add(convolve(concatenate(f0, relu(convolve(f0, w, "F_1_1"))), w, "LFF_1"), f0);
  const Picture l2 = add(convolve(concatenate(l1, relu(convolve(l1, w, "F_2_1"))), w, "LFF_2"), l1);
  const Picture fused = add(convolve(convolve(concatenate(l1, l2), w, "GFF_1"), w, "GFF_2"), first);
  const Picture up = convolve(relu(convolve(relu(convolve(fused, w, "UPN1")), w, "UPN2")), w, "UPN3");
  return convolve(repeat_pixels(up, scale), w, "SR");
}

Picture test_picture(int height, int width, int channels) {
  Picture picture{height, width, channels, {}};
  std::uint32_t noise = 12345;
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x)
      for (int c = 0; c < channels; ++c) {
        noise = noise * 1664525u + 1013904223u;
        const double edge = (x / 5 + y / 7 + c) % 2 == 0 ? 0.2 : 0.8;
        // A value that f32 holds exactly.
        picture.values.push_back(c < 3 ? double(float(edge + 0.15 * (double(noise >> 8) / 16777216.0 - 0.5))) : 1);
      }
  return picture;
}

double largest_difference(const std::vector<double>& want, const std::vector<float>& got) {
  if (want.size() != got.size()) return std::numeric_limits<double>::infinity();
  double largest = 0;
  for (std::size_t i = 0; i < want.size(); ++i) {
    const double difference = std::fabs(want[i] - double(got[i]));
    if (!(difference <= largest)) largest = difference;  // NaN too
  }
  return largest;
}

}  // namespace reference
