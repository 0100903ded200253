#pragma once
#include <string>
#include <vector>

#include "hearth/device.hpp"
#include "hearth/io/tfjs.hpp"

/// Models and devices of these tests.
namespace model {

/// Folder of esrgan-slim at `scale` where ./hearth puts it.
std::string folder(int scale);

/// The devices that the network is tried on, with their names: the CPU, and the GPU where there is one.
struct Named {
  std::string name;
  hearth::Device device;
};
const std::vector<Named>& devices();
/// Whether there is a WebGPU adapter. With HEARTH_REQUIRE_GPU=1 its absence is a failed check.
bool has_gpu();

/// A network of one 3x3 convolution, one upsampling by 2 and a 3x3 convolution with 2 channels between, and its weights.
hearth::io::TfjsLayersModel small();
/// Replaces `from` (which must be there) by `to` in the topology.
hearth::io::TfjsLayersModel changed(hearth::io::TfjsLayersModel model, const std::string& from, const std::string& to);

}  // namespace model
