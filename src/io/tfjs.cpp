#include "hearth/io/tfjs.hpp"

#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>

#include "file.hpp"

namespace hearth::io {
namespace {

using Json = nlohmann::json;

/// How the elements of a weight lie in the file, and what they become.
struct Stored {
  std::size_t element = 4;
  DType dtype = DType::f32;
  bool half = false;       ///< float16, widened
  bool quantized = false;  ///< value = element * scale + min
  double scale = 1, min = 0;
};

std::string text_of(const Json& json, const char* key) {
  return json.is_object() && json.contains(key) && json[key].is_string() ? json[key].get<std::string>() : std::string();
}

Stored stored_form(const Json& weight, const std::string& name, const std::string& file) {
  const auto wrong = [&](const std::string& problem) { fail("model", file, fmt::format("weight \"{}\": {}", name, problem)); };
  const std::string dtype = text_of(weight, "dtype");
  Stored stored;
  if (dtype == "int32") {
    stored.dtype = DType::i32;
  } else if (dtype == "bool") {
    stored.dtype = DType::boolean;
    stored.element = 1;
  } else if (dtype != "float32") {
    wrong(fmt::format("its dtype is \"{}\"; known are float32, int32 and bool.", dtype));
  }
  if (!weight.contains("quantization")) return stored;
  const Json& quantization = weight["quantization"];
  const std::string packed = text_of(quantization, "dtype");
  if (dtype != "float32") wrong("only float32 weights can be quantized.");
  if (packed == "float16") {
    stored.element = 2;
    stored.half = true;
    return stored;
  }
  if (packed != "uint8" && packed != "uint16")
    wrong(fmt::format("it is quantized to \"{}\"; known are uint8, uint16 and float16.", packed));
  stored.quantized = true;
  stored.element = packed == "uint8" ? 1 : 2;
  for (const char* key : {"scale", "min"})
    if (!quantization.contains(key) || !quantization[key].is_number()) wrong(fmt::format("its quantization lacks \"{}\".", key));
  stored.scale = quantization["scale"].get<double>();
  stored.min = quantization["min"].get<double>();
  return stored;
}

std::vector<std::byte> expand(std::span<const std::byte> data, const Stored& stored) {
  if (!stored.half && !stored.quantized) return {data.begin(), data.end()};
  std::vector<float> values(data.size() / stored.element);
  for (std::size_t i = 0; i < values.size(); ++i) {
    unsigned bits = std::to_integer<unsigned>(data[i * stored.element]);
    if (stored.element == 2) bits |= std::to_integer<unsigned>(data[i * 2 + 1]) << 8;
    if (stored.half) {
      Half half;
      half.bits = static_cast<std::uint16_t>(bits);
      values[i] = static_cast<float>(half);
    } else {
      values[i] = static_cast<float>(bits * stored.scale + stored.min);
    }
  }
  const std::span<const std::byte> bytes = std::as_bytes(std::span<const float>(values));
  return {bytes.begin(), bytes.end()};
}

/// The weight files of a group, joined. A path may not lead out of the model's folder.
std::vector<std::byte> read_shards(const Json& group, const std::filesystem::path& folder, const std::string& file) {
  if (!group.is_object() || !group.contains("paths") || !group["paths"].is_array() || !group.contains("weights") ||
      !group["weights"].is_array())
    fail("model", file, "a group of its weightsManifest lacks paths or weights.");
  std::vector<std::byte> joined;
  for (const Json& entry : group["paths"]) {
    const std::filesystem::path shard = entry.is_string() ? entry.get<std::string>() : std::string();
    bool inside = !shard.empty() && shard.is_relative();
    for (const auto& part : shard) inside = inside && part != "..";
    if (!inside) fail("model", file, fmt::format("its weight file \"{}\" lies outside of the model's folder.", shard.string()));
    const std::filesystem::path path = folder / shard;
    std::error_code ignored;
    if (!std::filesystem::exists(path, ignored))
      fail("model", file, fmt::format("its weight file \"{}\" is missing.", shard.string()));
    const std::vector<std::byte> bytes = read_file(path.string());
    joined.insert(joined.end(), bytes.begin(), bytes.end());
  }
  return joined;
}

void read_group(const Json& group, const std::filesystem::path& folder, const std::string& file, NamedArrays& weights) {
  const std::vector<std::byte> joined = read_shards(group, folder, file);
  std::size_t at = 0;
  for (const Json& weight : group["weights"]) {
    const std::string name = text_of(weight, "name");
    if (name.empty() || !weight.contains("shape") || !weight["shape"].is_array())
      fail("model", file, "a weight of its weightsManifest lacks name or shape.");
    const Stored stored = stored_form(weight, name, file);
    std::vector<std::int64_t> sizes;
    for (const Json& dim : weight["shape"]) {
      if (!dim.is_number_unsigned() || dim.get<std::uint64_t>() > std::uint64_t{1} << 62)
        fail("model", file, fmt::format("weight \"{}\": its shape has a size that is no natural number.", name));
      sizes.push_back(dim.get<std::int64_t>());
    }
    if (sizes.size() > std::size_t(max_rank))
      fail("model", file, fmt::format("weight \"{}\": it has {} dimensions, the limit is {}.", name, sizes.size(), max_rank));
    const Shape shape{std::span<const std::int64_t>(sizes)};
    const std::optional<std::uint64_t> need = checked_bytes(sizes, stored.element);
    if (!need || *need > joined.size() - at)
      fail("model", file,
           fmt::format("weight \"{}\" of shape {} ends beyond the {} bytes of its weight files.", name, to_string(shape),
                       joined.size()));
    const auto data = std::span<const std::byte>(joined).subspan(at, static_cast<std::size_t>(*need));
    at += data.size();
    if (!weights.emplace(name, Array{shape, stored.dtype, expand(data, stored)}).second)
      fail("model", file, fmt::format("weight \"{}\" comes twice.", name));
  }
  if (at != joined.size())
    fail("model", file, fmt::format("its weights need {} bytes and its weight files have {}.", at, joined.size()));
}

}  // namespace

TfjsLayersModel load_tfjs_layers_model(const std::string& model_json_path) {
  const std::vector<std::byte> text = read_file(model_json_path);
  const Json json = Json::parse(as_chars(text), as_chars(text) + text.size(), nullptr, false);
  if (!json.is_object()) fail("model", model_json_path, "it is not a JSON object.");
  if (json.contains("format") && text_of(json, "format") != "layers-model")
    fail("model", model_json_path, fmt::format("its format is \"{}\"; only \"layers-model\" is known.", text_of(json, "format")));
  if (!json.contains("modelTopology") || !json["modelTopology"].is_object() || !json.contains("weightsManifest") ||
      !json["weightsManifest"].is_array())
    fail("model", model_json_path, "it lacks modelTopology or weightsManifest.");
  TfjsLayersModel model{model_json_path, json["modelTopology"].dump(-1, ' ', false, Json::error_handler_t::replace), {}};
  const std::filesystem::path folder = std::filesystem::path(model_json_path).parent_path();
  for (const Json& group : json["weightsManifest"]) read_group(group, folder, model_json_path, model.weights);
  return model;
}

}  // namespace hearth::io
