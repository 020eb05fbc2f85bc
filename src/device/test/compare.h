#pragma once

// Comparing results to the bit, where every NaN equals every other.

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <vector>

namespace mummu::test {

// The bits of a float; of a NaN those of one NaN.
inline uint32_t canonical_bits(float value) {
  return std::isnan(value) ? 0x7FC00000U : std::bit_cast<uint32_t>(value);
}

inline testing::AssertionResult same_bits(const std::vector<float>& expected,
                                          const std::vector<float>& got) {
  if (expected.size() != got.size()) {
    return testing::AssertionFailure() << got.size() << " values, not " << expected.size();
  }
  size_t different = 0, first = 0;
  for (size_t i = expected.size(); i-- > 0;) {
    if (canonical_bits(expected[i]) == canonical_bits(got[i])) continue;
    ++different;
    first = i;
  }
  if (different == 0) return testing::AssertionSuccess();
  return testing::AssertionFailure()
         << different << " of " << got.size() << " values differ, the first at " << first
         << ": expected " << testing::PrintToString(expected[first]) << ", got "
         << testing::PrintToString(got[first]);
}

// FNV-1a, 64 bits, over the canonical bits of the values, lowest byte first.
//   source  G. Fowler, L. C. Noll, K.-P. Vo, The FNV Non-Cryptographic Hash Algorithm
inline uint64_t hash_of(const std::vector<float>& values) {
  uint64_t hash = 0xCBF29CE484222325U;
  for (float value : values) {
    const uint32_t bits = canonical_bits(value);
    for (int shift = 0; shift < 32; shift += 8) {
      hash = (hash ^ (bits >> shift & 0xFF)) * 0x100000001B3U;
    }
  }
  return hash;
}

}  // namespace mummu::test
