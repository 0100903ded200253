#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "hearth/error.hpp"

namespace hearth {
class Device;
class Tensor;
}  // namespace hearth

namespace hearth::io {

/// Pixels of 8 bits a channel, rows from the top, channels interleaved.
struct Image {
  int width = 0;
  int height = 0;
  int channels = 0;  ///< 1 grey, 2 grey and alpha, 3 RGB, 4 RGBA
  std::vector<std::uint8_t> pixels;
};

/// How many channels a decoded image gets, whatever the file has.
enum class Channels : unsigned char { as_stored = 0, grey = 1, rgb = 3, rgba = 4 };

/// Largest number of pixels that an image file may claim; more is taken for a damaged file.
inline constexpr std::int64_t max_image_pixels = std::int64_t{1} << 27;

/// Reads a PNG or JPEG file. Throws Error(io), naming the file, when it cannot be read, is neither, is cut off or damaged, or
/// claims more than max_image_pixels.
[[nodiscard]] Image load_image(const std::string& path, Channels channels = Channels::as_stored);
/// The same from memory; `name` stands in messages for the file.
[[nodiscard]] Image decode_image(std::span<const std::byte> file, const std::string& name,
                                 Channels channels = Channels::as_stored);

/// Writes a PNG file. Throws Error(io) when it cannot be written, Error(invalid_argument) when sizes and pixels do not fit.
void save_png(const Image& image, const std::string& path);
[[nodiscard]] std::vector<std::byte> encode_png(const Image& image);

/// f32 [height, width, channels] in 0..1.
[[nodiscard]] Tensor to_tensor(const Image& image, const Device& device);
/// Values in 0..1, row-major [height, width, channels], clamped and rounded to 8 bits.
[[nodiscard]] Image to_image(std::span<const float> values, int height, int width, int channels);

}  // namespace hearth::io
