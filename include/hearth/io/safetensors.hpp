#pragma once
#include <map>
#include <span>
#include <string>
#include <vector>

#include "hearth/io/array.hpp"

namespace hearth::io {

struct Safetensors {
  NamedArrays tensors;
  std::map<std::string, std::string> metadata;
};

/// Reads a safetensors file; BF16 is widened to f32. Throws Error(io), naming the file and the tensor, when it is cut off, a size
/// does not fit its shape, ranges overlap or leave a gap, or a dtype has no counterpart (I64, U64, I16, U16, F8).
[[nodiscard]] Safetensors load_safetensors(const std::string& path);
/// The same from memory; `name` stands in messages for the file.
[[nodiscard]] Safetensors parse_safetensors(std::span<const std::byte> file, const std::string& name);

/// Writes a safetensors file. Throws Error(io) when it cannot be written.
void save_safetensors(const Safetensors& content, const std::string& path);
[[nodiscard]] std::vector<std::byte> encode_safetensors(const Safetensors& content);

}  // namespace hearth::io
