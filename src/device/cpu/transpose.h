#pragma once

// Small transpositions: what lies in several rows side by side becomes row after row. SSE2 only,
// which every x86-64 has.

#include <immintrin.h>

#include <cstddef>
#include <cstdint>

namespace mummu::cpu {

inline __m128i load_16(const std::byte* p) {
  return _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
}
inline void store_16(std::byte* p, __m128i v) {
  _mm_storeu_si128(reinterpret_cast<__m128i*>(p), v);
}

// Four rows of four words of 4 bytes become four columns.
inline void transpose_words(__m128i (&rows)[4]) {
  const __m128i ab = _mm_unpacklo_epi32(rows[0], rows[1]);
  const __m128i ab_high = _mm_unpackhi_epi32(rows[0], rows[1]);
  const __m128i cd = _mm_unpacklo_epi32(rows[2], rows[3]);
  const __m128i cd_high = _mm_unpackhi_epi32(rows[2], rows[3]);
  rows[0] = _mm_unpacklo_epi64(ab, cd);
  rows[1] = _mm_unpackhi_epi64(ab, cd);
  rows[2] = _mm_unpacklo_epi64(ab_high, cd_high);
  rows[3] = _mm_unpackhi_epi64(ab_high, cd_high);
}

// Four words of 4 bytes of each of four rows; word j of all rows goes to `to` + j * to_stride.
inline void transpose_words_4(const std::byte* rows, int64_t row_bytes, std::byte* to,
                              int64_t to_stride) {
  __m128i v[4];
  for (int i = 0; i < 4; ++i) v[i] = load_16(rows + i * row_bytes);
  transpose_words(v);
  for (int j = 0; j < 4; ++j) store_16(to + j * to_stride, v[j]);
}

// Eight words of 2 bytes of each of eight rows; word j of all rows goes to `to` + j * to_stride.
inline void transpose_halves_8(const std::byte* rows, int64_t row_bytes, std::byte* to,
                               int64_t to_stride) {
  __m128i pairs[2][4];  // words 0..3 and 4..7 of rows 2i and 2i + 1
  for (int i = 0; i < 4; ++i) {
    const __m128i a = load_16(rows + 2 * i * row_bytes);
    const __m128i b = load_16(rows + (2 * i + 1) * row_bytes);
    pairs[0][i] = _mm_unpacklo_epi16(a, b);
    pairs[1][i] = _mm_unpackhi_epi16(a, b);
  }
  for (int half = 0; half < 2; ++half) {
    transpose_words(pairs[half]);
    for (int j = 0; j < 4; ++j) store_16(to + (4 * half + j) * to_stride, pairs[half][j]);
  }
}

// Exchanges the bits of each 4-byte word at `mask` with those kShift further up.
template <int kShift>
inline __m128i swap_bits(__m128i x, int mask) {
  const __m128i moved =
      _mm_and_si128(_mm_xor_si128(_mm_srli_epi32(x, kShift), x), _mm_set1_epi32(mask));
  return _mm_xor_si128(x, _mm_xor_si128(moved, _mm_slli_epi32(moved, kShift)));
}

// In each 4-byte word bit 4j + i becomes bit 8i + j: the five bits of a position, turned by two, in
// four exchanges of two of them.
inline __m128i turn_bits(__m128i x) {
  x = swap_bits<14>(x, 0x0000CCCC);
  x = swap_bits<7>(x, 0x00AA00AA);
  x = swap_bits<2>(x, 0x0C0C0C0C);
  return swap_bits<1>(x, 0x22222222);
}

}  // namespace mummu::cpu
