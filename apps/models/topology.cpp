#include "models/topology.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

namespace hearth::models {
namespace {

using Json = nlohmann::json;

class Parser {
 public:
  explicit Parser(const io::TfjsLayersModel& model) : model_(model) {}

  Topology parse() {
    const Json topology = Json::parse(model_.topology_json, nullptr, false);
    const Json* config = member(topology, "model_config");
    config = config ? member(*config, "config") : nullptr;
    const Json* layers = config ? member(*config, "layers") : nullptr;
    if (!layers || !layers->is_array() || layers->empty()) fail("its modelTopology has no model_config with layers.");
    for (const Json& json : *layers) add_layer(json);
    const std::string output = only_name(*config, "output_layers");
    if (only_name(*config, "input_layers") != result_.input().name) fail("its first layer is not its only input.");
    const auto found = indices_.find(output);
    if (found == indices_.end()) fail(fmt::format("its output layer \"{}\" is not among its layers.", output));
    if (found->second + 1 != int(result_.layers.size())) fail(fmt::format("layers follow its output layer \"{}\".", output));
    return std::move(result_);
  }

 private:
  [[noreturn]] void fail(const std::string& problem) const {
    throw Error(ErrorCode::io, fmt::format("model \"{}\": {}", model_.source, problem));
  }
  [[noreturn]] void wrong(const std::string& problem) const { fail(fmt::format("layer \"{}\": {}", name_, problem)); }

  static const Json* member(const Json& json, const char* key) {
    return json.is_object() && json.contains(key) ? &json[key] : nullptr;
  }
  static std::string text(const Json& json, const char* key) {
    const Json* value = member(json, key);
    return value && value->is_string() ? value->get<std::string>() : std::string();
  }
  /// "input_layers": [["LR", 0, 0]]
  std::string only_name(const Json& config, const char* key) const {
    const Json* list = member(config, key);
    if (!list || !list->is_array() || list->size() != 1 || !(*list)[0].is_array() || (*list)[0].empty() ||
        !(*list)[0][0].is_string())
      fail(fmt::format("its \"{}\" do not name one layer.", key));
    return (*list)[0][0].get<std::string>();
  }
  int number(const Json& value, const char* what) const {
    if (!value.is_number_integer() || value.get<std::int64_t>() < 1 || value.get<std::int64_t>() > 65536)
      wrong(fmt::format("its {} is no number from 1 to 65536.", what));
    return value.get<int>();
  }
  /// [n, n]: the same along both sides.
  int square(const Json& config, const char* key) const {
    const Json* pair = member(config, key);
    if (!pair || !pair->is_array() || pair->size() != 2 || (*pair)[0] != (*pair)[1])
      wrong(fmt::format("its {} is not a pair of equal numbers.", key));
    return number((*pair)[0], key);
  }

  void add_layer(const Json& json) {
    name_ = text(json, "name");
    const std::string kind = text(json, "class_name");
    const Json* config = member(json, "config");
    if (name_.empty() || !config) fail("one of its layers lacks name or config.");
    Layer layer{.name = name_};
    layer.inputs = inputs_of(json);
    if (kind != "InputLayer") {
      if (layer.inputs.empty()) wrong("it has no input.");
      layer.channels = in(layer, 0).channels;
      layer.scale = in(layer, 0).scale;
    }
    if (text(*config, "data_format") == "channels_first")
      wrong("its data_format is channels_first; only channels_last is known.");
    if (kind == "InputLayer") {
      input(layer, *config);
    } else if (kind == "Conv2D") {
      conv2d(layer, *config);
    } else if (kind == "Activation") {
      layer.kind = LayerKind::relu;
      if (text(*config, "activation") != "relu")
        wrong(fmt::format("its activation is \"{}\"; only relu is known.", text(*config, "activation")));
    } else if (kind == "Concatenate") {
      concatenate(layer, *config);
    } else if (kind == "Add") {
      add(layer);
    } else if (kind == "UpSampling2D") {
      layer.kind = LayerKind::upsample;
      layer.factor = square(*config, "size");
      if (text(*config, "interpolation") != "nearest")
        wrong(fmt::format("its interpolation is \"{}\"; only nearest is known.", text(*config, "interpolation")));
      if (layer.factor > 16 || layer.scale * layer.factor > 16) wrong("it enlarges by more than 16.");
      layer.scale *= layer.factor;
    } else {
      wrong(fmt::format("its kind {} is not known; known are InputLayer, Conv2D, Activation, Concatenate, Add and UpSampling2D.",
                        kind));
    }
    if (!indices_.emplace(name_, int(result_.layers.size())).second) wrong("its name comes twice.");
    result_.layers.push_back(std::move(layer));
  }

  /// "inbound_nodes": [[["A", 0, 0, {}], ["B", 0, 0, {}]]]
  std::vector<int> inputs_of(const Json& json) const {
    const Json* nodes = member(json, "inbound_nodes");
    std::vector<int> inputs;
    if (!nodes || !nodes->is_array()) wrong("it lacks inbound_nodes.");
    if (nodes->empty()) return inputs;
    if (nodes->size() > 1 || !(*nodes)[0].is_array()) wrong("it is used more than once; shared layers are not known.");
    for (const Json& node : (*nodes)[0]) {
      if (!node.is_array() || node.empty() || !node[0].is_string()) wrong("one of its inputs has no name.");
      const auto found = indices_.find(node[0].get<std::string>());
      if (found == indices_.end())
        wrong(fmt::format("its input \"{}\" is not among the layers before it.", node[0].get<std::string>()));
      inputs.push_back(found->second);
    }
    return inputs;
  }
  [[nodiscard]] const Layer& in(const Layer& layer, std::size_t i) const {
    return result_.layers[static_cast<std::size_t>(layer.inputs[i])];
  }

  void input(Layer& layer, const Json& config) const {
    const Json* shape = member(config, "batch_input_shape");
    if (!shape || !shape->is_array() || shape->size() != 4)
      wrong("its batch_input_shape is not [batch, height, width, channels].");
    layer.channels = number((*shape)[3], "number of channels");
    if (!result_.layers.empty() || !layer.inputs.empty()) wrong("it is not the only input.");
  }

  void conv2d(Layer& layer, const Json& config) const {
    const int in_channels = in(layer, 0).channels;
    layer.kind = LayerKind::conv2d;
    layer.kernel = square(config, "kernel_size");
    layer.dilation = square(config, "dilation_rate");
    layer.radius = (layer.kernel - 1) / 2 * layer.dilation;
    layer.channels = number(config.contains("filters") ? config["filters"] : Json(), "number of filters");
    if (layer.inputs.size() != 1) wrong("it has more than one input.");
    if (layer.kernel % 2 == 0 || layer.kernel > 31 || layer.radius > 64) wrong("its kernel_size is even or too large.");
    if (square(config, "strides") != 1) wrong("its strides are not 1.");
    if (const Json* groups = member(config, "groups"); groups && *groups != 1) wrong("its groups are not 1.");
    if (layer.kernel > 1 && text(config, "padding") != "same")
      wrong(fmt::format("its padding is \"{}\"; only same is known.", text(config, "padding")));
    const std::string activation = text(config, "activation");
    if (activation != "linear" && activation != "relu")
      wrong(fmt::format("its activation is \"{}\"; known are linear and relu.", activation));
    layer.relu = activation == "relu";
    const Json* bias = member(config, "use_bias");
    layer.bias = bias && bias->is_boolean() && bias->get<bool>();
    check_weight("kernel", {layer.kernel, layer.kernel, in_channels, layer.channels});
    if (layer.bias) check_weight("bias", {layer.channels});
  }

  void check_weight(const char* part, const Shape& shape) const {
    const auto found = model_.weights.find(name_ + "/" + part);
    if (found == model_.weights.end()) wrong(fmt::format("its weight \"{}/{}\" is missing.", name_, part));
    if (found->second.shape != shape || found->second.dtype != DType::f32)
      wrong(fmt::format("its weight \"{}/{}\" is {} {}, it must be f32 {}.", name_, part, to_string(found->second.dtype),
                        to_string(found->second.shape), to_string(shape)));
  }

  void concatenate(Layer& layer, const Json& config) const {
    layer.kind = LayerKind::concatenate;
    const Json* axis = member(config, "axis");
    if (!axis || (*axis != 3 && *axis != -1)) wrong("its axis is not that of the channels.");
    layer.channels = 0;
    for (std::size_t i = 0; i < layer.inputs.size(); ++i) {
      if (in(layer, i).scale != layer.scale) wrong("its inputs are of different sizes.");
      layer.channels += in(layer, i).channels;
    }
  }

  void add(Layer& layer) const {
    layer.kind = LayerKind::add;
    for (std::size_t i = 0; i < layer.inputs.size(); ++i)
      if (in(layer, i).scale != layer.scale || in(layer, i).channels != layer.channels)
        wrong(fmt::format("its inputs have {} and {} channels.", layer.channels, in(layer, i).channels));
  }

  const io::TfjsLayersModel& model_;
  Topology result_;
  std::map<std::string, int> indices_;
  std::string name_;  ///< of the layer being read, for messages
};

}  // namespace

Topology parse_topology(const io::TfjsLayersModel& model) { return Parser(model).parse(); }

int Topology::halo() const {
  // From the output back: how many pixels around its own place a layer's output is read at most.
  std::vector<int> reach(layers.size(), 0);
  for (std::size_t i = layers.size(); i-- > 0;) {
    const Layer& layer = layers[i];
    int inner = reach[i] + layer.radius;
    if (layer.factor > 1) inner = (reach[i] + layer.factor - 1) / layer.factor;
    for (int input : layer.inputs)
      reach[static_cast<std::size_t>(input)] = std::max(reach[static_cast<std::size_t>(input)], inner);
  }
  return reach.front();
}

std::int64_t Topology::elements_per_pixel() const {
  std::int64_t most = 0;
  for (const Layer& layer : layers) most = std::max(most, std::int64_t{layer.channels} * layer.scale * layer.scale);
  return most;
}

}  // namespace hearth::models
