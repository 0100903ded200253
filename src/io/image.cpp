#include "hearth/io/image.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <optional>

#include "file.hpp"
#include "image_check.hpp"
#include "stb.hpp"

namespace hearth::io {
namespace {

void check_sizes(const Image& image, const char* operation) {
  const bool valid = image.width > 0 && image.height > 0 && image.channels >= 1 && image.channels <= 4;
  if (!valid || image.pixels.size() != std::size_t(image.width) * std::size_t(image.height) * std::size_t(image.channels))
    throw Error(ErrorCode::invalid_argument,
                fmt::format("{}: {} bytes do not make an image of {} x {} pixels with {} channels.", operation,
                            image.pixels.size(), image.width, image.height, image.channels));
}

}  // namespace

Image decode_image(std::span<const std::byte> file, const std::string& name, Channels channels) {
  if (file.empty()) fail("image", name, "the file is empty.");
  switch (check_image_file(file)) {
    case ImageFile::not_an_image: fail("image", name, "it is neither a PNG nor a JPEG image.");
    case ImageFile::cut_off: fail("image", name, fmt::format("the file is cut off after {} bytes.", file.size()));
    case ImageFile::damaged: fail("image", name, "the file is damaged (a checksum or segment is wrong).");
    case ImageFile::whole: break;
  }
  if (file.size() > std::size_t(std::numeric_limits<int>::max()))
    fail("image", name, fmt::format("{} bytes are more than an image file may have (2147483647).", file.size()));
  const ImageSize claimed = claimed_size(file);
  if (claimed.width == 0 || claimed.height == 0 || claimed.width * claimed.height > std::uint64_t(max_image_pixels))
    fail("image", name,
         fmt::format("it claims {} x {} pixels, the limit is {} pixels.", claimed.width, claimed.height, max_image_pixels));
  std::string reason;
  std::optional<stb::Pixels> pixels = stb::decode(file, static_cast<int>(channels), reason);
  if (!pixels) fail("image", name, fmt::format("it cannot be decoded ({}).", reason));
  return {pixels->width, pixels->height, pixels->channels, std::move(pixels->bytes)};
}

Image load_image(const std::string& path, Channels channels) { return decode_image(read_file(path), path, channels); }

std::vector<std::byte> encode_png(const Image& image) {
  check_sizes(image, "encode_png");
  std::vector<std::byte> file = stb::encode_png(image.width, image.height, image.channels, image.pixels.data());
  if (file.empty())
    throw Error(ErrorCode::out_of_memory,
                fmt::format("encode_png: no memory for an image of {} x {} pixels.", image.width, image.height));
  return file;
}

void save_png(const Image& image, const std::string& path) { write_file(path, encode_png(image)); }

Image to_image(std::span<const float> values, int height, int width, int channels) {
  Image image{width, height, channels, std::vector<std::uint8_t>(values.size())};
  check_sizes(image, "to_image");
  for (std::size_t i = 0; i < values.size(); ++i) {
    // Written so that NaN becomes 0.
    const float clamped = values[i] > 0 ? (values[i] < 1 ? values[i] : 1.0f) : 0.0f;
    image.pixels[i] = static_cast<std::uint8_t>(std::lround(clamped * 255.0f));
  }
  return image;
}

}  // namespace hearth::io
