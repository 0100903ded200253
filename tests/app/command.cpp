#include "command.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace command {

Outcome run(const std::string& arguments) {
  const std::string errors = (std::filesystem::temp_directory_path() / ("hearth_command_" + std::to_string(::getpid()))).string();
  const std::string line = std::string("'") + HEARTH_COMMAND + "' " + arguments + " 2>'" + errors + "'";
  Outcome outcome;
  std::FILE* pipe = ::popen(line.c_str(), "r");
  char buffer[4096];
  while (pipe) {
    const std::size_t got = std::fread(buffer, 1, sizeof buffer, pipe);
    if (got == 0) break;
    outcome.out.append(buffer, got);
  }
  const int status = pipe ? ::pclose(pipe) : -1;
  outcome.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128;
  std::stringstream text;
  text << std::ifstream(errors).rdbuf();
  outcome.err = text.str();
  std::filesystem::remove(errors);
  return outcome;
}

}  // namespace command
