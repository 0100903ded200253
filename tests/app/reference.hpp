#pragma once
// The network in double precision, written by hand from its paper-and-pencil description: nothing of Hearth is used, so that an
// error in the loader, the fold, an op or a kernel shows.
#include <string>
#include <vector>

namespace reference {

/// [height, width, channels], row-major.
struct Picture {
  int height = 0;
  int width = 0;
  int channels = 0;
  std::vector<double> values;
};

/// Runs esrgan-slim at `scale` from `folder` (model.json and its one weight file) on `image`, 3 channels in 0..1.
Picture enlarge(const std::string& folder, int scale, const Picture& image);

/// A picture with edges and noise, the same at every run; channels >= 3, further ones are 1.
Picture test_picture(int height, int width, int channels);

/// Largest difference; infinity when sizes differ.
double largest_difference(const std::vector<double>& want, const std::vector<float>& got);

}  // namespace reference
