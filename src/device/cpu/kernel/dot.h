#pragma once

// Exact integer dots of one block: 32 weights of each row of a part with 32 activations of one
// token. A packed block holds its weights in groups of four k for 16 rows: vector j of 64 bytes has
// k = 4j + i of row r at byte 4r + i; of nibbles the low half of vector j is k = 4j + i and the
// high half k = 16 + 4j + i.

#include "device/cpu/kernel/simd.h"

namespace mummu::MUMMU_KERNEL_NAMESPACE {
namespace {

MUMMU_INLINE i32_part four(const int8_t* q) {
  int32_t word;
  __builtin_memcpy(&word, q, 4);
  return part_all(word);
}

#if defined(__AVX512F__)

// Nibbles 0..15; the dot starts from `start`.
struct Nibbles {
  __m512i w[8];

  MUMMU_INLINE void load(const std::byte* q, int64_t) {
    const __m512i mask = _mm512_set1_epi8(15);
    MUMMU_UNROLL
    for (int j = 0; j < 4; ++j) {
      const __m512i both_halves = _mm512_loadu_si512(q + 64 * j);
      w[j] = _mm512_and_si512(both_halves, mask);
      w[4 + j] = _mm512_and_si512(_mm512_srli_epi16(both_halves, 4), mask);
    }
  }
  MUMMU_INLINE i32_part dot(const int8_t* a, i32_part start) const {
    i32_part odd = _mm512_setzero_si512();
    MUMMU_UNROLL
    for (int j = 0; j < 8; j += 2) {
      start = _mm512_dpbusd_epi32(start, w[j], four(a + 4 * j));
      odd = _mm512_dpbusd_epi32(odd, w[j + 1], four(a + 4 * j + 4));
    }
    return _mm512_add_epi32(start, odd);
  }
};

// Signed bytes. The instruction wants its weights unsigned: w + 128, and start - 128 * sum of a.
struct Bytes {
  __m512i w[8];

  MUMMU_INLINE void load(const std::byte* q, int64_t) {
    MUMMU_UNROLL
    for (int j = 0; j < 8; ++j) {
      w[j] = _mm512_xor_si512(_mm512_loadu_si512(q + 64 * j), _mm512_set1_epi8(-128));
    }
  }
  // `eighth` is -8 * sum of a.
  MUMMU_INLINE i32_part dot(const int8_t* a, i32_part eighth) const {
    i32_part even = _mm512_slli_epi32(eighth, 4);
    i32_part odd = _mm512_setzero_si512();
    MUMMU_UNROLL
    for (int j = 0; j < 8; j += 2) {
      even = _mm512_dpbusd_epi32(even, w[j], four(a + 4 * j));
      odd = _mm512_dpbusd_epi32(odd, w[j + 1], four(a + 4 * j + 4));
    }
    return _mm512_add_epi32(even, odd);
  }
};

#else

// Nibbles 0..15; the dot starts from `start`. Pairs of products are at most 2 * 15 * 127, so that
// eight of them, 30480, fit 16 bits.
struct Nibbles {
  __m256i w[8];

  MUMMU_INLINE void load(const std::byte* q, int64_t part) {
    const __m256i mask = _mm256_set1_epi8(15);
    MUMMU_UNROLL
    for (int j = 0; j < 4; ++j) {
      const __m256i both_halves =
          _mm256_loadu_si256(reinterpret_cast<const __m256i*>(q + 64 * j + 32 * part));
      w[j] = _mm256_and_si256(both_halves, mask);
      w[4 + j] = _mm256_and_si256(_mm256_srli_epi16(both_halves, 4), mask);
    }
  }
  MUMMU_INLINE i32_part dot(const int8_t* a, i32_part start) const {
    __m256i even = _mm256_maddubs_epi16(w[0], four(a));
    __m256i odd = _mm256_maddubs_epi16(w[1], four(a + 4));
    MUMMU_UNROLL
    for (int j = 2; j < 8; j += 2) {
      even = _mm256_add_epi16(even, _mm256_maddubs_epi16(w[j], four(a + 4 * j)));
      odd = _mm256_add_epi16(odd, _mm256_maddubs_epi16(w[j + 1], four(a + 4 * j + 4)));
    }
    const __m256i sums = _mm256_madd_epi16(_mm256_add_epi16(even, odd), _mm256_set1_epi16(1));
    return _mm256_add_epi32(start, sums);
  }
};

// Signed bytes. The instruction wants one side unsigned: |w|, and a with the sign of w. Pairs are
// at most 2 * 128 * 127 = 32512, which fits 16 bits once.
struct Bytes {
  const std::byte* signs;
  __m256i w[8];

  MUMMU_INLINE void load(const std::byte* q, int64_t part) {
    signs = q + 32 * part;
    MUMMU_UNROLL
    for (int j = 0; j < 8; ++j) w[j] = _mm256_abs_epi8(raw(j));
  }
  MUMMU_INLINE __m256i raw(int j) const {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(signs + 64 * j));
  }
  MUMMU_INLINE i32_part dot(const int8_t* a, i32_part) const {
    const __m256i one = _mm256_set1_epi16(1);
    __m256i sum = _mm256_setzero_si256();
    MUMMU_UNROLL
    for (int j = 0; j < 8; ++j) {
      const __m256i turned = _mm256_sign_epi8(four(a + 4 * j), raw(j));
      sum = _mm256_add_epi32(sum, _mm256_madd_epi16(_mm256_maddubs_epi16(w[j], turned), one));
    }
    return sum;
  }
};

#endif

}  // namespace
}  // namespace mummu::MUMMU_KERNEL_NAMESPACE
