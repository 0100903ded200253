#pragma once
#include <cstdint>
#include <cstring>
#include <string_view>

namespace hearth::base {

/// Mixes `value` into `seed` (finaliser of SplitMix64: Steele, Lea, Flood 2014).
[[nodiscard]] constexpr std::uint64_t hash_combine(std::uint64_t seed, std::uint64_t value) noexcept {
  std::uint64_t x = seed + 0x9e3779b97f4a7c15ull + value * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}
[[nodiscard]] inline std::uint64_t hash_combine(std::uint64_t seed, double value) noexcept {
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  return hash_combine(seed, bits);
}
[[nodiscard]] constexpr std::uint64_t hash_text(std::string_view text) noexcept {
  std::uint64_t h = 0xcbf29ce484222325ull;  // FNV-1a, 64 bits
  for (char c : text) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001b3ull;
  return h;
}

}  // namespace hearth::base
