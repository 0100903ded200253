// Every reader on thousands of damaged files: it may read something or say Error(io), nothing else. Worth most under the
// sanitizers.
#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "files.hpp"
#include "hearth/io/image.hpp"
#include "hearth/io/npy.hpp"
#include "hearth/io/safetensors.hpp"
#include "hearth/io/tfjs.hpp"
#include "jpeg_files.hpp"

using namespace hearth;

namespace {

using Reader = std::function<void(std::span<const std::byte>)>;

/// Runs `read` on truncations and on files with flipped bits, changed, removed and doubled bytes. The count that read well.
int damage(const std::vector<std::byte>& file, int rounds, const Reader& read) {
  files::Random random(42);
  int read_well = 0;
  const auto attempt = [&](const std::vector<std::byte>& bytes) {
    try {
      read(bytes);
      ++read_well;
    } catch (const Error& error) {
      CHECK(error.code() == ErrorCode::io);
      CHECK(std::string(error.what()).size() > 10);
    }
  };
  for (int round = 0; round < rounds; ++round) {
    std::vector<std::byte> bytes = file;
    const std::size_t at = random.below(bytes.size());
    switch (random.below(5)) {
      case 0: bytes.resize(at); break;
      case 1: bytes[at] ^= std::byte{1} << random.below(8); break;
      case 2: bytes[at] = static_cast<std::byte>(random.below(256)); break;
      case 3: bytes.erase(bytes.begin() + std::ptrdiff_t(at)); break;
      default: bytes.insert(bytes.begin() + std::ptrdiff_t(at), bytes[at]); break;
    }
    // Half of the time a second wound, most often in the header.
    if (random.below(2) == 0 && !bytes.empty())
      bytes[random.below(std::min<std::size_t>(bytes.size(), 64))] ^= std::byte{1} << random.below(8);
    attempt(bytes);
  }
  return read_well;
}

io::NamedArrays two_arrays() {
  const float values[] = {1, 2, 3, 4, 5, 6};
  return {{"first", io::make_array<float>(values, {2, 3})}, {"second", io::make_array<float>(std::span(values, 2), {2, 1})}};
}

}  // namespace

TEST_CASE("a damaged npy file is read or refused, never a crash") {
  const std::vector<std::byte> file = io::encode_npy(two_arrays().at("first"));
  CHECK(damage(file, 5000, [](auto bytes) { (void)io::parse_npy(bytes, "damaged.npy"); }) < 5000);
}

TEST_CASE("a damaged safetensors file is read or refused, never a crash") {
  const std::vector<std::byte> file = io::encode_safetensors({two_arrays(), {{"k", "v"}}});
  CHECK(damage(file, 5000, [](auto bytes) { (void)io::parse_safetensors(bytes, "damaged.safetensors"); }) < 5000);
}

TEST_CASE("a damaged png is refused") {
  io::Image image{24, 17, 3, std::vector<std::uint8_t>(24 * 17 * 3)};
  for (std::size_t i = 0; i < image.pixels.size(); ++i) image.pixels[i] = static_cast<std::uint8_t>(i * i);
  const std::vector<std::byte> file = io::encode_png(image);
  // A byte replaced by itself, or doubled behind the end, leaves a picture that is whole.
  CHECK(damage(file, 2000, [](auto bytes) { (void)io::decode_image(bytes, "damaged.png"); }) < 20);
}

TEST_CASE("a damaged jpeg is read or refused, never a crash") {
  // Entropy-coded data have no checksum: most wounds show as wrong pixels only.
  for (const std::span<const std::byte> file : files::jpeg_files())
    CHECK(damage({file.begin(), file.end()}, 2000, [](auto bytes) { (void)io::decode_image(bytes, "damaged.jpg"); }) < 2000);
}

TEST_CASE("a damaged model.json is read or refused, never a crash") {
  files::Folder folder("damage");
  folder.write("w.bin", std::string(24, '\1'));
  const std::string json =
      R"({"format":"layers-model","modelTopology":{"a":[1,2]},"weightsManifest":[{"paths":["w.bin"],"weights":[)"
      R"({"name":"k","shape":[2,2],"dtype":"float32"},{"name":"b","shape":[8],"dtype":"float32","quantization":{"dtype":"uint8","scale":1,"min":0}}]}]})";
  CHECK(damage(files::bytes(json), 1500,
               [&](auto bytes) { (void)io::load_tfjs_layers_model(folder.write("model.json", bytes)); }) < 1500);
}
