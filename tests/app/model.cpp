#include "model.hpp"

#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <stdexcept>

#include "hearth/error.hpp"

namespace model {

std::string folder(int scale) {
  const char* xdg = std::getenv("XDG_CACHE_HOME");
  const char* home = std::getenv("HOME");
  const std::filesystem::path cache =
      xdg && *xdg ? std::filesystem::path(xdg) : std::filesystem::path(home ? home : ".") / ".cache";
  return (cache / "hearth/esrgan-slim-1.0.0/package/models" / ("x" + std::to_string(scale))).string();
}

const std::vector<Named>& devices() {
  static const std::vector<Named> all = [] {
    std::vector<Named> list{{"cpu", hearth::Device::cpu()}};
#ifdef HEARTH_HAS_WEBGPU
    try {
      list.push_back({"gpu", hearth::Device::gpu()});
    } catch (const hearth::Error& error) {
      const char* required = std::getenv("HEARTH_REQUIRE_GPU");
      if (required && std::string(required) == "1") FAIL_CHECK(error.what());
      MESSAGE("without a GPU: " << error.what());
    }
#endif
    return list;
  }();
  return all;
}

bool has_gpu() { return devices().size() > 1; }

hearth::io::TfjsLayersModel small() {
  const std::string conv = R"("strides":[1,1],"dilation_rate":[1,1],"groups":1,"data_format":"channels_last","use_bias":true,)";
  hearth::io::TfjsLayersModel model{"small.json",
                                    R"({"model_config":{"config":{"layers":[
    {"class_name":"InputLayer","name":"in","config":{"batch_input_shape":[null,null,null,3]},"inbound_nodes":[]},
    {"class_name":"Conv2D","name":"a","config":{"filters":2,"kernel_size":[3,3],"padding":"same","activation":"relu",)" +
                                        conv +
                                        R"("name":"a"},"inbound_nodes":[[["in",0,0,{}]]]},
    {"class_name":"UpSampling2D","name":"up","config":{"size":[2,2],"interpolation":"nearest"},"inbound_nodes":[[["a",0,0,{}]]]},
    {"class_name":"Conv2D","name":"b","config":{"filters":3,"kernel_size":[3,3],"padding":"same","activation":"linear",)" +
                                        conv +
                                        R"("name":"b"},"inbound_nodes":[[["up",0,0,{}]]]}],
    "input_layers":[["in",0,0]],"output_layers":[["b",0,0]]}}})",
                                    {}};
  const auto weight = [&](const char* name, const hearth::Shape& shape) {
    std::vector<float> values;
    for (std::int64_t i = 0; i < shape.elements(); ++i) values.push_back(float((i * 37 + 11) % 64 - 30) / 64.0f);
    model.weights[name] = hearth::io::make_array<float>(values, shape);
  };
  weight("a/kernel", {3, 3, 3, 2});
  weight("a/bias", {2});
  weight("b/kernel", {3, 3, 2, 3});
  weight("b/bias", {3});
  return model;
}

hearth::io::TfjsLayersModel changed(hearth::io::TfjsLayersModel model, const std::string& from, const std::string& to) {
  const std::size_t at = model.topology_json.find(from);
  if (at == std::string::npos) throw std::runtime_error("the test's model has no " + from);
  model.topology_json.replace(at, from.size(), to);
  return model;
}

}  // namespace model
