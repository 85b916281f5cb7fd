// Fields of text that hold a number.
#pragma once

#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <system_error>

namespace torchcent {

inline bool is_blank(char c) { return c == ' ' || c == '\t'; }
inline bool is_digit(char c) { return '0' <= c && c <= '9'; }

// Each of these reads a field that begins at `at`, and returns where it ends; nullptr if it is not read here.

inline const char* read_id(const char* at, const char* end, int64_t& id) {
  constexpr int kMostDigits = 19;
  const bool minus = at < end && *at == '-';
  const char* const first = at += minus;
  uint64_t value = 0;
  for (; at < end && is_digit(*at); ++at) {
    if (at - first == kMostDigits) return nullptr;
    value = 10 * value + static_cast<uint64_t>(*at - '0');
  }
  const uint64_t most = static_cast<uint64_t>(std::numeric_limits<int64_t>::max()) + minus;
  if (at == first || value > most) return nullptr;
  id = static_cast<int64_t>(minus ? -value : value);
  return at;
}

inline const char* read_weight(const char* at, const char* end, double& weight) {
  if (at < end && *at == '+') {
    if (++at < end && *at == '-') return nullptr;
  }
  const auto [last, error] = std::from_chars(at, end, weight);
  return error == std::errc() && std::isfinite(weight) ? last : nullptr;
}

}  // namespace torchcent
