// Panels of q4_k, q5_k and q6_k; base/dtype.h says how a file's super-block lies, pack.h what
// becomes of it.

#include "device/cpu/pack_blocks.h"

namespace mummu::cpu {
namespace {

constexpr int64_t kLine = 4 * kPanelRows;  // four k of all rows

// 32 bytes of each row: the low halves are 32 numbers of one block, the high ones of another.
void put_nibbles(const FourRows& rows, std::byte* low_to, std::byte* high_to) {
  const __m128i low_halves = _mm_set1_epi8(0x0F);
  const Words first = load_words(rows), second = load_words(rows.from(16));
  for (int j = 0; j < 4; ++j) {
    const __m128i a = first.v[j], b = second.v[j];
    const __m128i low_b = _mm_and_si128(b, low_halves);
    const __m128i high_a = _mm_and_si128(_mm_srli_epi16(a, 4), low_halves);
    store_16(low_to + kLine * j,
             _mm_or_si128(_mm_and_si128(a, low_halves), _mm_slli_epi16(low_b, 4)));
    store_16(high_to + kLine * j, _mm_or_si128(high_a, _mm_andnot_si128(low_halves, b)));
  }
}

// The 6-bit scales and minima of 8 blocks, 12 bytes of each row, a byte each.
void put_sixes(const Words& head, int64_t block_bytes, std::byte* scales) {
  const __m128i six = _mm_set1_epi8(0x3F), low = _mm_set1_epi8(0x0F), top = _mm_set1_epi8(0x30);
  const auto late = [&](__m128i bottom, __m128i above) {
    return _mm_or_si128(_mm_and_si128(bottom, low), _mm_and_si128(_mm_srli_epi16(above, 2), top));
  };
  const auto put = [&](__m128i words, std::byte* to) {
    store_words(transpose_bytes(words), to, to + 2 * block_bytes, block_bytes);
  };
  std::byte* const minima = scales + kPanelRows;
  put(_mm_and_si128(head.v[1], six), scales);
  put(_mm_and_si128(head.v[2], six), minima);
  put(late(head.v[3], head.v[1]), scales + 4 * block_bytes);
  put(late(_mm_srli_epi16(head.v[3], 4), head.v[2]), minima + 4 * block_bytes);
}

template <bool kFive>
void pack_q4_k_q5_k(const FourRows& rows, int64_t row, std::byte* out) {
  constexpr int64_t kBlockBytes = kLine * (kFive ? 5 : 4) + 2 * kPanelRows;
  const Words head = load_words(rows);
  const __m128i scales = split_halves(head.v[0]);
  store_low_8(out + 2 * row, scales);
  store_high_8(out + 2 * (kPanelRows + row), scales);
  std::byte* const blocks = out + 4 * kPanelRows;
  put_sixes(head, kBlockBytes, blocks + kBlockBytes - 2 * kPanelRows + row);
  const FourRows nibbles = rows.from(kFive ? 48 : 16);
  for (int64_t b = 0; b < 8; b += 2) {
    std::byte* const to = blocks + b * kBlockBytes + 4 * row;
    put_nibbles(nibbles.from(16 * b), to, to + kBlockBytes);
  }
  if constexpr (kFive) {
    const Words first = load_words(rows.from(16)), second = load_words(rows.from(32));
    __m128i bits[8] = {first.v[0],  first.v[1],  first.v[2],  first.v[3],
                       second.v[0], second.v[1], second.v[2], second.v[3]};
    transpose_bits(bits);
    for (int b = 0; b < 8; ++b) store_16(blocks + b * kBlockBytes + 4 * kLine + 4 * row, bits[b]);
  }
}

void pack_q6_k(const FourRows& rows, int64_t row, std::byte* out) {
  constexpr int64_t kBlockBytes = 6 * kLine + 2 * kPanelRows;
  store_high_8(out + 2 * row, split_halves(load_word(rows.from(206))));
  std::byte* const blocks = out + 2 * kPanelRows;
  for (int64_t half = 0; half < 2; ++half) {
    std::byte* const to = blocks + 4 * half * kBlockBytes + 4 * row;
    for (int64_t part = 0; part < 2; ++part) {
      std::byte* const low_to = to + part * kBlockBytes;
      put_nibbles(rows.from(64 * half + 32 * part), low_to, low_to + 2 * kBlockBytes);
    }
    for (int64_t k = 0; k < 2; ++k) {
      Words pairs = load_words(rows.from(128 + 32 * half + 16 * k));
      transpose_bit_pairs(pairs.v);
      pairs.store(to + (4 + k) * kLine, kBlockBytes);
    }
  }
  const Words scales = load_words(rows.from(192));
  for (int64_t b = 0; b < 8; b += 2) {
    std::byte* const to = blocks + b * kBlockBytes + 6 * kLine + row;
    store_words(transpose_bytes(scales.v[b / 2]), to, to + kBlockBytes, kPanelRows);
  }
}

}  // namespace

void pack_super_panel(DType type, const Panel& panel) {
  if (type == DType::q4_k) return pack_blocks(panel, type, pack_q4_k_q5_k<false>);
  if (type == DType::q5_k) return pack_blocks(panel, type, pack_q4_k_q5_k<true>);
  return pack_blocks(panel, type, pack_q6_k);
}

}  // namespace mummu::cpu
