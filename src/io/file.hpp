#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "hearth/error.hpp"
#include "hearth/shape.hpp"

namespace hearth::io {

/// The whole file. Throws Error(io) naming it and the system's reason.
[[nodiscard]] std::vector<std::byte> read_file(const std::string& path);
/// Writes and closes; throws Error(io) when any of it fails.
void write_file(const std::string& path, std::span<const std::byte> bytes);

/// Throws Error(io): `<kind> "<name>": <problem>`.
[[noreturn]] void fail(const char* kind, const std::string& name, const std::string& problem);

/// Product of sizes and `element_bytes`; nothing when a size is negative or the product passes 2^62.
[[nodiscard]] std::optional<std::uint64_t> checked_bytes(std::span<const std::int64_t> sizes, std::uint64_t element_bytes);

[[nodiscard]] inline std::span<const std::byte> as_bytes(const std::string& text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}
[[nodiscard]] inline const char* as_chars(std::span<const std::byte> bytes) {
  return reinterpret_cast<const char*>(bytes.data());
}

}  // namespace hearth::io
