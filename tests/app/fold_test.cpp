#include "models/fold.hpp"

#include <doctest/doctest.h>

#include "model.hpp"

using namespace hearth;
using models::LayerKind;

TEST_CASE("an upsampling moves behind the convolution that reads it") {
  const io::TfjsLayersModel model = model::small();
  const models::Network folded = models::fold_upsampling({models::parse_topology(model), model.weights});
  const std::vector<models::Layer>& layers = folded.topology.layers;
  REQUIRE(layers.size() == 4);
  CHECK(layers[2].kind == LayerKind::conv2d);
  CHECK(layers[2].channels == 12);
  CHECK(layers[2].scale == 1);
  CHECK(layers[3].kind == LayerKind::depth_to_space);
  CHECK(layers[3].channels == 3);
  CHECK(layers[3].scale == 2);
  CHECK(folded.weights.at("b/kernel").shape == Shape{3, 3, 2, 12});
  CHECK(folded.weights.at("b/bias").shape == Shape{12});

  // Place 0 (above left): its taps -1, 0, 1 fall on the small pixels -1, 0, 0. The corner tap stays alone, the middle one takes
  // four.
  const std::vector<float> before = model.weights.at("b/kernel").values<float>(),
                           after = folded.weights.at("b/kernel").values<float>();
  const auto tap = [&](int row, int column) { return before[std::size_t((row * 3 + column) * 6)]; };
  CHECK(after[0] == tap(0, 0));
  CHECK(after[(1 * 3 + 1) * 24] == doctest::Approx(tap(1, 1) + tap(1, 2) + tap(2, 1) + tap(2, 2)));
  CHECK(after[(2 * 3 + 2) * 24] == 0);
}

TEST_CASE("an upsampling that somebody else reads too stays") {
  io::TfjsLayersModel model = model::small();
  models::Topology topology = models::parse_topology(model);
  // A second reader of the upsampling.
  models::Layer second = topology.layers[3];
  second.name = std::string("c");
  topology.layers.push_back(second);
  model.weights["c/kernel"] = model.weights["b/kernel"];
  model.weights["c/bias"] = model.weights["b/bias"];
  const models::Network same = models::fold_upsampling({topology, model.weights});
  CHECK(same.topology.layers[2].kind == LayerKind::upsample);
  CHECK(same.weights.at("b/kernel").shape == Shape{3, 3, 2, 3});
}

TEST_CASE("a convolution of joined channels becomes a sum of convolutions") {
  const auto conv = [](const char* name, int input, int channels, bool relu) {
    return models::Layer{
        .name = name, .kind = LayerKind::conv2d, .inputs = {input}, .channels = channels, .bias = true, .relu = relu};
  };
  models::Topology topology;
  topology.layers = {{.name = "in", .channels = 2},
                     conv("a", 0, 1, false),
                     {.name = "join", .kind = LayerKind::concatenate, .inputs = {0, 1}, .channels = 3},
                     conv("b", 2, 2, true),
                     {.name = "end", .kind = LayerKind::relu, .inputs = {3}, .channels = 2}};
  const auto array = [](std::vector<float> values, Shape shape) {
    return io::make_array<float>(std::span<const float>(values), shape);
  };
  const io::NamedArrays weights{{"a/kernel", array({1, 2}, {1, 1, 2, 1})},
                                {"a/bias", array({3}, {1})},
                                {"b/kernel", array({1, 2, 3, 4, 5, 6}, {1, 1, 3, 2})},
                                {"b/bias", array({7, 8}, {2})}};
  const models::Network folded = models::fold_concatenation({topology, weights});
  const std::vector<models::Layer>& layers = folded.topology.layers;
  REQUIRE(layers.size() == 7);
  CHECK(layers[2].inputs == std::vector<int>{0});
  CHECK(layers[2].bias);
  CHECK(layers[3].inputs == std::vector<int>{1});
  CHECK(!layers[3].bias);
  CHECK(layers[4].kind == LayerKind::add);
  CHECK(layers[4].inputs == std::vector<int>{2, 3});
  CHECK(layers[5].kind == LayerKind::relu);
  CHECK(layers[6].inputs == std::vector<int>{5});
  CHECK(folded.weights.at("b/0/kernel").values<float>() == std::vector<float>{1, 2, 3, 4});
  CHECK(folded.weights.at("b/2/kernel").values<float>() == std::vector<float>{5, 6});
  CHECK(folded.weights.at("b/0/bias").values<float>() == std::vector<float>{7, 8});
  CHECK(folded.topology.elements_per_pixel() == 2);
}
