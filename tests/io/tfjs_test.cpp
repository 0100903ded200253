#include "hearth/io/tfjs.hpp"

#include <doctest/doctest.h>

#include "files.hpp"

using namespace hearth;
using files::io_error;
using files::says;

namespace {

std::string model_json(const std::string& weights, const std::string& paths = R"("w1.bin","w2.bin")") {
  return R"({"format":"layers-model","modelTopology":{"a":1},"weightsManifest":[{"paths":[)" + paths + R"(],"weights":[)" +
         weights + "]}]}";
}
std::string weight(const std::string& name, const std::string& shape, const std::string& more = R"("dtype":"float32")") {
  return R"({"name":")" + name + R"(","shape":)" + shape + "," + more + "}";
}

}  // namespace

TEST_CASE("weights that run across weight files are joined") {
  files::Folder folder("tfjs");
  const float values[] = {1, 2, 3, 4, 5};
  const auto bytes = std::as_bytes(std::span<const float>(values));
  folder.write("w1.bin", bytes.first(6));
  folder.write("w2.bin", bytes.subspan(6));
  const std::string path = folder.write("model.json", model_json(weight("k", "[2,2]") + "," + weight("b", "[]")));
  const io::TfjsLayersModel model = io::load_tfjs_layers_model(path);
  CHECK(model.topology_json == R"({"a":1})");
  CHECK(model.weights.at("k").shape == Shape{2, 2});
  CHECK(model.weights.at("k").values<float>() == std::vector<float>{1, 2, 3, 4});
  CHECK(model.weights.at("b").values<float>() == std::vector<float>{5});
}

TEST_CASE("quantized weights are expanded") {
  files::Folder folder("tfjs");
  folder.write("w.bin", std::string("\x00\x02\xFF\x00\x3C\x00\x01", 7));
  const std::string list = weight("u8", "[3]", R"("dtype":"float32","quantization":{"dtype":"uint8","scale":0.5,"min":-1})") +
                           "," + weight("f16", "[1]", R"("dtype":"float32","quantization":{"dtype":"float16"})") + "," +
                           weight("u16", "[1]", R"("dtype":"float32","quantization":{"dtype":"uint16","scale":2,"min":0.5})");
  const std::string path = folder.write("model.json", model_json(list, R"("w.bin")"));
  const io::TfjsLayersModel model = io::load_tfjs_layers_model(path);
  CHECK(model.weights.at("u8").values<float>() == std::vector<float>{-1, 0, 126.5f});
  CHECK(model.weights.at("f16").values<float>() == std::vector<float>{1});
  CHECK(model.weights.at("u16").values<float>() == std::vector<float>{512.5f});
}

TEST_CASE("a bad model says what is wrong and in which file") {
  files::Folder folder("tfjs");
  folder.write("w1.bin", std::string(8, '\0'));
  folder.write("w2.bin", std::string(8, '\0'));
  const auto message = [&](const std::string& json) {
    const std::string path = folder.write("model.json", json);
    const std::string text = io_error([&] { return io::load_tfjs_layers_model(path); });
    CHECK(says(text, {"model.json"}));
    return text;
  };
  CHECK(says(message(model_json(weight("k", "[4]"), R"("w1.bin","w3.bin")")), {"\"w3.bin\"", "missing"}));
  CHECK(says(message(model_json(weight("k", "[5]"))), {"\"k\"", "[5]", "16 bytes"}));
  CHECK(says(message(model_json(weight("k", "[3]"))), {"12 bytes", "have 16"}));
  CHECK(says(message(model_json(weight("k", "[2]") + "," + weight("k", "[2]"))), {"\"k\"", "twice"}));
  CHECK(says(message(model_json(weight("k", "[-4]"))), {"\"k\"", "natural number"}));
  CHECK(says(message(model_json(weight("k", "[4611686018427387904,8]"))), {"\"k\"", "beyond"}));
  CHECK(says(message(model_json(weight("k", "[1,1,1,1,1,1,1,1,4]"))), {"\"k\"", "9 dimensions"}));
  CHECK(says(message(model_json(weight("k", "[4]", R"("dtype":"string")"))), {"\"k\"", "string"}));
  CHECK(
      says(message(model_json(weight("k", "[4]", R"("dtype":"float32","quantization":{"dtype":"uint4"})"))), {"\"k\"", "uint4"}));
  CHECK(says(message(model_json(weight("k", "[4]", R"("dtype":"float32","quantization":{"dtype":"uint8","min":0})"))),
             {"\"k\"", "scale"}));
  CHECK(says(message(model_json(weight("k", "[4]"), R"("../w1.bin")")), {"../w1.bin", "outside"}));
  CHECK(says(message(model_json(weight("k", "[4]"), R"("/etc/passwd")")), {"/etc/passwd", "outside"}));
  CHECK(says(message(model_json(weight("k", "[4]"), "7")), {"outside"}));
  CHECK(says(message(R"({"format":"graph-model","modelTopology":{},"weightsManifest":[]})"), {"graph-model"}));
  CHECK(says(message(R"({"format":"layers-model"})"), {"modelTopology"}));
  CHECK(says(message(R"({"modelTopology":{},"weightsManifest":[7]})"), {"paths or weights"}));
  CHECK(says(message("not json"), {"JSON object"}));
  CHECK(says(io_error([&] { return io::load_tfjs_layers_model(folder.path("none.json")); }), {"none.json", "cannot be opened"}));
}
