#include <doctest/doctest.h>

#include <fstream>
#include <sstream>

#include "registry/ops_doc.hpp"

TEST_CASE("docs/ops.md is what the blocks say") {
  std::ifstream file(HEARTH_SOURCE_DIR "/docs/ops.md");
  std::stringstream text;
  text << file.rdbuf();
  CHECK_MESSAGE(text.str() == hearth::ops_document(HEARTH_SOURCE_DIR "/include"),
                "docs/ops.md is out of date: run hearth_ops_doc include > docs/ops.md");
}
