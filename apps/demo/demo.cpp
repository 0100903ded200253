#include "demo/demo.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>

#include "hearth/io/npy.hpp"

namespace hearth::demo {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const std::string& sentence) { throw Error(ErrorCode::invalid_argument, "demo: " + sentence); }

/// Where ./hearth puts what it downloads.
fs::path cache() {
  const char* xdg = std::getenv("XDG_CACHE_HOME");
  const char* home = std::getenv("HOME");
  return (xdg && *xdg ? fs::path(xdg) : fs::path(home ? home : ".") / ".cache") / "hearth";
}

std::string find_model(const Options& options) {
  const fs::path folder = options.model.empty() ? cache() / "esrgan-slim-1.0.0" / "package" / "models" : fs::path(options.model);
  for (const fs::path& path : {folder / "model.json", folder / fmt::format("x{}", options.scale) / "model.json"})
    if (fs::exists(path)) return path.string();
  fail(fmt::format("there is no model for scale {} in \"{}\"{}.", options.scale, folder.string(),
                   options.model.empty() ? "; \"./hearth demo\" fetches it" : ""));
}

/// The default: the cat's face, small enough for a software driver.
io::Image crop(const io::Image& image, int x, int y, int side) {
  if (image.width < x + side || image.height < y + side) return image;
  io::Image part{side, side, image.channels, {}};
  for (int row = 0; row < side; ++row) {
    const auto begin = image.pixels.begin() + std::ptrdiff_t(((y + row) * image.width + x) * image.channels);
    part.pixels.insert(part.pixels.end(), begin, begin + std::ptrdiff_t(side * image.channels));
  }
  return part;
}

void check_output(const std::string& path) {
  // Before minutes of work, not after.
  const fs::path folder = fs::path(path).parent_path();
  if (!folder.empty() && !fs::is_directory(folder))
    fail(fmt::format("the folder \"{}\" for \"{}\" does not exist.", folder.string(), path));
  if (fs::is_directory(path)) fail(fmt::format("\"{}\" is a folder, not a file to write.", path));
}

Work prepare(const Options& options) {
  if (options.scale < 2 || options.scale > 4) fail(fmt::format("the scale is {}, it must be 2, 3 or 4.", options.scale));
  if (options.frames < 1) fail(fmt::format("the number of frames is {}, it must be 1 or more.", options.frames));
  check_output(options.output);
  if (!options.raw.empty()) check_output(options.raw);
  Work work{options, {}, {}, find_model(options)};
  if (!options.photo.empty()) {
    work.photo_name = options.photo;
    work.photo = io::load_image(options.photo, io::Channels::rgba);
    return work;
  }
  const fs::path photo = cache() / "photos" / "chelsea.png";
  if (!fs::exists(photo))
    fail(fmt::format("the photo \"{}\" is missing: \"./hearth demo\" fetches it, or give --photo FILE.", photo.string()));
  work.photo = crop(io::load_image(photo.string(), io::Channels::rgba), 96, 16, 256);
  work.photo_name = "chelsea.png (part)";
  return work;
}

}  // namespace

void check_scale(int model_scale, const Work& work) {
  if (model_scale != work.options.scale)
    fail(fmt::format("the model \"{}\" enlarges by {}, scale {} was asked for.", work.model_json, model_scale,
                     work.options.scale));
}

Report run(const Options& options) {
  const Work work = prepare(options);
  Report report{.photo = work.photo_name,
                .output = options.output,
                .raw = options.raw,
                .photo_width = work.photo.width,
                .photo_height = work.photo.height,
                .scale = options.scale};
  Result result;
  if (options.device == "cpu") {
    result = run_on_cpu(work, report);
  } else {
#ifdef HEARTH_HAS_WEBGPU
    result = run_on_gpu(work, report);
#else
    fail("this build has no WebGPU; use --device cpu.");
#endif
  }
  report.picture_width = result.picture.width;
  report.picture_height = result.picture.height;
  io::save_png(result.picture, options.output);
  if (!options.raw.empty())
    io::save_npy(io::make_array<float>(result.raw, {std::int64_t{work.photo.height} * options.scale,
                                                    std::int64_t{work.photo.width} * options.scale, 3}),
                 options.raw);
  return report;
}

}  // namespace hearth::demo
