#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

namespace hearth::io {

/// What the structure of an image file says, before a decoder sees it. stb decodes a file that is cut off or flipped without a
/// word: half of the picture grey.
enum class ImageFile : unsigned char { whole, not_an_image, cut_off, damaged };

/// Walks the chunks of a PNG (with their checksums) or the segments of a JPEG to their end.
[[nodiscard]] ImageFile check_image_file(std::span<const std::byte> file);

/// What a whole file claims to be, in pixels; 0 when it does not say.
struct ImageSize {
  std::uint64_t width = 0;
  std::uint64_t height = 0;
};
[[nodiscard]] ImageSize claimed_size(std::span<const std::byte> file);

}  // namespace hearth::io
