#include "hearth/io/safetensors.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string_view>

#include "file.hpp"

namespace hearth::io {
namespace {

using Json = nlohmann::json;

/// Longest header that the format allows.
constexpr std::uint64_t max_header_bytes = 100'000'000;

struct Spelling {
  const char* name;
  DType dtype;
};
constexpr Spelling spellings[] = {{"F32", DType::f32}, {"F16", DType::f16}, {"F64", DType::f64}, {"I32", DType::i32},
                                  {"U32", DType::u32}, {"I8", DType::i8},   {"U8", DType::u8},   {"BOOL", DType::boolean}};

/// One tensor of the header, checked against the data's size.
struct Entry {
  std::string name;
  DType dtype = DType::f32;
  bool bf16 = false;
  Shape shape;
  std::uint64_t begin = 0, end = 0;
};

std::optional<std::uint64_t> as_unsigned(const Json& value) {
  if (!value.is_number_unsigned()) return std::nullopt;
  return value.get<std::uint64_t>();
}

Entry parse_entry(const std::string& file, const std::string& tensor, const Json& json, std::uint64_t data_bytes) {
  const auto wrong = [&](const std::string& problem) {
    fail("safetensors", file, fmt::format("tensor \"{}\": {}", tensor, problem));
  };
  Entry entry{.name = tensor};
  if (!json.is_object() || !json.contains("dtype") || !json["dtype"].is_string() || !json.contains("shape") ||
      !json["shape"].is_array() || !json.contains("data_offsets") || !json["data_offsets"].is_array() ||
      json["data_offsets"].size() != 2)
    wrong("its entry lacks dtype, shape or two data_offsets.");
  const std::string dtype = json["dtype"].get<std::string>();
  entry.bf16 = dtype == "BF16";
  bool known = entry.bf16;
  for (const Spelling& spelling : spellings)
    if (dtype == spelling.name) {
      entry.dtype = spelling.dtype;
      known = true;
    }
  if (!known) wrong(fmt::format("its dtype is {}; known are F64 F32 F16 BF16 I32 U32 I8 U8 BOOL.", dtype));

  std::vector<std::int64_t> sizes;
  for (const Json& dim : json["shape"]) {
    const std::optional<std::uint64_t> size = as_unsigned(dim);
    if (!size || *size > std::uint64_t{1} << 62) wrong("its shape has a size that is no natural number.");
    sizes.push_back(static_cast<std::int64_t>(*size));
  }
  if (sizes.size() > std::size_t(max_rank)) wrong(fmt::format("it has {} dimensions, the limit is {}.", sizes.size(), max_rank));
  entry.shape = Shape(std::span<const std::int64_t>(sizes));

  const std::optional<std::uint64_t> begin = as_unsigned(json["data_offsets"][0]), end = as_unsigned(json["data_offsets"][1]);
  if (!begin || !end || *begin > *end) wrong("its data_offsets are not an ascending pair of natural numbers.");
  if (*end > data_bytes) wrong(fmt::format("its data end at byte {}, the file has {}.", *end, data_bytes));
  const std::optional<std::uint64_t> need = checked_bytes(sizes, entry.bf16 ? 2 : host_size_bytes(entry.dtype));
  if (!need || *need != *end - *begin)
    wrong(fmt::format("its shape {} of {} does not fit its {} bytes.", to_string(entry.shape), dtype, *end - *begin));
  entry.begin = *begin;
  entry.end = *end;
  return entry;
}

/// bfloat16 is the upper half of a float.
std::vector<std::byte> widen_bf16(std::span<const std::byte> data) {
  std::vector<std::byte> result(data.size() * 2);
  for (std::size_t i = 0; i < data.size(); i += 2) {
    result[i * 2 + 2] = data[i];
    result[i * 2 + 3] = data[i + 1];
  }
  return result;
}

Json parse_header(std::span<const std::byte> text, const std::string& name) {
  // A name that comes twice would silently hide one of the two.
  std::set<std::string> names;
  std::string twice;
  const auto watch = [&](int depth, Json::parse_event_t event, Json& parsed) {
    if (event == Json::parse_event_t::key && depth == 1 && !names.insert(parsed.get<std::string>()).second)
      twice = parsed.get<std::string>();
    return true;
  };
  Json header = Json::parse(as_chars(text), as_chars(text) + text.size(), watch, false);
  if (!header.is_object()) fail("safetensors", name, "its header is not a JSON object.");
  if (!twice.empty()) fail("safetensors", name, fmt::format("tensor \"{}\" comes twice.", twice));
  return header;
}

}  // namespace

Safetensors parse_safetensors(std::span<const std::byte> file, const std::string& name) {
  if (file.size() < 8) fail("safetensors", name, "it is shorter than the 8 bytes of its header's length.");
  std::uint64_t header_bytes = 0;
  for (int i = 7; i >= 0; --i) header_bytes = header_bytes << 8 | std::to_integer<std::uint64_t>(file[std::size_t(i)]);
  if (header_bytes > max_header_bytes)
    fail("safetensors", name, fmt::format("it claims a header of {} bytes, the limit is {}.", header_bytes, max_header_bytes));
  if (header_bytes > file.size() - 8)
    fail("safetensors", name, fmt::format("it is cut off: its header has {} bytes, the file {}.", header_bytes, file.size()));
  const Json header = parse_header(file.subspan(8, static_cast<std::size_t>(header_bytes)), name);
  const std::span<const std::byte> data = file.subspan(8 + static_cast<std::size_t>(header_bytes));

  Safetensors result;
  std::vector<Entry> entries;
  for (const auto& [key, value] : header.items()) {
    if (key != "__metadata__") {
      entries.push_back(parse_entry(name, key, value, data.size()));
      continue;
    }
    if (!value.is_object()) fail("safetensors", name, "its __metadata__ is not an object.");
    for (const auto& [field, text] : value.items()) {
      if (!text.is_string()) fail("safetensors", name, fmt::format("its metadata \"{}\" is not a string.", field));
      result.metadata[field] = text.get<std::string>();
    }
  }
  std::ranges::sort(entries,
                    [](const Entry& a, const Entry& b) { return std::pair(a.begin, a.end) < std::pair(b.begin, b.end); });
  std::uint64_t expected = 0;
  const std::string* previous = nullptr;
  for (const Entry& entry : entries) {
    if (entry.begin < expected)
      fail("safetensors", name, fmt::format("the data of the tensors \"{}\" and \"{}\" overlap.", *previous, entry.name));
    if (entry.begin > expected)
      fail("safetensors", name, fmt::format("bytes {} to {} belong to no tensor.", expected, entry.begin));
    expected = entry.end;
    previous = &entry.name;
  }
  if (expected != data.size())
    fail("safetensors", name, fmt::format("bytes {} to {} belong to no tensor.", expected, data.size()));
  for (const Entry& entry : entries) {
    const auto bytes = data.subspan(static_cast<std::size_t>(entry.begin), static_cast<std::size_t>(entry.end - entry.begin));
    Array array{entry.shape, entry.dtype, {}};
    if (entry.bf16)
      array.bytes = widen_bf16(bytes);
    else
      array.bytes.assign(bytes.begin(), bytes.end());
    result.tensors.emplace(entry.name, std::move(array));
  }
  return result;
}

Safetensors load_safetensors(const std::string& path) { return parse_safetensors(read_file(path), path); }

std::vector<std::byte> encode_safetensors(const Safetensors& content) {
  Json header = Json::object();
  if (!content.metadata.empty()) header["__metadata__"] = content.metadata;
  std::uint64_t at = 0;
  for (const auto& [name, array] : content.tensors) {
    Json& entry = header[name];
    for (const Spelling& spelling : spellings)
      if (spelling.dtype == array.dtype) entry["dtype"] = spelling.name;
    entry["shape"] = Json::array();
    for (std::int64_t dim : array.shape) entry["shape"].push_back(dim);
    entry["data_offsets"] = {at, at + array.bytes.size()};
    at += array.bytes.size();
  }
  std::string text = header.dump(-1, ' ', false, Json::error_handler_t::replace);
  // Readers map the file and expect the data at a multiple of 8 bytes.
  text.append((8 - text.size() % 8) % 8, ' ');
  std::vector<std::byte> file;
  file.reserve(8 + text.size() + static_cast<std::size_t>(at));
  for (int i = 0; i < 8; ++i) file.push_back(static_cast<std::byte>(text.size() >> (8 * i) & 0xFF));
  file.insert(file.end(), as_bytes(text).begin(), as_bytes(text).end());
  for (const auto& [name, array] : content.tensors) file.insert(file.end(), array.bytes.begin(), array.bytes.end());
  return file;
}

void save_safetensors(const Safetensors& content, const std::string& path) { write_file(path, encode_safetensors(content)); }

}  // namespace hearth::io
