#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "demo/demo.hpp"

namespace hearth::demo {
namespace {

/// Of the frames after the first; the first builds kernels.
double median_ms(const Report& report) {
  std::vector<double> later(report.frame_ms.begin() + (report.frame_ms.size() > 1 ? 1 : 0), report.frame_ms.end());
  if (later.empty()) return 0;
  std::ranges::sort(later);
  return later[later.size() / 2];
}

}  // namespace

std::string to_text(const Report& report) {
  const std::size_t frames = report.frame_ms.size();
  std::string text;
  text += fmt::format("device    {} ({})\n", report.device, report.backend);
  text += fmt::format("photo     {}, {} x {} -> {} x {}\n", report.photo, report.photo_width, report.photo_height,
                      report.photo_width * report.scale, report.photo_height * report.scale);
  text += fmt::format("network   esrgan-slim x{}, {} weights, {} {}\n", report.scale, report.weights, report.tiles,
                      report.tiles == 1 ? "tile" : "tiles");
  text += fmt::format("frames    first {:.1f} ms", report.frame_ms.empty() ? 0 : report.frame_ms.front());
  if (frames > 1) text += fmt::format(", then {:.1f} ms (median of {})", median_ms(report), frames - 1);
  text += fmt::format("\nhearth    in {} frames: {} submits, {} waits, {} bytes through the host\n", frames,
                      report.frames.submits, report.frames.waits, report.bytes_through_host());
  text += fmt::format("picture   {}, {} x {}: bicubic on the left, the network on the right\n", report.output,
                      report.picture_width, report.picture_height);
  if (!report.raw.empty()) text += fmt::format("raw       {}\n", report.raw);
  return text;
}

std::string to_json(const Report& report) {
  const nlohmann::ordered_json json = {
      {"device", report.device},
      {"backend", report.backend},
      {"photo", report.photo},
      {"photo_width", report.photo_width},
      {"photo_height", report.photo_height},
      {"scale", report.scale},
      {"weights", report.weights},
      {"weight_bytes", report.weight_bytes},
      {"tiles", report.tiles},
      {"frames", report.frame_ms.size()},
      {"ms_first", report.frame_ms.empty() ? 0 : report.frame_ms.front()},
      {"ms_following", median_ms(report)},
      {"ms", report.frame_ms},
      {"submits", report.frames.submits},
      {"app_submits", report.app_submits},
      {"waits", report.frames.waits},
      {"bytes_through_host", report.bytes_through_host()},
      {"bytes_written", report.frames.bytes_written},
      {"bytes_read", report.frames.bytes_read},
      {"dispatches", report.frames.dispatches},
      {"passes", report.frames.passes},
      {"pipelines", report.frames.pipelines},
      {"output", report.output},
      {"output_width", report.picture_width},
      {"output_height", report.picture_height},
      {"raw", report.raw},
  };
  return json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

}  // namespace hearth::demo
