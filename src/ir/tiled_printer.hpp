#pragma once
#include <cstdint>
#include <functional>
#include <string>

#include "ir/matmul_printer.hpp"
#include "ir/tiled_shape.hpp"

namespace hearth::ir {

/// What the image and the weights are. All texts are i32 unless said otherwise; `x`, `y` count from the piece's first pixel.
struct TiledOperands {
  std::string setup;  ///< statements before everything, after `group` (u32, the workgroup's number) is known
  std::function<std::string(const std::string& x, const std::string& y)> pixel;      ///< where its elements begin
  std::function<std::string(const std::string& x, const std::string& y)> inside;     ///< bool; "true": everywhere
  std::function<std::string(const std::string& pixel, const std::string& k)> image;  ///< vec4 of the elements k..k+3
  /// vec4 of the weights of tap (ky, kx) and k for the channels from `channel` on.
  std::function<std::string(const std::string& ky, const std::string& kx, const std::string& k, const std::string& channel)>
      weight;
  bool image_k_fastest = false;   ///< whether neighbouring invocations load neighbouring k of the image
  bool weight_k_fastest = false;  ///< the same for the weights
  bool outputs_by_four = false;
  /// Place of accumulator (pixel, channel); `px`, `py`, `channel` are texts of its coordinates within the tile.
  std::function<TilePlace(const std::string& px, const std::string& py, const std::string& channel)> place;
};

/// The kernels of this form.
[[nodiscard]] Expected<Wgsl> print_matmul_tiled(const MatmulSource& source, const MatmulPlan& plan, const DeviceInfo& info);
[[nodiscard]] Expected<Wgsl> print_conv_tiled(const Kernel& kernel, const TiledShape& shape, const DeviceInfo& info);

[[nodiscard]] Expected<Wgsl> print_tiled(WgslModule& module, Outputs& outputs, const TiledShape& shape,
                                         const TiledOperands& operands, std::uint64_t workgroups);

}  // namespace hearth::ir
