#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

/// stb behind names of ours, so that a program with a stb of its own links.
namespace hearth::io::stb {

struct Pixels {
  int width = 0;
  int height = 0;
  int channels = 0;
  std::vector<std::uint8_t> bytes;
};

/// Decodes a PNG or JPEG; channels 0: as stored. Nothing when it cannot, with stb's words in `reason`.
[[nodiscard]] std::optional<Pixels> decode(std::span<const std::byte> file, int channels, std::string& reason);
/// Empty when there is no memory.
[[nodiscard]] std::vector<std::byte> encode_png(int width, int height, int channels, const std::uint8_t* pixels);

}  // namespace hearth::io::stb
