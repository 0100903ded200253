#pragma once
#include <string>

#include "hearth/io/array.hpp"

namespace hearth::io {

/// A TensorFlow.js "layers model": a Keras network as JSON and its weights.
struct TfjsLayersModel {
  std::string source;         ///< path of model.json, for messages
  std::string topology_json;  ///< "modelTopology" as JSON text
  NamedArrays weights;        ///< float32, int32 or bool; quantized ones are expanded to f32
};

/// Reads model.json and the weight files beside it. Throws Error(io), naming the file, when one is missing or cut off, when a
/// weight's size does not fit, or when the JSON is no layers model.
[[nodiscard]] TfjsLayersModel load_tfjs_layers_model(const std::string& model_json_path);

}  // namespace hearth::io
