#include "stb.hpp"

#define STB_IMAGE_IMPLEMENTATION
#define STB_IMAGE_WRITE_IMPLEMENTATION
#define STB_IMAGE_STATIC
#define STB_IMAGE_WRITE_STATIC
#define STBI_ONLY_PNG
#define STBI_ONLY_JPEG
#define STBI_NO_STDIO
#define STBI_WRITE_NO_STDIO
#include <stb_image.h>
#include <stb_image_write.h>

#include <memory>

namespace hearth::io::stb {
namespace {

struct FreePixels {
  void operator()(stbi_uc* pixels) const noexcept { stbi_image_free(pixels); }
};

void append(void* out, void* data, int size) {
  auto& file = *static_cast<std::vector<std::byte>*>(out);
  const auto* bytes = static_cast<const std::byte*>(data);
  file.insert(file.end(), bytes, bytes + size);
}

}  // namespace

std::optional<Pixels> decode(std::span<const std::byte> file, int channels, std::string& reason) {
  Pixels result;
  int stored = 0;
  const std::unique_ptr<stbi_uc, FreePixels> pixels(stbi_load_from_memory(reinterpret_cast<const stbi_uc*>(file.data()),
                                                                          static_cast<int>(file.size()), &result.width,
                                                                          &result.height, &stored, channels));
  if (!pixels) {
    reason = stbi_failure_reason() ? stbi_failure_reason() : "no reason given";
    return std::nullopt;
  }
  result.channels = channels == 0 ? stored : channels;
  result.bytes.assign(pixels.get(),
                      pixels.get() + std::size_t(result.width) * std::size_t(result.height) * std::size_t(result.channels));
  return result;
}

std::vector<std::byte> encode_png(int width, int height, int channels, const std::uint8_t* pixels) {
  std::vector<std::byte> file;
  if (!stbi_write_png_to_func(append, &file, width, height, channels, pixels, width * channels)) file.clear();
  return file;
}

}  // namespace hearth::io::stb
