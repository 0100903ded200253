#include "hearth/io/npy.hpp"

#include <doctest/doctest.h>

#include <string>

#include "files.hpp"

using namespace hearth;
using files::io_error;
using files::says;

namespace {

/// A .npy file of format 1 with this header and `data_bytes` bytes 0, 1, 2...
std::vector<std::byte> npy(const std::string& header, std::size_t data_bytes, char version = 1) {
  std::string file = "\x93NUMPY";
  file += version;
  file += '\0';
  file += static_cast<char>(header.size() & 0xFF);
  file += static_cast<char>(header.size() >> 8);
  if (version > 1) file += std::string(2, '\0');
  file += header;
  for (std::size_t i = 0; i < data_bytes; ++i) file += static_cast<char>(i);
  return files::bytes(file);
}
std::string message(const std::string& header, std::size_t data_bytes) {
  return io_error([&] { return io::parse_npy(npy(header, data_bytes), "a.npy"); });
}

}  // namespace

TEST_CASE("arrays of every dtype and rank come back as they were written") {
  files::Folder folder("npy");
  for (const DType dtype : {DType::boolean, DType::u8, DType::i8, DType::u32, DType::i32, DType::f16, DType::f32, DType::f64})
    for (const Shape& shape : {Shape{}, Shape{5}, Shape{2, 3}, Shape{2, 0, 3}, Shape{1, 2, 1, 2, 1, 2, 1, 2}}) {
      io::Array array{shape, dtype, {}};
      for (std::size_t i = 0; i < std::size_t(shape.elements()) * io::host_size_bytes(dtype); ++i)
        array.bytes.push_back(std::byte(i & 1));
      io::save_npy(array, folder.path("a.npy"));
      const io::Array read = io::load_npy(folder.path("a.npy"));
      CHECK(read.shape == shape);
      CHECK(read.dtype == dtype);
      CHECK(read.bytes == array.bytes);
    }
}

TEST_CASE("the header is what NumPy writes, padded to 64 bytes") {
  const float values[] = {1, 2, 3};
  const std::vector<std::byte> file = io::encode_npy(io::make_array<float>(values, {3}));
  const std::string text(reinterpret_cast<const char*>(file.data()), file.size());
  CHECK(text.substr(10, 59) == "{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }  ");
  CHECK((text.size() - 12) % 64 == 0);
  const std::vector<std::byte> rank2 = io::encode_npy(io::make_array<float>(values, {3, 1}));
  CHECK(std::string(reinterpret_cast<const char*>(rank2.data()), rank2.size()).find("'shape': (3, 1), }") != std::string::npos);
}

TEST_CASE("fortran order becomes row-major") {
  const io::Array array = io::parse_npy(npy("{'descr': '|u1', 'fortran_order': True, 'shape': (2, 3), }", 6), "f.npy");
  CHECK(array.values<std::uint8_t>() == std::vector<std::uint8_t>{0, 2, 4, 1, 3, 5});
}

TEST_CASE("format 2 and any spacing of the header are read") {
  const io::Array array = io::parse_npy(npy("{\"shape\":(2,),\"fortran_order\":False,\"descr\":\"|u1\"}\n", 2, 2), "v2.npy");
  CHECK(array.shape == Shape{2});
}

TEST_CASE("a bad npy file says what is wrong") {
  const std::string good = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }";
  CHECK(says(message(good, 23), {"a.npy", "[2, 3]", "f32", "24 bytes", "23"}));
  CHECK(says(message(good, 25), {"a.npy", "24 bytes", "25"}));
  CHECK(says(message("{'descr': '<i8', 'fortran_order': False, 'shape': (1,), }", 8), {"a.npy", "<i8", "<f4"}));
  CHECK(says(message("{'descr': '>f4', 'fortran_order': False, 'shape': (1,), }", 4), {">f4"}));
  CHECK(says(message("{'descr': '<f4', 'fortran_order': False, 'shape': (1,1,1,1,1,1,1,1,1), }", 4), {"9 dimensions", "8"}));
  CHECK(says(message("{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296, 4294967296), }", 4),
             {"addressed"}));
  for (const char* header :
       {"", "{", "{}", "[1]", "{'descr': '<f4'}", "{'descr': '<f4', 'fortran_order': Maybe, 'shape': (1,), }",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (-1,), }",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,), }",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1", "{'descr': [('x', '<f4')], 'shape': (1,)}"}) {
    CAPTURE(header);
    CHECK(says(message(header, 4), {"a.npy", "header"}));
  }
  CHECK(says(io_error([] { return io::parse_npy(files::bytes("PK\x03\x04 an npz"), "b.npz"); }), {"b.npz", "not a .npy file"}));
  CHECK(says(io_error([] { return io::parse_npy(files::bytes("\x93NUMPY"), "c.npy"); }), {"c.npy", "cut off"}));
  CHECK(says(io_error([] { return io::parse_npy(npy("{}", 0, 9), "d.npy"); }), {"d.npy", "version is 9"}));
}
