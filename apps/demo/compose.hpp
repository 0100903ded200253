#pragma once
#include <span>
#include <vector>

#include "hearth/io/image.hpp"

namespace hearth::demo {

/// White columns between the two halves of the picture.
inline constexpr int divider_width = 4;

/// The picture as the render pass draws it, on the CPU: a bicubic enlargement of `photo` (RGBA), the divider, and `enlarged`
/// [height * scale, width * scale, 3].
[[nodiscard]] io::Image compose(const io::Image& photo, std::span<const float> enlarged, int scale);

}  // namespace hearth::demo
