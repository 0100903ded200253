// The `hearth` command.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <new>
#include <string>

#include "demo/demo.hpp"

int main(int argc, char** argv) {
  CLI::App app("Hearth: tensors on the WebGPU device that your program already owns.", "hearth");
  app.require_subcommand(1);

  hearth::demo::Options options;
  bool json = false;
  CLI::App* demo =
      app.add_subcommand("demo", "Enlarge a photo with a real network on an app's own WebGPU device, and draw it as a PNG.");
  demo->add_option("--photo", options.photo, "PNG or JPEG to enlarge (default: a part of chelsea.png from the set-up)");
  demo->add_option("--scale", options.scale, "2, 3 or 4")->capture_default_str();
  demo->add_option("--device", options.device, "gpu, cpu, or a part of an adapter's name")->capture_default_str();
  demo->add_option("--output", options.output, "picture to write")->capture_default_str();
  demo->add_option("--raw", options.raw, "the network's result as .npy: f32 [height, width, 3] in 0..1, not clamped");
  demo->add_option("--model", options.model, "folder of model.json, or of x2/model.json etc.");
  demo->add_option("--frames", options.frames, "how often the frame is drawn; the first builds the kernels")
      ->capture_default_str();
  demo->add_option("--tile-pixels", options.max_tile_pixels,
                   "most pixels of the photo in one tile (default: what the device can bind)");
  demo->add_flag("--json", json, "print the report as JSON");

  try {
    app.parse(argc, argv);
    const hearth::demo::Report report = hearth::demo::run(options);
    std::fputs((json ? to_json(report) : to_text(report)).c_str(), stdout);
    return 0;
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);  // --help
    const std::string sentence = error.what();
    std::fprintf(stderr, "hearth: %s%s\n", sentence.c_str(), sentence.ends_with('.') ? "" : ".");
  } catch (const std::bad_alloc&) {
    std::fputs("hearth: there is not enough memory for this.\n", stderr);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "hearth: %s\n", error.what());
  }
  return 1;
}
