// The command on bad input: exit code 1 and one clear sentence, nothing else.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "command.hpp"
#include "hearth/io/image.hpp"
#include "io/files.hpp"
#include "model.hpp"

using namespace hearth;

namespace {

void check_refused(const std::string& arguments, std::initializer_list<const char*> parts) {
  const command::Outcome outcome = command::run("demo " + arguments);
  CAPTURE(arguments);
  CAPTURE(outcome.err);
  CHECK(outcome.code == 1);
  CHECK(outcome.out.empty());
  CHECK(files::says(outcome.err, parts));
  // One sentence on one line.
  CHECK(std::ranges::count(outcome.err, '\n') == 1);
  CHECK(outcome.err.ends_with(".\n"));
}

struct Setup {
  files::Folder folder{"bad_input"};
  std::string photo = folder.write("photo.png", io::encode_png({8, 6, 3, std::vector<std::uint8_t>(8 * 6 * 3, 100)}));
  std::string out = folder.path("out.png");
  [[nodiscard]] std::string arguments(const std::string& more, const std::string& device = "cpu") const {
    return "--device '" + device + "' --photo '" + photo + "' --output '" + out + "' --frames 1 " + more;
  }
  /// A copy of the x2 model that a test may damage.
  [[nodiscard]] std::string model() const {
    std::filesystem::copy(model::folder(2), folder.path("model"), std::filesystem::copy_options::recursive);
    return folder.path("model");
  }
};

}  // namespace

TEST_CASE("photos that are none") {
  const Setup setup;
  check_refused("--device cpu --photo /no/such.png", {"/no/such.png", "cannot be opened"});
  check_refused("--device cpu --photo '" + setup.folder.write("a.png", "some text") + "'", {"a.png", "neither a PNG nor a JPEG"});
  check_refused("--device cpu --photo '" + setup.folder.path() + "'", {"is a folder"});
  const std::vector<std::byte> png = io::encode_png({8, 8, 3, std::vector<std::uint8_t>(192)});
  check_refused("--device cpu --photo '" + setup.folder.write("b.png", std::span(png).first(png.size() / 2)) + "'",
                {"b.png", "cut off"});
}

TEST_CASE("options that make no sense") {
  const Setup setup;
  check_refused(setup.arguments("--scale 5"), {"scale is 5", "2, 3 or 4"});
  check_refused("--device cpu --frames 0 --photo '" + setup.photo + "' --output '" + setup.out + "'", {"number of frames is 0"});
  check_refused(setup.arguments("--frames 2"), {"--frames"});
  check_refused("--scale two", {"--scale", "two"});
  check_refused("--device cpu --output /no/such/folder/x.png", {"/no/such/folder"});
  check_refused("--device cpu --output '" + setup.folder.path() + "'", {"is a folder"});
  check_refused(setup.arguments("--raw /no/such/folder/x.npy"), {"/no/such/folder"});
  check_refused("--no-such-option", {"no-such-option"});
  CHECK(command::run("").code == 1);
  CHECK(command::run("demo --help").code == 0);
}

TEST_CASE("models that are missing or damaged") {
  const Setup setup;
  check_refused(setup.arguments("--model /no/such"), {"no model for scale 2", "/no/such"});
  const std::string model = setup.model();
  check_refused(setup.arguments("--scale 3 --model '" + model + "'"), {"enlarges by 2", "scale 3"});

  const std::string shard = model + "/group1-shard1of1.bin";
  std::filesystem::resize_file(shard, 888296);
  check_refused(setup.arguments("--model '" + model + "'"), {"model.json", "888296 bytes"});
  std::filesystem::remove(shard);
  check_refused(setup.arguments("--model '" + model + "'"), {"model.json", "group1-shard1of1.bin", "missing"});
  std::ofstream(model + "/model.json") << "{";
  check_refused(setup.arguments("--model '" + model + "'"), {"model.json", "JSON"});
}

TEST_CASE("a weight that is missing or misshaped") {
  const Setup setup;
  const std::string model = setup.model();
  std::ifstream in(model + "/model.json");
  const std::string json((std::istreambuf_iterator<char>(in)), {});
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string text = json;
    const std::size_t at = text.find(from);
    REQUIRE(at != std::string::npos);
    text.replace(at, from.size(), to);
    std::ofstream(model + "/model.json") << text;
    return setup.arguments("--model '" + model + "'");
  };
  check_refused(with("\"UPN2/kernel\"", "\"UPN2/other\""), {"UPN2", "\"UPN2/kernel\" is missing"});
  check_refused(with("[3, 3, 64, 32]", "[3, 3, 32, 64]"), {"UPN2", "[3, 3, 32, 64]", "[3, 3, 64, 32]"});
  check_refused(with("\"class_name\": \"Add\"", "\"class_name\": \"LayerNormalization\""),
                {"LRL_1", "LayerNormalization", "not known"});
}

#ifdef HEARTH_HAS_WEBGPU
TEST_CASE("adapters that are not there") {
  const Setup setup;
  check_refused(setup.arguments("", "no such adapter"), {"no adapter's name contains \"no such adapter\""});
}

TEST_CASE("a photo larger than the device's textures") {
  if (!model::has_gpu()) return;
  const Setup setup;
  const std::string wide = setup.folder.write("wide.png", io::encode_png({20000, 2, 3, std::vector<std::uint8_t>(120000)}));
  check_refused("--device gpu --photo '" + wide + "' --output '" + setup.out + "'", {"20000 x 2", "at most 8192"});
}
#endif
