#pragma once
#include <string>

/// The `hearth` program, run as a user runs it.
namespace command {

struct Outcome {
  int code = -1;
  std::string out;
  std::string err;
};
/// Arguments as a shell takes them.
Outcome run(const std::string& arguments);

}  // namespace command
