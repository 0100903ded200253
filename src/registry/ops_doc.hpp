#pragma once
#include <string>

namespace hearth {

/// docs/ops.md, from the blocks and the docstrings of hearth/ops/ in the folder `headers`.
[[nodiscard]] std::string ops_document(const std::string& headers);

}  // namespace hearth
