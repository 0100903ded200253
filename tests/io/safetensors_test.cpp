#include "hearth/io/safetensors.hpp"

#include <doctest/doctest.h>

#include "files.hpp"

using namespace hearth;
using files::io_error;
using files::says;

namespace {

std::vector<std::byte> file_of(const std::string& header, std::size_t data_bytes) {
  std::string file;
  for (int i = 0; i < 8; ++i) file += static_cast<char>(header.size() >> (8 * i) & 0xFF);
  return files::bytes(file + header + std::string(data_bytes, '\1'));
}
std::string message(const std::string& header, std::size_t data_bytes) {
  return io_error([&] { return io::parse_safetensors(file_of(header, data_bytes), "m.safetensors"); });
}

}  // namespace

TEST_CASE("tensors and metadata come back as they were written") {
  files::Folder folder("safetensors");
  io::Safetensors content;
  content.metadata["made by"] = "a \"test\"";
  const float floats[] = {1, 2, 3, 4, 5, 6};
  const std::int8_t bytes[] = {-1, 2, -3};
  content.tensors["b/kernel"] = io::make_array<float>(floats, {2, 3});
  content.tensors["a.bias"] = io::make_array<std::int8_t>(bytes, {3});
  content.tensors["empty"] = io::Array{{0, 4}, DType::f16, {}};
  content.tensors["flag"] = io::Array{{}, DType::boolean, {std::byte{1}}};
  io::save_safetensors(content, folder.path("m.safetensors"));
  const io::Safetensors read = io::load_safetensors(folder.path("m.safetensors"));
  CHECK(read.metadata == content.metadata);
  REQUIRE(read.tensors.size() == 4);
  for (const auto& [name, array] : content.tensors) {
    CHECK(read.tensors.at(name).shape == array.shape);
    CHECK(read.tensors.at(name).dtype == array.dtype);
    CHECK(read.tensors.at(name).bytes == array.bytes);
  }
}

TEST_CASE("bfloat16 is widened") {
  std::vector<std::byte> file = file_of(R"({"x":{"dtype":"BF16","shape":[2],"data_offsets":[0,4]}})", 4);
  const unsigned char one_and_minus_two[] = {0x80, 0x3F, 0x00, 0xC0};
  for (std::size_t i = 0; i < 4; ++i) file[file.size() - 4 + i] = std::byte{one_and_minus_two[i]};
  const io::Array array = io::parse_safetensors(file, "b").tensors.at("x");
  CHECK(array.values<float>() == std::vector<float>{1, -2});
}

TEST_CASE("a bad safetensors file says what is wrong, and which tensor") {
  CHECK(says(message(R"({"x":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})", 4),
             {"m.safetensors", "\"x\"", "byte 8", "has 4"}));
  CHECK(says(message(R"({"x":{"dtype":"F32","shape":[3],"data_offsets":[0,8]}})", 8), {"\"x\"", "[3]", "8 bytes"}));
  CHECK(says(message(R"({"x":{"dtype":"I64","shape":[1],"data_offsets":[0,8]}})", 8), {"\"x\"", "I64"}));
  CHECK(says(message(R"({"x":{"dtype":"F32","shape":[1],"data_offsets":[8,4]}})", 8), {"\"x\"", "ascending"}));
  CHECK(says(message(R"({"x":{"dtype":"F32","shape":[-1],"data_offsets":[0,4]}})", 4), {"\"x\"", "natural number"}));
  CHECK(says(message(R"({"x":{"dtype":"F32","shape":[1.5],"data_offsets":[0,4]}})", 4), {"\"x\"", "natural number"}));
  CHECK(says(message(R"({"x":{"dtype":"F32","shape":[1,1,1,1,1,1,1,1,1],"data_offsets":[0,4]}})", 4), {"\"x\"", "9 dimensions"}));
  CHECK(says(message(R"({"x":{"dtype":"F32","shape":[4611686018427387904,4],"data_offsets":[0,0]}})", 0),
             {"\"x\"", "does not fit"}));
  CHECK(says(message(R"({"x":{"shape":[1],"data_offsets":[0,4]}})", 4), {"\"x\"", "lacks"}));
  CHECK(says(message(R"({"x":7})", 0), {"\"x\"", "lacks"}));
  CHECK(says(
      message(R"({"x":{"dtype":"U8","shape":[4],"data_offsets":[0,4]},"y":{"dtype":"U8","shape":[4],"data_offsets":[2,6]}})", 6),
      {"\"x\"", "\"y\"", "overlap"}));
  CHECK(says(
      message(R"({"x":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},"y":{"dtype":"U8","shape":[2],"data_offsets":[4,6]}})", 6),
      {"bytes 2 to 4", "no tensor"}));
  CHECK(says(message(R"({"x":{"dtype":"U8","shape":[2],"data_offsets":[0,2]}})", 5), {"bytes 2 to 5", "no tensor"}));
  CHECK(says(
      message(R"({"x":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},"x":{"dtype":"U8","shape":[2],"data_offsets":[0,2]}})", 2),
      {"\"x\"", "twice"}));
  CHECK(says(message(R"({"__metadata__":{"a":1}})", 0), {"metadata", "\"a\"", "string"}));
  CHECK(says(message("[]", 0), {"JSON object"}));
  CHECK(says(message("{\"x\":", 0), {"JSON object"}));
  CHECK(says(message(std::string(100000, '['), 0), {"JSON object"}));
  CHECK(says(io_error([] { return io::parse_safetensors(files::bytes("1234567"), "s"); }), {"8 bytes"}));
  CHECK(says(io_error([] { return io::parse_safetensors(files::bytes(std::string("\x40\0\0\0\0\0\0\0{}", 10)), "s"); }),
             {"cut off", "64"}));
  CHECK(says(io_error([] { return io::parse_safetensors(files::bytes(std::string(8, '\xFF')), "s"); }), {"100000000"}));
}
