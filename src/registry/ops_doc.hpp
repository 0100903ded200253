#pragma once
#include <string>

namespace hearth {

/// docs/ops.md, from the blocks of ops/.
[[nodiscard]] std::string ops_document();

}  // namespace hearth
