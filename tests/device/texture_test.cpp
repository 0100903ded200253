#include <array>
#include <cmath>

#include "device/fixture.hpp"

namespace hearth::test {

namespace {

constexpr WGPUTextureUsage all_uses = WGPUTextureUsage_TextureBinding | WGPUTextureUsage_CopyDst | WGPUTextureUsage_CopySrc;

struct Texture {
  Texture(const App& app, WGPUTextureFormat format, std::uint32_t width, std::uint32_t height, WGPUTextureUsage usage = all_uses,
          std::uint32_t layers = 1) {
    WGPUTextureDescriptor descriptor = {};
    descriptor.usage = usage;
    descriptor.dimension = WGPUTextureDimension_2D;
    descriptor.size = {width, height, layers};
    descriptor.format = format;
    descriptor.mipLevelCount = 1;
    descriptor.sampleCount = 1;
    handle = wgpuDeviceCreateTexture(app.device, &descriptor);
  }
  ~Texture() { wgpuTextureRelease(handle); }
  WGPUTexture handle = nullptr;
};

void write(const App& app, const Texture& texture, const void* texels, std::uint32_t width, std::uint32_t height,
           std::uint32_t bytes_per_texel) {
  WGPUTexelCopyTextureInfo to = {};
  to.texture = texture.handle;
  to.aspect = WGPUTextureAspect_All;
  WGPUTexelCopyBufferLayout layout = {};
  layout.bytesPerRow = width * bytes_per_texel;
  layout.rowsPerImage = height;
  const WGPUExtent3D extent = {width, height, 1};
  wgpuQueueWriteTexture(app.queue, &to, texels, std::size_t{width} * height * bytes_per_texel, &layout, &extent);
}

std::vector<float> import(const Fixture& f, const Texture& texture) {
  const runtime::webgpu::ImportedTexture imported = runtime::webgpu::import_texture(*f.channel, texture.handle).value();
  CHECK(imported.width == wgpuTextureGetWidth(texture.handle));
  CHECK(imported.height == wgpuTextureGetHeight(texture.handle));
  return f.read(imported.handle);
}

}  // namespace

TEST_CASE("an rgba8 texture becomes f32 in 0 to 1, row by row, at odd sizes") {
  const Fixture f;
  const std::uint32_t width = 37, height = 21;
  const Texture texture(f.app, WGPUTextureFormat_RGBA8Unorm, width, height);
  std::vector<std::uint8_t> texels(std::size_t{width} * height * 4);
  for (std::size_t i = 0; i < texels.size(); ++i) texels[i] = static_cast<std::uint8_t>(i * 7);
  write(f.app, texture, texels.data(), width, height, 4);
  const std::vector<float> got = import(f, texture);
  REQUIRE(got.size() == texels.size());
  for (std::size_t i = 0; i < texels.size(); ++i) REQUIRE(std::fabs(got[i] - static_cast<float>(texels[i]) / 255) < 1e-6f);
}

TEST_CASE("missing channels read as 0, alpha as 1, and bgra comes as rgba") {
  const Fixture f;
  const std::array<std::uint8_t, 4> bytes = {51, 102, 153, 204};
  const auto close = [](const std::vector<float>& got, const std::array<float, 4>& want) {
    for (std::size_t i = 0; i < 4; ++i) CHECK(std::fabs(got[i] - want[i]) < 1e-6f);
  };
  const auto one = [&](WGPUTextureFormat format, const void* texel, std::uint32_t size) {
    const Texture texture(f.app, format, 1, 1);
    write(f.app, texture, texel, 1, 1, size);
    return import(f, texture);
  };
  close(one(WGPUTextureFormat_R8Unorm, bytes.data(), 1), {0.2f, 0, 0, 1});
  close(one(WGPUTextureFormat_RG8Unorm, bytes.data(), 2), {0.2f, 0.4f, 0, 1});
  close(one(WGPUTextureFormat_BGRA8Unorm, bytes.data(), 4), {0.6f, 0.4f, 0.2f, 0.8f});
  const std::array<float, 4> floats = {1.5f, -2, 0.25f, 1e6f};
  close(one(WGPUTextureFormat_R32Float, floats.data(), 4), {1.5f, 0, 0, 1});
  close(one(WGPUTextureFormat_RG32Float, floats.data(), 8), {1.5f, -2, 0, 1});
  close(one(WGPUTextureFormat_RGBA32Float, floats.data(), 16), floats);
  const std::array<std::uint16_t, 4> halves = {0x3c00, 0xc000, 0x3400, 0x3800};  // 1, -2, 0.25, 0.5
  close(one(WGPUTextureFormat_R16Float, halves.data(), 2), {1, 0, 0, 1});
  close(one(WGPUTextureFormat_RG16Float, halves.data(), 4), {1, -2, 0, 1});
  close(one(WGPUTextureFormat_RGBA16Float, halves.data(), 8), {1, -2, 0.25f, 0.5f});
}

TEST_CASE("a texture that cannot be read is refused with what it lacks") {
  const Fixture f;
  const auto message = [&f](const Texture& texture) {
    const Expected<runtime::webgpu::ImportedTexture> result = runtime::webgpu::import_texture(*f.channel, texture.handle);
    return result ? std::string() : result.error().message;
  };
  CHECK(message(Texture(f.app, WGPUTextureFormat_RGBA8Unorm, 4, 4, WGPUTextureUsage_CopyDst)).find("TextureBinding") !=
        std::string::npos);
  CHECK(message(Texture(f.app, WGPUTextureFormat_RGBA8Uint, 4, 4)).find("rgba8unorm") != std::string::npos);
  CHECK(message(Texture(f.app, WGPUTextureFormat_RGBA8Unorm, 4, 4, all_uses, 2)).find("layer") != std::string::npos);
  CHECK(message(Texture(f.app, WGPUTextureFormat_RGBA8Unorm, 4096, 4096)).find("maxStorageBufferBindingSize") !=
        std::string::npos);
}

TEST_CASE("a texture destroyed before the flush is an error, no end of the process") {
  const Fixture f;
  const Texture texture(f.app, WGPUTextureFormat_RGBA8Unorm, 4, 4);
  (void)runtime::webgpu::import_texture(*f.channel, texture.handle).value();
  wgpuTextureDestroy(texture.handle);
  CHECK_THROWS_AS(f.flush(), Error);
  CHECK(f.read(f.make(range(4))) == range(4));
}

TEST_CASE("three or four channels go into rgba8 and rgba32float textures") {
  const Fixture f;
  const std::uint32_t width = 19, height = 5;
  for (const std::uint32_t channels : {3u, 4u}) {
    std::vector<float> image(std::size_t{width} * height * channels);
    for (std::size_t i = 0; i < image.size(); ++i) image[i] = static_cast<float>(i % 256) / 255;
    const Handle tensor = f.make(image);
    for (const WGPUTextureFormat format : {WGPUTextureFormat_RGBA8Unorm, WGPUTextureFormat_RGBA32Float}) {
      const Texture texture(f.app, format, width, height);
      runtime::webgpu::export_texture(*f.channel, tensor, width, height, channels, texture.handle).value();
      const std::vector<float> got = import(f, texture);
      for (std::size_t texel = 0; texel < std::size_t{width} * height; ++texel) {
        for (std::size_t c = 0; c < 4; ++c) {
          const float want = c < channels ? image[texel * channels + c] : 1;
          REQUIRE(std::fabs(got[texel * 4 + c] - want) < 1e-6f);
        }
      }
    }
  }
}

TEST_CASE("an export into a texture that does not fit is refused with both sizes") {
  const Fixture f;
  const Handle image = f.make(std::vector<float>(4 * 4 * 3));
  const auto message = [&](const Texture& texture) {
    const Expected<void> result = runtime::webgpu::export_texture(*f.channel, image, 4, 4, 3, texture.handle);
    return result ? std::string() : result.error().message;
  };
  CHECK(message(Texture(f.app, WGPUTextureFormat_RGBA8Unorm, 5, 4)).find("5") != std::string::npos);
  CHECK(message(Texture(f.app, WGPUTextureFormat_R8Unorm, 4, 4)).find("rgba8unorm") != std::string::npos);
  CHECK(message(Texture(f.app, WGPUTextureFormat_RGBA8Unorm, 4, 4, WGPUTextureUsage_TextureBinding)).find("CopyDst") !=
        std::string::npos);
}

TEST_CASE("textures go through a scope of the app's encoder") {
  const Fixture f;
  const Texture from(f.app, WGPUTextureFormat_RGBA32Float, 3, 3);
  const Texture to(f.app, WGPUTextureFormat_RGBA32Float, 3, 3);
  const std::vector<float> texels = range(36);
  write(f.app, from, texels.data(), 3, 3, 16);
  WGPUCommandEncoder encoder = f.app.make_encoder();
  const std::uint64_t scope = runtime::webgpu::begin_encoding(*f.channel, encoder).value();
  const Handle imported = runtime::webgpu::import_texture(*f.channel, from.handle).value().handle;
  const Handle doubled = f.run(affine(36), {imported}, {2, 0});
  runtime::webgpu::export_texture(*f.channel, doubled, 3, 3, 4, to.handle).value();
  runtime::webgpu::end_encoding(*f.channel, scope).value();
  f.app.submit(encoder);
  runtime::webgpu::finish_encoding(*f.channel, scope, true).value();
  CHECK(import(f, to) == range(36, 0, 2));
}

}  // namespace hearth::test
