#include "image_check.hpp"

#include <array>
#include <cstdint>
#include <cstring>

namespace hearth::io {
namespace {

std::uint32_t big_endian(const std::byte* p) {
  return std::to_integer<std::uint32_t>(p[0]) << 24 | std::to_integer<std::uint32_t>(p[1]) << 16 |
         std::to_integer<std::uint32_t>(p[2]) << 8 | std::to_integer<std::uint32_t>(p[3]);
}

/// CRC-32 as PNG defines it (ISO 3309), with the usual table of 256 remainders.
constexpr std::array<std::uint32_t, 256> crc_table = [] {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t n = 0; n < 256; ++n) {
    std::uint32_t remainder = n;
    for (int bit = 0; bit < 8; ++bit) remainder = (remainder & 1) != 0 ? 0xEDB88320u ^ (remainder >> 1) : remainder >> 1;
    table[n] = remainder;
  }
  return table;
}();

std::uint32_t crc(std::span<const std::byte> bytes) {
  std::uint32_t value = 0xFFFFFFFFu;
  for (std::byte b : bytes) value = crc_table[(value ^ std::to_integer<std::uint32_t>(b)) & 0xFF] ^ (value >> 8);
  return ~value;
}

constexpr std::array<unsigned char, 8> png_signature = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1A, '\n'};

ImageFile check_png(std::span<const std::byte> file) {
  std::size_t at = png_signature.size();
  for (;;) {
    // A chunk: length, type, data, checksum over type and data.
    if (file.size() - at < 12) return ImageFile::cut_off;
    const std::uint32_t length = big_endian(file.data() + at);
    if (length > 0x7FFFFFFFu) return ImageFile::damaged;
    if (file.size() - at - 12 < length) return ImageFile::cut_off;
    if (crc(file.subspan(at + 4, std::size_t{4} + length)) != big_endian(file.data() + at + 8 + length))
      return ImageFile::damaged;
    if (std::memcmp(file.data() + at + 4, "IEND", 4) == 0) return ImageFile::whole;
    at += std::size_t{12} + length;
  }
}

/// `size` receives what a frame header says.
ImageFile check_jpeg(std::span<const std::byte> file, ImageSize& size) {
  const auto byte = [&](std::size_t i) { return std::to_integer<unsigned>(file[i]); };
  std::size_t at = 2;
  for (;;) {
    if (file.size() - at < 2) return ImageFile::cut_off;
    if (byte(at) != 0xFF) return ImageFile::damaged;
    const unsigned marker = byte(at + 1);
    if (marker == 0xFF) {  // padding before a marker
      ++at;
      continue;
    }
    if (marker == 0xD9) return ImageFile::whole;
    at += 2;
    if ((marker >= 0xD0 && marker <= 0xD8) || marker == 0x01) continue;  // markers without a segment
    if (file.size() - at < 2) return ImageFile::cut_off;
    const std::size_t length = byte(at) << 8 | byte(at + 1);
    if (length < 2) return ImageFile::damaged;
    if (file.size() - at < length) return ImageFile::cut_off;
    // Start of frame: precision, height, width. C4, C8 and CC are tables, not frames.
    if (marker >= 0xC0 && marker <= 0xCF && marker != 0xC4 && marker != 0xC8 && marker != 0xCC && length >= 7)
      size = {byte(at + 5) << 8 | byte(at + 6), byte(at + 3) << 8 | byte(at + 4)};
    at += length;
    if (marker != 0xDA) continue;
    // Start of scan: entropy-coded data runs to the next marker that is neither a stuffed zero nor a restart.
    while (file.size() - at >= 2 && !(byte(at) == 0xFF && byte(at + 1) != 0 && !(byte(at + 1) >= 0xD0 && byte(at + 1) <= 0xD7)))
      ++at;
  }
}

}  // namespace

ImageFile check_image_file(std::span<const std::byte> file) {
  const std::size_t compared = file.size() < png_signature.size() ? file.size() : png_signature.size();
  if (compared > 0 && std::memcmp(file.data(), png_signature.data(), compared) == 0)
    return compared < png_signature.size() ? ImageFile::cut_off : check_png(file);
  if (file.size() >= 3 && file[0] == std::byte{0xFF} && file[1] == std::byte{0xD8} && file[2] == std::byte{0xFF}) {
    ImageSize ignored;
    return check_jpeg(file, ignored);
  }
  return ImageFile::not_an_image;
}

ImageSize claimed_size(std::span<const std::byte> file) {
  ImageSize size;
  if (file[0] == std::byte{0xFF}) {
    (void)check_jpeg(file, size);
  } else if (file.size() >= 24) {  // signature, then IHDR: length, type, width, height
    size = {big_endian(file.data() + 16), big_endian(file.data() + 20)};
  }
  return size;
}

}  // namespace hearth::io
