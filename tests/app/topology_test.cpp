#include "models/topology.hpp"

#include <algorithm>

#include <doctest/doctest.h>

#include "model.hpp"
#include "models/fold.hpp"

using namespace hearth;

namespace {

std::string message(const io::TfjsLayersModel& model) {
  try {
    (void)models::parse_topology(model);
  } catch (const Error& error) {
    return error.code() == ErrorCode::io ? error.what() : "another code";
  }
  return "none";
}
std::string message(const std::string& from, const std::string& to) { return message(model::changed(model::small(), from, to)); }

}  // namespace

TEST_CASE("the three networks are read: their factor, halo and largest layer") {
  for (int scale : {2, 3, 4}) {
    const io::TfjsLayersModel model = io::load_tfjs_layers_model(model::folder(scale) + "/model.json");
    models::Topology topology = models::parse_topology(model);
    CHECK(topology.output().scale == scale);
    CHECK(topology.output().channels == 3);
    // 3x3: F_m1, F_0, F_1_1, F_2_1, GFF_2, UPN2, UPN3; 5x5: UPN1; SR reaches one pixel of the small picture.
    CHECK(topology.halo() == 10);
    // UPN3's scale * scale * 3 channels on the large picture.
    CHECK(topology.elements_per_pixel() == std::max(128, scale * scale * scale * scale * 3));
    topology = models::fold_upsampling({topology, model.weights}).topology;
    CHECK(topology.output().scale == scale);
    CHECK(topology.halo() == 10);
    CHECK(topology.elements_per_pixel() == 128);
  }
}

TEST_CASE("a layer that is not known is named") {
  CHECK(message("\"UpSampling2D\"", "\"LSTM\"") ==
        "model \"small.json\": layer \"up\": its kind LSTM is not known; known are InputLayer, Conv2D, Activation, Concatenate, "
        "Add "
        "and UpSampling2D.");
  CHECK(message("\"nearest\"", "\"bilinear\"").find("layer \"up\": its interpolation is \"bilinear\"") != std::string::npos);
  CHECK(message("\"same\"", "\"valid\"").find("layer \"a\": its padding is \"valid\"") != std::string::npos);
  CHECK(message("\"strides\":[1,1]", "\"strides\":[2,2]").find("layer \"a\": its strides are not 1") != std::string::npos);
  CHECK(message("\"relu\"", "\"swish\"").find("layer \"a\": its activation is \"swish\"") != std::string::npos);
  CHECK(message("channels_last", "channels_first").find("layer \"a\": its data_format is channels_first") != std::string::npos);
  CHECK(message("[3,3]", "[3,5]").find("layer \"a\": its kernel_size is not a pair of equal numbers") != std::string::npos);
  CHECK(message("[3,3]", "[4,4]").find("layer \"a\": its kernel_size is even") != std::string::npos);
}

TEST_CASE("a missing or misshaped weight is named, with both shapes") {
  io::TfjsLayersModel missing = model::small();
  missing.weights.erase("b/bias");
  CHECK(message(missing) == "model \"small.json\": layer \"b\": its weight \"b/bias\" is missing.");
  io::TfjsLayersModel misshaped = model::small();
  misshaped.weights["a/kernel"].shape = {3, 3, 2, 3};
  CHECK(message(misshaped) ==
        "model \"small.json\": layer \"a\": its weight \"a/kernel\" is f32 [3, 3, 2, 3], it must be f32 [3, 3, 3, 2].");
  CHECK(message("\"filters\":2", "\"filters\":4").find("must be f32 [3, 3, 3, 4]") != std::string::npos);
  io::TfjsLayersModel integers = model::small();
  integers.weights["a/bias"].dtype = DType::i32;
  CHECK(message(integers).find("is i32 [2], it must be f32 [2]") != std::string::npos);
}

TEST_CASE("a topology that makes no sense is an error") {
  CHECK(message("[\"a\",0,0,{}]", "[\"b\",0,0,{}]").find("its input \"b\" is not among the layers before it") !=
        std::string::npos);
  CHECK(message("\"name\":\"up\"", "\"name\":\"a\"").find("layer \"a\"") != std::string::npos);
  CHECK(message("\"output_layers\":[[\"b\",0,0]]", "\"output_layers\":[[\"a\",0,0]]").find("layers follow its output layer") !=
        std::string::npos);
  CHECK(message("\"output_layers\":[[\"b\",0,0]]", "\"output_layers\":[]").find("do not name one layer") != std::string::npos);
  CHECK(message("[[[\"in\",0,0,{}]]]", "[]").find("layer \"a\": it has no input") != std::string::npos);
  CHECK(message("\"model_config\"", "\"something\"").find("no model_config") != std::string::npos);
  CHECK(message("\"size\":[2,2]", "\"size\":[64,64]").find("layer \"up\": it enlarges by more than 16") != std::string::npos);
  CHECK(message("\"filters\":2", "\"filters\":-2").find("layer \"a\": its number of filters") != std::string::npos);
}
