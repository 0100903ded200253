#pragma once
#include "hearth/io/array.hpp"
#include "models/topology.hpp"

namespace hearth::models {

/// Layers with their weights.
struct Network {
  Topology topology;
  io::NamedArrays weights;
};

/// The same function with every nearest upsampling that only one convolution reads done by that convolution: it runs on the small
/// picture with one set of filters for each of the factor x factor places, and depth_to_space puts the places where they belong.
/// The large picture with all its channels, the largest layer of these networks, is never made.
[[nodiscard]] Network fold_upsampling(Network network);

/// The same function with every concatenation that only one convolution reads left out: the convolution of the joined channels is
/// the sum of the convolutions of the parts, each with its own channels of the filters. The joined picture is never made.
[[nodiscard]] Network fold_concatenation(Network network);

}  // namespace hearth::models
