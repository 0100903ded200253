#include "models/esrgan.hpp"

#include <doctest/doctest.h>

#include "hearth/ops.hpp"
#include "model.hpp"
#include "reference.hpp"

using namespace hearth;

namespace {

/// Agreement with double precision, as the design asks for it.
constexpr double reference_tolerance = 1e-4;
/// Tiles take the same sums in another order at most.
constexpr double tile_tolerance = 1e-5;

Tensor upload(const reference::Picture& picture, const Device& device) {
  const std::vector<float> values(picture.values.begin(), picture.values.end());
  return tensor(values, {picture.height, picture.width, picture.channels}, device);
}

std::vector<double> as_doubles(const std::vector<float>& values) { return {values.begin(), values.end()}; }

}  // namespace

TEST_CASE("every scale agrees with double precision on every device") {
  const reference::Picture image = reference::test_picture(20, 24, 3);
  for (int scale : {2, 3, 4}) {
    const reference::Picture want = reference::enlarge(model::folder(scale), scale, image);
    for (const model::Named& on : model::devices())
      for (const bool fold : {true, false}) {
        const models::Esrgan network(model::folder(scale) + "/model.json", on.device, {.fold = fold});
        CHECK(network.scale() == scale);
        const Tensor result = network.enlarge(upload(image, on.device));
        CHECK(result.shape() == Shape{20 * scale, 24 * scale, 3});
        const double difference = reference::largest_difference(want.values, result.read<float>().get());
        MESSAGE("x" << scale << " on " << on.name << std::string(fold ? ", folded: " : ", as it is: ") << difference);
        CHECK(difference <= reference_tolerance);
      }
  }
}

TEST_CASE("tiles join without a seam, on every device") {
  const reference::Picture image = reference::test_picture(41, 67, 4);
  for (int scale : {2, 3}) {
    for (const model::Named& on : model::devices()) {
      const models::Esrgan network(model::folder(scale) + "/model.json", on.device);
      const Tensor input = upload(image, on.device);
      const std::vector<float> whole = network.enlarge(input).read<float>().get();
      const std::vector<models::Tile> tiles = network.enlarge_in_tiles(input, 40 * 35);
      CHECK(tiles.size() >= 4);
      const std::vector<float> joined = models::read_tiles(tiles, 67, 41, scale);
      const double difference = reference::largest_difference(as_doubles(whole), joined);
      MESSAGE("x" << scale << " on " << on.name << ", " << tiles.size() << " tiles: " << difference);
      CHECK(difference <= tile_tolerance);
    }
  }
}

TEST_CASE("tiles agree with double precision") {
  const int scale = 2;
  const reference::Picture rgb = reference::test_picture(30, 45, 3);
  const reference::Picture want = reference::enlarge(model::folder(scale), scale, rgb);
  for (const model::Named& on : model::devices()) {
    const models::Esrgan network(model::folder(scale) + "/model.json", on.device);
    const std::vector<models::Tile> tiles = network.enlarge_in_tiles(upload(rgb, on.device), 30 * 30);
    CHECK(tiles.size() >= 2);
    CHECK(reference::largest_difference(want.values, models::read_tiles(tiles, 45, 30, scale)) <= reference_tolerance);
  }
}

TEST_CASE("tiles are flushed and nothing waits") {
  const Device device = Device::null();
  const models::Esrgan network(model::folder(2) + "/model.json", device);
  const Tensor input = upload(reference::test_picture(64, 64, 4), device);
  device.sync(SyncType::flush);
  const Statistics before = device.statistics();
  const std::vector<models::Tile> tiles = network.enlarge_in_tiles(input, 50 * 50);
  device.sync(SyncType::flush);
  const Statistics spent = device.statistics() - before;
  CHECK(tiles.size() == 3);  // bands of 39 rows: 29, 19 and 16 of them are each one's own
  CHECK(spent.submits >= tiles.size());
  CHECK(spent.waits == 0);
  CHECK(spent.bytes_read == 0);
  CHECK(spent.bytes_written == 0);
}

TEST_CASE("a picture whose layers exceed a binding is cut by itself") {
  DeviceInfo info;
  info.max_binding_bytes = 128u << 20;
  const Device device = Device::null({}, info);
  const models::Esrgan network(model::folder(2) + "/model.json", device);
  CHECK(network.max_pixels() == 1024 * 512);  // 64 channels
  const Tensor input = tensor(std::vector<float>(1280 * 720 * 4), {720, 1280, 4}, device);
  const std::vector<models::Tile> tiles = network.enlarge_in_tiles(input);
  CHECK(tiles.size() == 2);
}

TEST_CASE("bad images and devices that are too small give one sentence") {
  const Device device = Device::null();
  const models::Esrgan network(model::folder(2) + "/model.json", device);
  CHECK_THROWS_WITH_AS((void)network.enlarge(zeros({4, 4}, DType::f32, device)),
                       "esrgan: the image has shape [4, 4], it must be [height, width, 3 or more].", Error);
  CHECK_THROWS_WITH_AS((void)network.enlarge(zeros({4, 4, 1}, DType::f32, device)),
                       "esrgan: the image has shape [4, 4, 1], it must be [height, width, 3 or more].", Error);
  CHECK_THROWS_WITH_AS((void)network.enlarge_in_tiles(zeros({64, 64, 3}, DType::f32, device), 100),
                       "esrgan: one pixel with its halo of 10 needs 441 pixels at once, the device takes 100.", Error);
}
