#include "hearth/io/npy.hpp"

#include <fmt/format.h>

#include <array>
#include <cctype>
#include <charconv>
#include <cstring>
#include <optional>
#include <string_view>

#include "file.hpp"

namespace hearth::io {
namespace {

constexpr std::string_view magic{"\x93NUMPY", 6};

struct Header {
  std::string descr;
  bool fortran = false;
  std::vector<std::int64_t> shape;
};

/// Reads the header of a .npy file: a Python dict literal with the keys descr, fortran_order and shape.
class HeaderParser {
 public:
  explicit HeaderParser(std::string_view text) : text_(text) {}

  std::optional<Header> parse() {
    Header header;
    bool seen[3] = {};
    if (!take('{')) return std::nullopt;
    while (!take('}')) {
      std::string key;
      if (!string(key) || !take(':')) return std::nullopt;
      bool ok = false;
      if (key == "descr") ok = seen[0] = string(header.descr);
      if (key == "fortran_order") ok = seen[1] = boolean(header.fortran);
      if (key == "shape") ok = seen[2] = tuple(header.shape);
      if (!ok) return std::nullopt;
      if (!take(',') && peek() != '}') return std::nullopt;
    }
    skip();
    if (at_ != text_.size() || !seen[0] || !seen[1] || !seen[2]) return std::nullopt;
    return header;
  }

 private:
  void skip() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_]))) ++at_;
  }
  char peek() {
    skip();
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool take(char c) {
    if (at_ == text_.size() || peek() != c) return false;
    ++at_;
    return true;
  }
  bool string(std::string& out) {
    const char quote = peek();
    if (quote != '\'' && quote != '"') return false;
    const std::size_t end = text_.find(quote, at_ + 1);
    if (end == std::string_view::npos) return false;
    out = text_.substr(at_ + 1, end - at_ - 1);
    at_ = end + 1;
    return true;
  }
  bool boolean(bool& out) {
    skip();
    const std::string_view rest = text_.substr(at_);
    out = rest.starts_with("True");
    if (!out && !rest.starts_with("False")) return false;
    at_ += out ? 4 : 5;
    return true;
  }
  bool tuple(std::vector<std::int64_t>& out) {
    if (!take('(')) return false;
    while (!take(')')) {
      skip();
      std::int64_t value = 0;
      const char* end = text_.data() + text_.size();
      const auto [next, error] = std::from_chars(text_.data() + at_, end, value);
      if (error != std::errc() || value < 0) return false;
      at_ = static_cast<std::size_t>(next - text_.data());
      out.push_back(value);
      if (!take(',') && peek() != ')') return false;
    }
    return true;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

struct Spelling {
  const char* descr;
  DType dtype;
};
constexpr std::array<Spelling, 8> spellings = {{{"<f2", DType::f16},
                                                {"<f4", DType::f32},
                                                {"<f8", DType::f64},
                                                {"<i4", DType::i32},
                                                {"<u4", DType::u32},
                                                {"|i1", DType::i8},
                                                {"|u1", DType::u8},
                                                {"|b1", DType::boolean}}};

/// Elements stored with the first axis fastest, brought into row-major order.
std::vector<std::byte> from_fortran(std::span<const std::byte> data, const Shape& shape, std::size_t element) {
  std::vector<std::byte> result(data.size());
  Shape at = Shape::filled(shape.rank(), 0);
  Shape strides;
  std::int64_t stride = 1;
  for (std::int64_t dim : shape) {
    strides.push_back(stride);
    stride *= dim;
  }
  for (std::size_t to = 0; to < data.size(); to += element) {
    std::int64_t from = 0;
    for (int axis = 0; axis < shape.rank(); ++axis) from += at[axis] * strides[axis];
    std::memcpy(result.data() + to, data.data() + static_cast<std::size_t>(from) * element, element);
    for (int axis = shape.rank() - 1; axis >= 0 && ++at[axis] == shape[axis]; --axis) at[axis] = 0;
  }
  return result;
}

}  // namespace

Array parse_npy(std::span<const std::byte> file, const std::string& name) {
  const auto byte = [&](std::size_t i) { return std::to_integer<std::uint64_t>(file[i]); };
  if (file.size() < 6 || std::string_view(as_chars(file), 6) != magic) fail("npy", name, "it is not a .npy file.");
  if (file.size() < 10) fail("npy", name, "it is cut off in its header.");
  const std::uint64_t version = byte(6);
  if (version < 1 || version > 3) fail("npy", name, fmt::format("its format version is {}, known are 1 to 3.", version));
  const std::size_t prefix = version == 1 ? 10 : 12;
  if (file.size() < prefix) fail("npy", name, "it is cut off in its header.");
  std::uint64_t header_bytes = byte(8) | byte(9) << 8;
  if (version > 1) header_bytes |= byte(10) << 16 | byte(11) << 24;
  if (file.size() - prefix < header_bytes) fail("npy", name, "it is cut off in its header.");
  const std::string_view text(as_chars(file) + prefix, static_cast<std::size_t>(header_bytes));
  const std::optional<Header> header = HeaderParser(text).parse();
  if (!header) fail("npy", name, "its header is not a dict of descr, fortran_order and shape.");

  const Spelling* spelling = nullptr;
  for (const Spelling& known : spellings)
    if (header->descr == known.descr) spelling = &known;
  if (!spelling) fail("npy", name, fmt::format("its dtype is \"{}\"; known are <f2 <f4 <f8 <i4 <u4 |i1 |u1 |b1.", header->descr));
  if (header->shape.size() > std::size_t(max_rank))
    fail("npy", name, fmt::format("it has {} dimensions, the limit is {}.", header->shape.size(), max_rank));
  const std::size_t element = host_size_bytes(spelling->dtype);
  const std::optional<std::uint64_t> need = checked_bytes(header->shape, element);
  const Shape shape{std::span<const std::int64_t>(header->shape)};
  const std::uint64_t have = file.size() - prefix - header_bytes;
  if (!need) fail("npy", name, "its shape has more elements than can be addressed.");
  if (*need != have)
    fail("npy", name,
         fmt::format("its shape {} of {} needs {} bytes, the file has {}.", to_string(shape), to_string(spelling->dtype), *need,
                     have));
  const std::span<const std::byte> data = file.subspan(prefix + static_cast<std::size_t>(header_bytes));
  Array array{shape, spelling->dtype, {}};
  if (header->fortran && shape.rank() > 1)
    array.bytes = from_fortran(data, shape, element);
  else
    array.bytes.assign(data.begin(), data.end());
  return array;
}

Array load_npy(const std::string& path) { return parse_npy(read_file(path), path); }

std::vector<std::byte> encode_npy(const Array& array) {
  const char* descr = "";
  for (const Spelling& known : spellings)
    if (known.dtype == array.dtype) descr = known.descr;
  std::string shape;
  for (std::int64_t dim : array.shape) shape += fmt::format("{}, ", dim);
  // A tuple of one keeps its comma, longer ones lose it, as NumPy writes them.
  if (array.shape.rank() == 1) shape.pop_back();
  if (array.shape.rank() > 1) shape.resize(shape.size() - 2);
  std::string header = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}", descr, shape);
  // The data begin at a multiple of 64 bytes; the header ends with a line feed.
  header.append((64 - (10 + header.size() + 1) % 64) % 64, ' ');
  header += '\n';
  std::string prefix(magic);
  prefix += {'\x01', '\x00', static_cast<char>(header.size() & 0xFF), static_cast<char>(header.size() >> 8)};
  std::vector<std::byte> file;
  for (const std::string& part : {prefix, header}) file.insert(file.end(), as_bytes(part).begin(), as_bytes(part).end());
  file.insert(file.end(), array.bytes.begin(), array.bytes.end());
  return file;
}

void save_npy(const Array& array, const std::string& path) { write_file(path, encode_npy(array)); }

}  // namespace hearth::io
