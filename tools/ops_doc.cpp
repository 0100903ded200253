// Prints docs/ops.md: hearth_ops_doc include > docs/ops.md
#include <cstdio>

#include "registry/ops_doc.hpp"

int main(int count, char** arguments) {
  if (count != 2) return std::fputs("usage: hearth_ops_doc FOLDER_OF_HEADERS\n", stderr), 2;
  const std::string text = hearth::ops_document(arguments[1]);
  return std::fwrite(text.data(), 1, text.size(), stdout) == text.size() ? 0 : 1;
}
