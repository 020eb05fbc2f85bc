#pragma once

// Arithmetic on sizes that come from outside: an overflow is an empty optional, never a wrapped
// number.

#include <cstdint>
#include <optional>
#include <span>

namespace mummu {

inline std::optional<int64_t> checked_mul(int64_t a, int64_t b) {
  int64_t out = 0;
  if (__builtin_mul_overflow(a, b, &out)) return std::nullopt;
  return out;
}

inline std::optional<int64_t> checked_add(int64_t a, int64_t b) {
  int64_t out = 0;
  if (__builtin_add_overflow(a, b, &out)) return std::nullopt;
  return out;
}

// The product of all dimensions of a shape (1 for an empty one).
//   requires  every dimension >= 0
inline std::optional<int64_t> checked_product(std::span<const int64_t> shape) {
  int64_t out = 1;
  for (int64_t dimension : shape) {
    if (dimension == 0) return 0;
    auto next = checked_mul(out, dimension);
    if (!next) return std::nullopt;
    out = *next;
  }
  return out;
}

}  // namespace mummu
