#pragma once

// Small transpositions: what lies in several rows side by side becomes row after row. SSE2 only,
// which every x86-64 has.

#include <immintrin.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace mummu::cpu {

inline __m128i load_16(const std::byte* p) {
  return _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
}
inline void store_16(std::byte* p, __m128i v) {
  _mm_storeu_si128(reinterpret_cast<__m128i*>(p), v);
}

// Where the same bytes of four rows are.
struct FourRows {
  const std::byte* at[4];

  FourRows from(int64_t offset) const {
    return {{at[0] + offset, at[1] + offset, at[2] + offset, at[3] + offset}};
  }
};
inline FourRows four_rows(const std::byte* first, int64_t row_bytes) {
  return {{first, first + row_bytes, first + 2 * row_bytes, first + 3 * row_bytes}};
}

// Four words of 4 bytes of four rows: v[j] holds word j of each row.
struct Words {
  __m128i v[4];

  // Word j goes to `to` + j * stride.
  void store(std::byte* to, int64_t stride) const {
    for (int j = 0; j < 4; ++j) store_16(to + j * stride, v[j]);
  }
};

// Four rows of four words of 4 bytes become four columns.
inline Words transpose_words(const Words& rows) {
  const __m128i ab = _mm_unpacklo_epi32(rows.v[0], rows.v[1]);
  const __m128i ab_high = _mm_unpackhi_epi32(rows.v[0], rows.v[1]);
  const __m128i cd = _mm_unpacklo_epi32(rows.v[2], rows.v[3]);
  const __m128i cd_high = _mm_unpackhi_epi32(rows.v[2], rows.v[3]);
  return {{_mm_unpacklo_epi64(ab, cd), _mm_unpackhi_epi64(ab, cd),
           _mm_unpacklo_epi64(ab_high, cd_high), _mm_unpackhi_epi64(ab_high, cd_high)}};
}
inline Words load_words(const FourRows& rows) {
  return transpose_words(
      {{load_16(rows.at[0]), load_16(rows.at[1]), load_16(rows.at[2]), load_16(rows.at[3])}});
}

// The first 4 bytes of each row.
inline __m128i load_word(const FourRows& rows) {
  int32_t word[4];
  for (int i = 0; i < 4; ++i) std::memcpy(&word[i], rows.at[i], sizeof word[i]);
  return _mm_setr_epi32(word[0], word[1], word[2], word[3]);
}

// The low halves of four words in the first 8 bytes, the high ones in the others.
inline __m128i split_halves(__m128i words) {
  const __m128i pairs = _mm_shufflehi_epi16(_mm_shufflelo_epi16(words, 0xD8), 0xD8);
  return _mm_shuffle_epi32(pairs, 0xD8);
}
inline void store_low_8(std::byte* to, __m128i v) {
  _mm_storel_epi64(reinterpret_cast<__m128i*>(to), v);
}
inline void store_high_8(std::byte* to, __m128i v) { store_low_8(to, _mm_unpackhi_epi64(v, v)); }

// Byte j of each of four words becomes word j.
inline __m128i transpose_bytes(__m128i words) {
  const __m128i pairs = _mm_unpacklo_epi8(words, _mm_unpackhi_epi64(words, words));
  return _mm_unpacklo_epi8(pairs, _mm_unpackhi_epi64(pairs, pairs));
}
// Words 0 and 1 go to `to` and `to` + stride, words 2 and 3 to `third` and `third` + stride.
inline void store_words(__m128i words, std::byte* to, std::byte* third, int64_t stride) {
  int32_t word[4];
  store_16(reinterpret_cast<std::byte*>(word), words);
  std::memcpy(to, &word[0], sizeof word[0]);
  std::memcpy(to + stride, &word[1], sizeof word[1]);
  std::memcpy(third, &word[2], sizeof word[2]);
  std::memcpy(third + stride, &word[3], sizeof word[3]);
}

// Eight words of 2 bytes of each of eight rows; word j of all rows goes to `to` + j * to_stride.
inline void transpose_halves_8(const std::byte* rows, int64_t row_bytes, std::byte* to,
                               int64_t to_stride) {
  Words pairs[2];  // words 0..3 and 4..7 of rows 2i and 2i + 1
  for (int i = 0; i < 4; ++i) {
    const __m128i a = load_16(rows + 2 * i * row_bytes);
    const __m128i b = load_16(rows + (2 * i + 1) * row_bytes);
    pairs[0].v[i] = _mm_unpacklo_epi16(a, b);
    pairs[1].v[i] = _mm_unpackhi_epi16(a, b);
  }
  transpose_words(pairs[0]).store(to, to_stride);
  transpose_words(pairs[1]).store(to + 4 * to_stride, to_stride);
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

// Exchanges the bits of `b` at `mask`, the same in every byte, with those of `a` kShift further up.
template <int kShift>
inline void exchange_bits(__m128i& a, __m128i& b, char mask) {
  const __m128i moved =
      _mm_and_si128(_mm_xor_si128(_mm_srli_epi16(a, kShift), b), _mm_set1_epi8(mask));
  b = _mm_xor_si128(b, moved);
  a = _mm_xor_si128(a, _mm_slli_epi16(moved, kShift));
}

// In every byte, pair j of vector i becomes pair i of vector j.
inline void transpose_bit_pairs(__m128i (&v)[4]) {
  for (int i = 0; i < 2; ++i) exchange_bits<4>(v[i], v[i + 2], 0x0F);
  for (int i = 0; i < 4; i += 2) exchange_bits<2>(v[i], v[i + 1], 0x33);
}

// In every byte, bit j of vector i becomes bit i of vector j.
inline void transpose_bits(__m128i (&v)[8]) {
  for (int i = 0; i < 4; ++i) exchange_bits<4>(v[i], v[i + 4], 0x0F);
  for (int i = 0; i < 8; i += i % 4 == 1 ? 3 : 1) exchange_bits<2>(v[i], v[i + 2], 0x33);
  for (int i = 0; i < 8; i += 2) exchange_bits<1>(v[i], v[i + 1], 0x55);
}

}  // namespace mummu::cpu
