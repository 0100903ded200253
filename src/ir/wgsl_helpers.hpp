#pragma once
#include <string>
#include <string_view>

#include "ir/wgsl_parts.hpp"

namespace hearth::ir {

/// Declares one of the functions that give WGSL the arithmetic of
/// hearth/expr.hpp (h_max, h_div_i32, ...); gives its name.
std::string helper(WgslModule& module, std::string_view name);

}  // namespace hearth::ir
