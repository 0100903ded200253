#pragma once
// Files made by hand, and the sentence that a reader says about one.
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>
#include <vector>

#include "hearth/error.hpp"

namespace files {

inline std::vector<std::byte> bytes(const std::string& text) {
  const auto view = std::as_bytes(std::span(text.data(), text.size()));
  return {view.begin(), view.end()};
}

/// A folder of its own for each test program, removed at the end.
class Folder {
 public:
  explicit Folder(const std::string& name)
      : path_(std::filesystem::temp_directory_path() / ("hearth_io_" + name + "_" + std::to_string(std::size_t(this)))) {
    std::filesystem::create_directories(path_);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  [[nodiscard]] std::string path(const std::string& name = {}) const { return (path_ / name).string(); }
  std::string write(const std::string& name, std::span<const std::byte> content) const {
    std::ofstream out(path(name), std::ios::binary);
    out.write(reinterpret_cast<const char*>(content.data()), static_cast<std::streamsize>(content.size()));
    return path(name);
  }
  std::string write(const std::string& name, const std::string& content) const { return write(name, bytes(content)); }

 private:
  std::filesystem::path path_;
};

/// The message of the Error(io) that `function` throws; empty when it throws none.
template <typename F>
std::string io_error(F function) {
  try {
    (void)function();
  } catch (const hearth::Error& error) {
    return error.code() == hearth::ErrorCode::io ? error.what() : std::string("another code: ") + error.what();
  }
  return {};
}

inline bool says(const std::string& message, std::initializer_list<const char*> parts) {
  for (const char* part : parts)
    if (message.find(part) == std::string::npos) return false;
  return true;
}

/// Numbers that are the same on every machine.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() {  // splitmix64
    std::uint64_t z = (state_ += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
  }
  std::size_t below(std::size_t limit) { return static_cast<std::size_t>(next() % limit); }

 private:
  std::uint64_t state_;
};

}  // namespace files
