// Prints docs/ops.md: hearth_ops_doc > docs/ops.md
#include <cstdio>

#include "registry/ops_doc.hpp"

int main() {
  const std::string text = hearth::ops_document();
  return std::fwrite(text.data(), 1, text.size(), stdout) == text.size() ? 0 : 1;
}
