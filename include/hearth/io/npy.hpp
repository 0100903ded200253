#pragma once
#include <span>
#include <string>
#include <vector>

#include "hearth/io/array.hpp"

namespace hearth::io {

/// Reads an array file of NumPy (format 1 to 3; float16/32/64, int8/32, uint8/32, bool; C or Fortran order, little-endian).
/// Throws Error(io), naming the file, on anything else.
[[nodiscard]] Array load_npy(const std::string& path);
/// The same from memory; `name` stands in messages for the file.
[[nodiscard]] Array parse_npy(std::span<const std::byte> file, const std::string& name);

/// Writes an array for NumPy. Throws Error(io) when the file cannot be written.
void save_npy(const Array& array, const std::string& path);
[[nodiscard]] std::vector<std::byte> encode_npy(const Array& array);

}  // namespace hearth::io
