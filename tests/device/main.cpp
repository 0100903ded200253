#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <cstdio>
#include <cstdlib>

#include "device/app.hpp"

int main(int argc, char** argv) {
  if (!hearth::test::App::adapter_exists()) {
    std::puts("no WebGPU adapter");
    return std::getenv("HEARTH_REQUIRE_GPU") ? 1 : 77;
  }
  return doctest::Context(argc, argv).run();
}
