#pragma once

// Half floats in software, the same on every machine: IEEE 754 binary16 and bfloat16 (the upper
// half of a binary32).

#include <bit>
#include <cstdint>
#include <cstring>

namespace mummu {

inline float widen_bf16(uint16_t h) { return std::bit_cast<float>(uint32_t{h} << 16); }

inline float widen_f16(uint16_t h) {
  const uint32_t sign = uint32_t{h & 0x8000U} << 16;
  const uint32_t exponent = h >> 10 & 0x1FU;
  const uint32_t fraction = h & 0x3FFU;
  if (exponent == 0x1F) return std::bit_cast<float>(sign | 0x7F800000U | fraction << 13);
  if (exponent > 0) return std::bit_cast<float>(sign | (exponent + 112) << 23 | fraction << 13);
  const float magnitude = static_cast<float>(fraction) * 0x1p-24F;  // exact
  return std::bit_cast<float>(sign | std::bit_cast<uint32_t>(magnitude));
}

// value / 2^shift rounded to nearest, ties to even.
//   requires  1 <= shift <= 31
inline uint32_t shift_to_even(uint32_t value, uint32_t shift) {
  const uint32_t floor = value >> shift;
  const uint32_t rest = value & ((1U << shift) - 1);
  const uint32_t half = 1U << (shift - 1);
  return floor + (rest > half || (rest == half && (floor & 1U) != 0) ? 1U : 0U);
}

// Nearest even; beyond 65520 infinity; every NaN becomes one quiet NaN.
inline uint16_t round_f16(float x) {
  const uint32_t bits = std::bit_cast<uint32_t>(x);
  const uint32_t sign = bits >> 16 & 0x8000U;
  const uint32_t magnitude = bits & 0x7FFFFFFFU;
  uint32_t rounded = 0;
  if (magnitude > 0x7F800000U) {
    rounded = 0x7E00U;
  } else if (magnitude >= 0x47800000U) {  // 2^16
    rounded = 0x7C00U;
  } else if (magnitude >= 0x38800000U) {  // 2^-14: a carry out of the fraction raises the exponent
    rounded = shift_to_even(magnitude - 0x38000000U, 13);
  } else if (magnitude >= 0x33000000U) {  // 2^-25: a multiple of 2^-24
    rounded = shift_to_even((magnitude & 0x7FFFFFU) | 0x800000U, 126 - (magnitude >> 23));
  }
  return static_cast<uint16_t>(sign | rounded);
}

// Nearest even; every NaN becomes one quiet NaN.
inline uint16_t round_bf16(float x) {
  const uint32_t bits = std::bit_cast<uint32_t>(x);
  if ((bits & 0x7FFFFFFFU) > 0x7F800000U) return 0x7FC0U;
  return static_cast<uint16_t>(shift_to_even(bits, 16));
}

// An f16 at any address.
inline float load_f16(const void* at) {
  uint16_t h;
  std::memcpy(&h, at, sizeof h);
  return widen_f16(h);
}

}  // namespace mummu
