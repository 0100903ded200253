#include "hearth/io/image.hpp"

#include <doctest/doctest.h>

#include <cstring>

#include "files.hpp"
#include "jpeg_files.hpp"

using namespace hearth;
using files::io_error;
using files::says;

namespace {

io::Image gradient(int width, int height, int channels) {
  io::Image image{width, height, channels, {}};
  for (int i = 0; i < width * height * channels; ++i) image.pixels.push_back(static_cast<std::uint8_t>(i * 7 + i / 13));
  return image;
}

/// A whole PNG whose header claims other sizes: IHDR of its own, with the right checksum.
std::vector<std::byte> png_claiming(std::uint32_t width, std::uint32_t height) {
  std::vector<std::byte> file = io::encode_png(gradient(4, 4, 3));
  const auto put = [&](std::size_t at, std::uint32_t value) {
    for (std::size_t i = 0; i < 4; ++i) file[at + i] = static_cast<std::byte>(value >> (24 - 8 * i) & 0xFF);
  };
  put(16, width);
  put(20, height);
  std::uint32_t crc = 0xFFFFFFFFu;
  for (std::size_t i = 12; i < 29; ++i) {
    crc ^= std::to_integer<std::uint32_t>(file[i]);
    for (int bit = 0; bit < 8; ++bit) crc = (crc & 1) != 0 ? crc >> 1 ^ 0xEDB88320u : crc >> 1;
  }
  put(29, ~crc);
  return file;
}

}  // namespace

TEST_CASE("a png that was written is read back as it was") {
  files::Folder folder("image");
  for (int channels = 1; channels <= 4; ++channels) {
    const io::Image image = gradient(19, 7, channels);
    io::save_png(image, folder.path("a.png"));
    const io::Image read = io::load_image(folder.path("a.png"));
    CHECK(read.width == 19);
    CHECK(read.height == 7);
    CHECK(read.channels == channels);
    CHECK(read.pixels == image.pixels);
  }
  const io::Image rgba = io::load_image(folder.write("rgb.png", io::encode_png(gradient(5, 3, 3))), io::Channels::rgba);
  CHECK(rgba.channels == 4);
  CHECK(rgba.pixels.size() == 60);
  CHECK(rgba.pixels[3] == 255);
}

TEST_CASE("a file that is no image says so and names itself") {
  files::Folder folder("image");
  CHECK(says(io_error([&] { return io::load_image(folder.path("none.png")); }), {"none.png", "cannot be opened"}));
  CHECK(says(io_error([&] { return io::load_image(folder.path()); }), {"it is a folder"}));
  CHECK(says(io_error([&] { return io::load_image(folder.write("empty.png", "")); }), {"empty.png", "empty"}));
  CHECK(says(io_error([&] { return io::load_image(folder.write("text.png", "hello, I am no image")); }),
             {"text.png", "neither a PNG nor a JPEG"}));
  CHECK(says(io_error([&] { return io::load_image(folder.write("sig.png", "\x89PNG")); }), {"sig.png", "cut off"}));
}

TEST_CASE("every truncation of a png is an error, and every flipped bit behind its signature") {
  const std::vector<std::byte> file = io::encode_png(gradient(16, 16, 3));
  for (std::size_t size = 0; size < file.size(); ++size) {
    const std::string message = io_error([&] { return io::decode_image(std::span(file).first(size), "cut.png"); });
    CAPTURE(size);
    CHECK(says(message, {"cut.png"}));
  }
  for (std::size_t bit = 0; bit < file.size() * 8; ++bit) {
    std::vector<std::byte> flipped = file;
    flipped[bit / 8] ^= std::byte{1} << (bit % 8);
    CAPTURE(bit);
    CHECK(!io_error([&] { return io::decode_image(flipped, "flip.png"); }).empty());
  }
}

TEST_CASE("jpeg files are read, and every truncation is an error") {
  for (const std::span<const std::byte> file : files::jpeg_files()) {
    const io::Image image = io::decode_image(file, "a.jpg");
    REQUIRE(image.width == 20);
    REQUIRE(image.height == 12);
    REQUIRE(image.channels == 3);
    const std::uint8_t* pixel = image.pixels.data() + (8 * 20 + 10) * 3;
    CHECK(std::abs(int(pixel[0]) - 120) < 16);
    CHECK(std::abs(int(pixel[1]) - 160) < 16);
    for (std::size_t size = 0; size < file.size(); ++size) {
      CAPTURE(size);
      CHECK(says(io_error([&] { return io::decode_image(file.first(size), "cut.jpg"); }), {"cut.jpg"}));
    }
  }
}

TEST_CASE("absurd sizes are refused before memory is asked for") {
  CHECK(says(io_error([] { return io::decode_image(png_claiming(60000, 60000), "huge.png"); }),
             {"huge.png", "60000 x 60000", "134217728"}));
  CHECK(says(io_error([] { return io::decode_image(png_claiming(0, 4), "zero.png"); }), {"zero.png", "0 x 4"}));
  CHECK(!io_error([] { return io::decode_image(png_claiming(0x7FFFFFFF, 2), "wide.png"); }).empty());
  CHECK(!io_error([] { return io::decode_image(png_claiming(5, 4), "more.png"); }).empty());
}

TEST_CASE("writing names the file and the reason") {
  files::Folder folder("image");
  CHECK(says(io_error([&] {
               io::save_png(gradient(2, 2, 3), folder.path("no/such/folder.png"));
               return 0;
             }),
             {"no/such/folder.png", "cannot be written", "No such file"}));
  CHECK_THROWS_WITH_AS(io::save_png({2, 2, 3, {}}, folder.path("x.png")),
                       "encode_png: 0 bytes do not make an image of 2 x 2 pixels with 3 channels.", Error);
}

TEST_CASE("values are clamped and rounded, and NaN is black") {
  const float values[] = {-1, 0, 0.5f, 1, 2, std::numeric_limits<float>::quiet_NaN()};
  CHECK(io::to_image(values, 1, 2, 3).pixels == std::vector<std::uint8_t>{0, 0, 128, 255, 255, 0});
}
