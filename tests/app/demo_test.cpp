// The whole demo: files in, files out.
#include "demo/demo.hpp"

#include <algorithm>

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "command.hpp"
#include "demo/compose.hpp"
#include "hearth/io/npy.hpp"
#include "io/files.hpp"
#include "model.hpp"
#include "reference.hpp"

using namespace hearth;

namespace {

struct Photo {
  io::Image rgba;
  reference::Picture values;  ///< [height, width, 3] in 0..1, as f32 gives it
};

Photo make_photo(int width, int height) {
  const reference::Picture picture = reference::test_picture(height, width, 4);
  Photo photo{{width, height, 4, {}}, {height, width, 3, {}}};
  for (std::size_t i = 0; i < picture.values.size(); ++i) {
    photo.rgba.pixels.push_back(static_cast<std::uint8_t>(picture.values[i] * 255 + 0.5));
    if (i % 4 != 3) photo.values.values.push_back(double(float(photo.rgba.pixels.back()) / 255.0f));
  }
  return photo;
}

std::vector<std::string> device_names() {
  std::vector<std::string> names;
  for (const model::Named& on : model::devices()) names.push_back(on.name);
  return names;
}

}  // namespace

TEST_CASE("the demo writes the network's result and the picture, and nothing waits or goes through the host") {
  files::Folder folder("demo");
  const Photo photo = make_photo(26, 22);
  io::save_png(photo.rgba, folder.path("photo.png"));
  for (const std::string& name : device_names())
    for (int scale : {2, 3, 4}) {
      CAPTURE(name);
      CAPTURE(scale);
      const demo::Report report = demo::run({.photo = folder.path("photo.png"),
                                             .scale = scale,
                                             .device = name,
                                             .output = folder.path("out.png"),
                                             .raw = folder.path("out.npy"),
                                             .frames = 2});
      CHECK(report.frame_ms.size() == 2);
      CHECK(report.tiles == 1);
      CHECK(report.bytes_through_host() == 0);
      if (name != "cpu") CHECK(report.frames.waits == 0);

      const io::Array raw = io::load_npy(folder.path("out.npy"));
      CHECK(raw.shape == Shape{22 * scale, 26 * scale, 3});
      const reference::Picture want = reference::enlarge(model::folder(scale), scale, photo.values);
      const std::vector<float> got = raw.values<float>();
      CHECK(reference::largest_difference(want.values, got) <= 1e-4);

      const io::Image picture = io::load_image(folder.path("out.png"));
      const io::Image composed = demo::compose(photo.rgba, got, scale);
      REQUIRE(picture.pixels.size() == composed.pixels.size());
      int largest = 0;
      for (std::size_t i = 0; i < picture.pixels.size(); ++i)
        largest = std::max(largest, std::abs(int(picture.pixels[i]) - int(composed.pixels[i])));
      CHECK(largest <= 1);
    }
}

TEST_CASE("a picture in tiles is the picture in one piece") {
  files::Folder folder("demo");
  io::save_png(make_photo(50, 40).rgba, folder.path("photo.png"));
  for (const std::string& name : device_names()) {
    CAPTURE(name);
    const auto run = [&](const char* output, std::int64_t max_tile_pixels) {
      return demo::run({.photo = folder.path("photo.png"),
                        .device = name,
                        .output = folder.path(output),
                        .frames = 1,
                        .max_tile_pixels = max_tile_pixels});
    };
    CHECK(run("whole.png", 0).tiles == 1);
    const demo::Report tiled = run("tiled.png", 1000);
    CHECK(tiled.tiles > 1);
    CHECK(tiled.bytes_through_host() == 0);
    const io::Image whole = io::load_image(folder.path("whole.png")), joined = io::load_image(folder.path("tiled.png"));
    REQUIRE(whole.pixels.size() == joined.pixels.size());
    int largest = 0;
    for (std::size_t i = 0; i < whole.pixels.size(); ++i)
      largest = std::max(largest, std::abs(int(whole.pixels[i]) - int(joined.pixels[i])));
    CHECK(largest <= 1);  // a value on the edge between two of 255 may round either way
  }
}

TEST_CASE("the command reports as JSON and as text") {
  files::Folder folder("demo");
  io::save_png(make_photo(16, 12).rgba, folder.path("photo.png"));
  const std::string arguments =
      "demo --device cpu --frames 2 --photo '" + folder.path("photo.png") + "' --output '" + folder.path("out.png") + "'";
  const command::Outcome json = command::run(arguments + " --json");
  CHECK(json.code == 0);
  CHECK(json.err.empty());
  const nlohmann::json report = nlohmann::json::parse(json.out);
  CHECK(report["photo_width"] == 16);
  CHECK(report["output_width"] == 2 * 32 + demo::divider_width);
  CHECK(report["bytes_through_host"] == 0);
  CHECK(report["frames"] == 2);
  CHECK(report["ms_first"] > 0);
  const command::Outcome text = command::run(arguments);
  CHECK(text.code == 0);
  for (const char* word : {"device", "first", "submits", "waits", "0 bytes through the host", "out.png"})
    CHECK(files::says(text.out, {word}));
}
