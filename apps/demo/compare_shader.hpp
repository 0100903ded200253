#pragma once

namespace hearth::demo {

/// The app's shaders. Left of the divider: bicubic (Catmull-Rom) from the photo's texture; right of it: a tile of the network's
/// result, read from the tensor's own buffer.
inline constexpr const char* compare_wgsl = R"(
struct Draw {
  photo: vec2<i32>,    // size of the photo
  cell: vec2<i32>,     // where the render target lies in the picture
  tile: vec2<i32>,     // where the tile lies in the enlarged photo
  tile_width: i32,
  scale: i32,
  panel: i32,          // first column of the right half in the picture
  divider: i32,        // first column of the divider
}
@group(0) @binding(0) var<uniform> draw: Draw;
@group(0) @binding(1) var photo: texture_2d<f32>;
@group(1) @binding(0) var<storage, read> enlarged: array<f32>;

@vertex fn vertex(@builtin(vertex_index) i: u32) -> @builtin(position) vec4<f32> {
  return vec4<f32>(f32(i32(i) % 2) * 4.0 - 1.0, f32(i32(i) / 2) * 4.0 - 1.0, 0.0, 1.0);
}

fn cubic(t: f32) -> vec4<f32> {
  let t2 = t * t;
  let t3 = t2 * t;
  return 0.5 * vec4<f32>(-t + 2.0 * t2 - t3, 2.0 - 5.0 * t2 + 3.0 * t3, t + 4.0 * t2 - 3.0 * t3, t3 - t2);
}

@fragment fn bicubic(@builtin(position) position: vec4<f32>) -> @location(0) vec4<f32> {
  let pixel = vec2<i32>(position.xy) + draw.cell;
  if (pixel.x >= draw.divider) {
    return vec4<f32>(1.0);
  }
  let at = (vec2<f32>(pixel) + 0.5) / f32(draw.scale) - 0.5;
  let base = floor(at);
  let x = cubic(at.x - base.x);
  let y = cubic(at.y - base.y);
  var sum = vec3<f32>(0.0);
  for (var j = 0; j < 4; j++) {
    for (var i = 0; i < 4; i++) {
      let texel = clamp(vec2<i32>(base) + vec2<i32>(i - 1, j - 1), vec2<i32>(0), draw.photo - 1);
      sum += x[i] * y[j] * textureLoad(photo, texel, 0).rgb;
    }
  }
  return vec4<f32>(sum, 1.0);
}

@fragment fn network(@builtin(position) position: vec4<f32>) -> @location(0) vec4<f32> {
  let pixel = vec2<i32>(position.xy) + draw.cell - vec2<i32>(draw.panel, 0) - draw.tile;
  let at = (pixel.y * draw.tile_width + pixel.x) * 3;
  return vec4<f32>(enlarged[at], enlarged[at + 1], enlarged[at + 2], 1.0);
}
)";

}  // namespace hearth::demo
