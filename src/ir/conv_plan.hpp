#pragma once
#include <cstdint>

#include "hearth/device.hpp"
#include "ir/kernel.hpp"
#include "ir/tiled_shape.hpp"

namespace hearth::ir {

struct ConvPlan {
  enum class Kind : std::uint8_t {
    one_each,  ///< an invocation computes one output (packed outputs: a word)
    product,   ///< a 1x1 convolution that is a matrix product
    direct,    ///< an invocation computes some pixels of a row and some channels from operands read from storage
    tiled,     ///< a workgroup shares a piece of the image and of the weights in workgroup memory
  };
  Kind kind = Kind::direct;
  int pixels = 1, channels = 1;  ///< of outputs an invocation
  std::uint32_t lanes = 64;      ///< invocations a workgroup
  bool input_by_four = false;    ///< nhwc: four channels of the input at once
  bool weight_by_four = false;   ///< nhwc: four output channels of the weight at once
  bool fours = false;            ///< outputs are stored four at once
  bool unroll_width = true;      ///< the columns of the weight are printed one by one
  TiledShape tiled;
};

/// The convolution's geometry put into a shape; as many rows of taps at once as fit into workgroup memory, 0 when not one does.
[[nodiscard]] TiledShape fit_tile(TiledShape shape, const Conv2d& conv, const DeviceInfo& info);
[[nodiscard]] ConvPlan plan_conv2d(const Kernel& kernel, const DeviceInfo& info);

}  // namespace hearth::ir
