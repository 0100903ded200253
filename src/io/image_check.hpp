#pragma once
#include <cstddef>
#include <span>

namespace hearth::io {

/// What the structure of an image file says, before a decoder sees it. stb decodes a file that is cut off or flipped without a
/// word: half of the picture grey.
enum class ImageFile : unsigned char { whole, not_an_image, cut_off, damaged };

/// Walks the chunks of a PNG (with their checksums) or the segments of a JPEG to their end.
[[nodiscard]] ImageFile check_image_file(std::span<const std::byte> file);

}  // namespace hearth::io
