#include "file.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>

namespace hearth::io {
namespace {

struct CloseFile {
  void operator()(std::FILE* file) const noexcept { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, CloseFile>;

}  // namespace

void fail(const char* kind, const std::string& name, const std::string& problem) {
  throw Error(ErrorCode::io, fmt::format("{} \"{}\": {}", kind, name, problem));
}

std::vector<std::byte> read_file(const std::string& path) {
  // A folder opens without an error on Linux and fails at the first read only.
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) fail("file", path, "it is a folder.");
  const File file(std::fopen(path.c_str(), "rb"));
  if (!file) fail("file", path, fmt::format("it cannot be opened ({}).", std::strerror(errno)));
  std::vector<std::byte> bytes;
  const std::uintmax_t size = std::filesystem::file_size(path, ignored);
  // Pipes have no size: read in steps; the size is a hint only.
  bytes.resize(!ignored && size < (std::uintmax_t{1} << 40) ? static_cast<std::size_t>(size) + 1 : std::size_t{1} << 16);
  std::size_t used = 0;
  for (;;) {
    if (used == bytes.size()) bytes.resize(bytes.size() * 2);
    const std::size_t got = std::fread(bytes.data() + used, 1, bytes.size() - used, file.get());
    used += got;
    if (got == 0) break;
  }
  if (std::ferror(file.get())) fail("file", path, fmt::format("reading failed after {} bytes ({}).", used, std::strerror(errno)));
  bytes.resize(used);
  return bytes;
}

void write_file(const std::string& path, std::span<const std::byte> bytes) {
  std::FILE* file = std::fopen(path.c_str(), "wb");
  if (!file) fail("file", path, fmt::format("it cannot be written ({}).", std::strerror(errno)));
  const std::size_t written = bytes.empty() ? 0 : std::fwrite(bytes.data(), 1, bytes.size(), file);
  // A full disk may show itself at the close only.
  const bool closed = std::fclose(file) == 0;
  if (written != bytes.size() || !closed)
    fail("file", path, fmt::format("writing stopped after {} of {} bytes ({}).", written, bytes.size(), std::strerror(errno)));
}

std::optional<std::uint64_t> checked_bytes(std::span<const std::int64_t> sizes, std::uint64_t element_bytes) {
  constexpr std::uint64_t limit = std::uint64_t{1} << 62;
  for (std::int64_t size : sizes)
    if (size == 0) return 0;
  std::uint64_t product = element_bytes;
  for (std::int64_t size : sizes) {
    if (size < 0 || product > limit / static_cast<std::uint64_t>(size)) return std::nullopt;
    product *= static_cast<std::uint64_t>(size);
  }
  return product;
}

}  // namespace hearth::io
