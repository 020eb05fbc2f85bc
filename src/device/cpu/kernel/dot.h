#pragma once

// Exact integer dots of one block: 32 weights of each row of a part with 32 activations of one
// token. A packed block holds its weights in groups of four k for 16 rows: vector j of 64 bytes has
// k = 4j + i of row r at byte 4r + i; of nibbles the low half of vector j is k = 4j + i and the
// high half k = 16 + 4j + i. Of weights of 5 bits bit j of one more vector's byte is the fifth bit
// of k = 4j + i; of 6 bits two more vectors hold bit pairs: pair j of the first those of k = 4j +
// i, of the second those of k = 16 + 4j + i.
//
// dot() gives the sum, begun from an offset that makes unsigned weights signed. product() gives
// scale * sum as a float, exact because it is below 2^24; a scale stands for 32 or for 16 k.

#include "device/cpu/kernel/simd.h"

namespace mummu::MUMMU_KERNEL_NAMESPACE {
namespace {

MUMMU_INLINE i32_part four(const int8_t* q) {
  int32_t word;
  __builtin_memcpy(&word, q, 4);
  return part_all(word);
}

#if defined(__AVX512F__)

// Whole-number scales of one byte for each row, as floats.
struct SubScale {
  __m512 value;

  MUMMU_INLINE void load_unsigned(const std::byte* p, int64_t) {
    value = _mm512_cvtepi32_ps(_mm512_cvtepu8_epi32(bytes(p)));
  }
  MUMMU_INLINE void load_signed(const std::byte* p, int64_t) {
    value = _mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(bytes(p)));
  }
  MUMMU_INLINE static __m128i bytes(const std::byte* p) {
    return _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
  }
};

// w[j] and w[4 + j] from the halves of vector j.
MUMMU_INLINE void load_nibbles(const std::byte* q, __m512i* w) {
  const __m512i mask = _mm512_set1_epi8(15);
  MUMMU_UNROLL
  for (int j = 0; j < 4; ++j) {
    const __m512i both_halves = _mm512_loadu_si512(q + 64 * j);
    w[j] = _mm512_and_si512(both_halves, mask);
    w[4 + j] = _mm512_and_si512(_mm512_srli_epi16(both_halves, 4), mask);
  }
}

// w | bits `from` of the bytes of v, brought to bit 4: one bit (mask 16) or two (mask 48).
template <int kFrom, int kMask>
MUMMU_INLINE __m512i with_high(__m512i w, __m512i v) {
  if constexpr (kFrom < 4) v = _mm512_slli_epi16(v, 4 - kFrom);
  if constexpr (kFrom > 4) v = _mm512_srli_epi16(v, kFrom - 4);
  return _mm512_ternarylogic_epi32(w, v, _mm512_set1_epi8(kMask), 0xF8);  // w | (v & mask)
}

// Numbers of 4 or 5 bits.
template <int kBits>
struct Unsigned {
  __m512i w[8];

  MUMMU_INLINE void load(const std::byte* q, int64_t) {
    load_nibbles(q, w);
    if constexpr (kBits == 5) {
      const __m512i high = _mm512_loadu_si512(q + 256);
      w[0] = with_high<0, 16>(w[0], high);
      w[1] = with_high<1, 16>(w[1], high);
      w[2] = with_high<2, 16>(w[2], high);
      w[3] = with_high<3, 16>(w[3], high);
      w[4] = with_high<4, 16>(w[4], high);
      w[5] = with_high<5, 16>(w[5], high);
      w[6] = with_high<6, 16>(w[6], high);
      w[7] = with_high<7, 16>(w[7], high);
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
  MUMMU_INLINE f32_part product(const int8_t* a, const SubScale& scale) const {
    return part_mul(scale.value, part_float(dot(a, _mm512_setzero_si512())));
  }
};

// Numbers of 6 bits, less 32.
struct Sixes {
  __m512i w[8];

  MUMMU_INLINE void load(const std::byte* q, int64_t) {
    load_nibbles(q, w);
    MUMMU_UNROLL
    for (int half = 0; half < 2; ++half) {
      const __m512i pairs = _mm512_loadu_si512(q + 256 + 64 * half);
      __m512i* four_of = w + 4 * half;
      four_of[0] = with_high<0, 48>(four_of[0], pairs);
      four_of[1] = with_high<2, 48>(four_of[1], pairs);
      four_of[2] = with_high<4, 48>(four_of[2], pairs);
      four_of[3] = with_high<6, 48>(four_of[3], pairs);
    }
  }
  // `eighth` is -8 * sum of a, `half` is -32 * sum of its first 16.
  MUMMU_INLINE f32_part product(const int8_t* a, const SubScale (&scale)[2], i32_part eighth,
                                i32_part half) const {
    i32_part first = half;
    i32_part second = _mm512_sub_epi32(_mm512_slli_epi32(eighth, 2), half);
    MUMMU_UNROLL
    for (int j = 0; j < 4; ++j) {
      first = _mm512_dpbusd_epi32(first, w[j], four(a + 4 * j));
      second = _mm512_dpbusd_epi32(second, w[4 + j], four(a + 16 + 4 * j));
    }
    return part_fma(scale[1].value, part_float(second),
                    part_mul(scale[0].value, part_float(first)));
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

MUMMU_INLINE __m256i load_vector(const std::byte* p) {
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
}

// Whole-number scales of one byte for each row, twice in 16 bits: what madd multiplies sums with.
struct SubScale {
  __m256i value;

  MUMMU_INLINE void load_unsigned(const std::byte* p, int64_t part) {
    value = twice(_mm256_cvtepu8_epi32(bytes(p, part)));
  }
  MUMMU_INLINE void load_signed(const std::byte* p, int64_t part) {
    value = twice(_mm256_cvtepi8_epi32(bytes(p, part)));
  }
  MUMMU_INLINE static __m128i bytes(const std::byte* p, int64_t part) {
    return _mm_loadl_epi64(reinterpret_cast<const __m128i*>(p + 8 * part));
  }
  MUMMU_INLINE static __m256i twice(__m256i v) {
    return _mm256_blend_epi16(v, _mm256_slli_epi32(v, 16), 0xAA);
  }
};

// w[j] and w[4 + j] from the halves of vector j.
MUMMU_INLINE void load_nibbles(const std::byte* q, int64_t part, __m256i* w) {
  const __m256i mask = _mm256_set1_epi8(15);
  MUMMU_UNROLL
  for (int j = 0; j < 4; ++j) {
    const __m256i both_halves = load_vector(q + 64 * j + 32 * part);
    w[j] = _mm256_and_si256(both_halves, mask);
    w[4 + j] = _mm256_and_si256(_mm256_srli_epi16(both_halves, 4), mask);
  }
}

// w | bits `from` of the bytes of v, brought to bit 4: one bit (mask 16) or two (mask 48).
template <int kFrom, int kMask>
MUMMU_INLINE __m256i with_high(__m256i w, __m256i v) {
  if constexpr (kFrom < 4) v = _mm256_slli_epi16(v, 4 - kFrom);
  if constexpr (kFrom > 4) v = _mm256_srli_epi16(v, kFrom - 4);
  return _mm256_or_si256(w, _mm256_and_si256(v, _mm256_set1_epi8(kMask)));
}

// Numbers of 4 or 5 bits. Pairs of products are at most 2 * 15 * 127 or 2 * 31 * 127, so that eight
// or four of them, 30480 or 31496, fit 16 bits.
template <int kBits>
struct Unsigned {
  __m256i w[8];

  MUMMU_INLINE void load(const std::byte* q, int64_t part) {
    load_nibbles(q, part, w);
    if constexpr (kBits == 5) {
      const __m256i high = load_vector(q + 256 + 32 * part);
      w[0] = with_high<0, 16>(w[0], high);
      w[1] = with_high<1, 16>(w[1], high);
      w[2] = with_high<2, 16>(w[2], high);
      w[3] = with_high<3, 16>(w[3], high);
      w[4] = with_high<4, 16>(w[4], high);
      w[5] = with_high<5, 16>(w[5], high);
      w[6] = with_high<6, 16>(w[6], high);
      w[7] = with_high<7, 16>(w[7], high);
    }
  }
  // The sum, each pair of 16 bits multiplied by a pair of `factor`.
  MUMMU_INLINE __m256i times(const int8_t* a, __m256i factor) const {
    __m256i even = _mm256_maddubs_epi16(w[0], four(a));
    __m256i odd = _mm256_maddubs_epi16(w[1], four(a + 4));
    MUMMU_UNROLL
    for (int j = 2; j < 8; j += 2) {
      even = _mm256_add_epi16(even, _mm256_maddubs_epi16(w[j], four(a + 4 * j)));
      odd = _mm256_add_epi16(odd, _mm256_maddubs_epi16(w[j + 1], four(a + 4 * j + 4)));
    }
    if constexpr (kBits == 4) return _mm256_madd_epi16(_mm256_add_epi16(even, odd), factor);
    return _mm256_add_epi32(_mm256_madd_epi16(even, factor), _mm256_madd_epi16(odd, factor));
  }
  MUMMU_INLINE i32_part dot(const int8_t* a, i32_part start) const {
    return _mm256_add_epi32(start, times(a, _mm256_set1_epi16(1)));
  }
  MUMMU_INLINE f32_part product(const int8_t* a, const SubScale& scale) const {
    return part_float(times(a, scale.value));
  }
};

// Signed weights beside their magnitudes: an instruction wants one side unsigned, so |w|, and a
// with the sign of w.
MUMMU_INLINE __m256i signed_pairs(__m256i magnitude, __m256i raw, const int8_t* a) {
  return _mm256_maddubs_epi16(magnitude, _mm256_sign_epi8(four(a), raw));
}

// Numbers of 6 bits, less 32. Pairs are at most 2 * 32 * 127, so that four of them, 32512, fit 16
// bits.
struct Sixes {
  __m256i raw[8], w[8];

  MUMMU_INLINE void load(const std::byte* q, int64_t part) {
    load_nibbles(q, part, raw);
    MUMMU_UNROLL
    for (int half = 0; half < 2; ++half) {
      const __m256i pairs = load_vector(q + 256 + 64 * half + 32 * part);
      __m256i* four_of = raw + 4 * half;
      four_of[0] = with_high<0, 48>(four_of[0], pairs);
      four_of[1] = with_high<2, 48>(four_of[1], pairs);
      four_of[2] = with_high<4, 48>(four_of[2], pairs);
      four_of[3] = with_high<6, 48>(four_of[3], pairs);
    }
    MUMMU_UNROLL
    for (int j = 0; j < 8; ++j) {
      raw[j] = _mm256_sub_epi8(raw[j], _mm256_set1_epi8(32));
      w[j] = _mm256_abs_epi8(raw[j]);
    }
  }
  MUMMU_INLINE f32_part product(const int8_t* a, const SubScale (&scale)[2], i32_part,
                                i32_part) const {
    __m256i first = signed_pairs(w[0], raw[0], a);
    __m256i second = signed_pairs(w[4], raw[4], a + 16);
    MUMMU_UNROLL
    for (int j = 1; j < 4; ++j) {
      first = _mm256_add_epi16(first, signed_pairs(w[j], raw[j], a + 4 * j));
      second = _mm256_add_epi16(second, signed_pairs(w[4 + j], raw[4 + j], a + 16 + 4 * j));
    }
    return part_float(_mm256_add_epi32(_mm256_madd_epi16(first, scale[0].value),
                                       _mm256_madd_epi16(second, scale[1].value)));
  }
};

// Signed bytes. Pairs are at most 2 * 128 * 127 = 32512, which fits 16 bits once.
struct Bytes {
  const std::byte* signs;
  __m256i w[8];

  MUMMU_INLINE void load(const std::byte* q, int64_t part) {
    signs = q + 32 * part;
    MUMMU_UNROLL
    for (int j = 0; j < 8; ++j) w[j] = _mm256_abs_epi8(raw(j));
  }
  MUMMU_INLINE __m256i raw(int j) const { return load_vector(signs + 64 * j); }
  MUMMU_INLINE i32_part dot(const int8_t* a, i32_part) const {
    const __m256i one = _mm256_set1_epi16(1);
    __m256i sum = _mm256_setzero_si256();
    MUMMU_UNROLL
    for (int j = 0; j < 8; ++j) {
      sum = _mm256_add_epi32(sum, _mm256_madd_epi16(signed_pairs(w[j], raw(j), a + 4 * j), one));
    }
    return sum;
  }
};

#endif

}  // namespace
}  // namespace mummu::MUMMU_KERNEL_NAMESPACE
