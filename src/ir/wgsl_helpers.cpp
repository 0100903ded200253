#include "ir/wgsl_helpers.hpp"

#include <string_view>

namespace hearth::ir {
namespace {

struct HelperSource {
  std::string_view name;
  std::string_view needs;  ///< another helper, declared before
  std::string_view text;
};

// NaN is tested by its bits: compilers of shaders may assume that there is
// none.
constexpr HelperSource helpers[] = {
    {"h_nan", "",
     "fn h_nan(x: f32) -> bool { return (bitcast<u32>(x) & 0x7fffffffu) > "
     "0x7f800000u; }"},
    {"h_max", "h_nan",
     "fn h_max(a: f32, b: f32) -> f32 { let m = select(a, b, a < b); return "
     "select(select(m, b, h_nan(b)), a, h_nan(a)); }"},
    {"h_min", "h_nan",
     "fn h_min(a: f32, b: f32) -> f32 { let m = select(a, b, b < a); return "
     "select(select(m, b, h_nan(b)), a, h_nan(a)); }"},
    // With one operand known to be a number: a NaN in a stays.
    {"h_max1", "h_nan",
     "fn h_max1(a: f32, b: f32) -> f32 { return select(select(a, b, a < b), a, "
     "h_nan(a)); }"},
    {"h_min1", "h_nan",
     "fn h_min1(a: f32, b: f32) -> f32 { return select(select(a, b, b < a), a, "
     "h_nan(a)); }"},
    {"h_div_i32", "",
     "fn h_div_i32(a: i32, b: i32) -> i32 {\n"
     "  let d = select(b, 1i, b == 0i || (a == i32(-2147483648) && b == "
     "-1i));\n"
     "  return select(a / d, 0i, b == 0i);\n}"},
    {"h_div_u32", "",
     "fn h_div_u32(a: u32, b: u32) -> u32 { return select(a / max(b, 1u), 0u, "
     "b == 0u); }"},
    {"h_rem_i32", "",
     "fn h_rem_i32(a: i32, b: i32) -> i32 {\n"
     "  let d = select(b, 1i, b == 0i || b == -1i);\n"
     "  return a - (a / d) * d;\n}"},
    {"h_rem_u32", "", "fn h_rem_u32(a: u32, b: u32) -> u32 { return a % max(b, 1u); }"},
    // Exact remainder of the truncated division: subtracts b times powers of
    // two, each difference without rounding.
    {"h_rem_f32", "h_nan",
     "fn h_rem_f32(a: f32, b: f32) -> f32 {\n"
     "  let y = bitcast<u32>(b) & 0x7fffffffu;\n"
     "  let x = bitcast<u32>(a) & 0x7fffffffu;\n"
     "  let sign = bitcast<u32>(a) & 0x80000000u;\n"
     "  if (y == 0u || y > 0x7f800000u || x >= 0x7f800000u) { return "
     "bitcast<f32>(0x7fc00000u | sign); }\n"
     "  var r = bitcast<f32>(x);\n"
     "  let d = bitcast<f32>(y);\n"
     "  for (var step = 0; step < 300 && r >= d; step++) {\n"
     "    let gap = (bitcast<u32>(r) >> 23u) - (y >> 23u);\n"
     "    var s = bitcast<f32>(y + (gap << 23u));\n"
     "    if (y < 0x00800000u) { s = d; }\n"
     "    if (s > r) { s = s * 0.5f; }\n"
     "    r = r - s;\n"
     "  }\n"
     "  return bitcast<f32>(bitcast<u32>(r) | sign);\n}"},
    {"h_f32_to_i32", "h_nan",
     "fn h_f32_to_i32(x: f32) -> i32 {\n"
     "  let y = i32(clamp(x, -2147483648.0f, 2147483520.0f));\n"
     "  return select(select(y, 2147483647i, x >= 2147483648.0f), 0i, "
     "h_nan(x));\n}"},
    {"h_f32_to_u32", "h_nan",
     "fn h_f32_to_u32(x: f32) -> u32 {\n"
     "  let y = u32(clamp(x, 0.0f, 4294967040.0f));\n"
     "  return select(select(y, 4294967295u, x >= 4294967296.0f), 0u, "
     "h_nan(x));\n}"},
    {"h_shl_i32", "",
     "fn h_shl_i32(a: i32, n: i32) -> i32 { return select(a << (u32(n) & 31u), "
     "0i, u32(n) > 31u); }"},
    {"h_shl_u32", "",
     "fn h_shl_u32(a: u32, n: u32) -> u32 { return select(a << (n & 31u), 0u, "
     "n > 31u); }"},
    {"h_shr_i32", "", "fn h_shr_i32(a: i32, n: i32) -> i32 { return a >> min(u32(n), 31u); }"},
    {"h_shr_u32", "",
     "fn h_shr_u32(a: u32, n: u32) -> u32 { return select(a >> (n & 31u), 0u, "
     "n > 31u); }"},
    {"h_mul_high", "",
     "fn h_mul_high(a: u32, b: u32) -> u32 {\n"
     "  let al = a & 0xffffu; let ah = a >> 16u; let bl = b & 0xffffu; let bh "
     "= b >> 16u;\n"
     "  let mid = ah * bl + ((al * bl) >> 16u);\n"
     "  let low = (mid & 0xffffu) + al * bh;\n"
     "  return ah * bh + (mid >> 16u) + (low >> 16u);\n}"},
};

}  // namespace

std::string helper(WgslModule& module, std::string_view name) {
  for (const HelperSource& h : helpers) {
    if (h.name != name) continue;
    if (!h.needs.empty()) helper(module, h.needs);
    module.declare(std::string(name), std::string(h.text));
  }
  return std::string(name);
}

}  // namespace hearth::ir
