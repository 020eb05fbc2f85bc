// Panels of q4_k, q5_k and q6_k; base/dtype.h says how a file's super-block lies, pack.h what
// becomes of it. Four rows at a time, so that a vector holds one word of each.

#include <cstring>

#include "device/cpu/pack_panel.h"
#include "device/cpu/transpose.h"
#include "device/ops.h"

namespace mummu::cpu {
namespace {

// One super-block of four rows.
struct Rows {
  const std::byte* at[4];

  Rows from(int64_t offset) const {
    return {{at[0] + offset, at[1] + offset, at[2] + offset, at[3] + offset}};
  }
};

constexpr std::byte kZeros[210] = {};  // a super-block of a row that is not there

// Words 0..3 of 16 bytes of four rows: v[j] holds word j of each row.
struct Words {
  __m128i v[4];
};
Words load_words(const Rows& rows) {
  Words words;
  for (int i = 0; i < 4; ++i) words.v[i] = load_16(rows.at[i]);
  transpose_words(words.v);
  return words;
}

// 32 numbers of 4 bits of each row, the low halves of 32 bytes or the high ones: `shift` is 0 or 4.
void put_nibbles(const Rows& rows, int shift, std::byte* to) {
  const __m128i low_halves = _mm_set1_epi8(15);
  const Words first = load_words(rows), second = load_words(rows.from(16));
  for (int j = 0; j < 4; ++j) {
    const __m128i low = _mm_and_si128(_mm_srli_epi16(first.v[j], shift), low_halves);
    const __m128i high = _mm_and_si128(_mm_srli_epi16(second.v[j], shift), low_halves);
    store_16(to + 64 * j, _mm_or_si128(low, _mm_slli_epi16(high, 4)));
  }
}

// out | bits [from, from + kBits) of every byte of words 0..3, those of word j at bit kBits * j +
// at.
template <int kBits>
__m128i with_bits(__m128i out, const Words& words, int from, int at) {
  const __m128i mask = _mm_set1_epi8((1 << kBits) - 1);
  for (int j = 0; j < 4; ++j) {
    const __m128i bits = _mm_and_si128(_mm_srli_epi16(words.v[j], from), mask);
    out = _mm_or_si128(out, _mm_slli_epi16(bits, kBits * j + at));
  }
  return out;
}

// The 8 scales and 8 minima of 6 bits in 12 bytes, a byte each.
struct Sixes {
  std::byte scale[8], minimum[8];
};
Sixes unpack_sixes(const std::byte* from) {
  constexpr uint32_t kLow = 0x0F0F0F0FU, kSix = 0x3F3F3F3FU, kTop = 0x30303030U;
  uint32_t in[3];
  std::memcpy(in, from, sizeof in);
  const uint32_t scale[2] = {in[0] & kSix, (in[2] & kLow) | (in[0] >> 2 & kTop)};
  const uint32_t minimum[2] = {in[1] & kSix, (in[2] >> 4 & kLow) | (in[1] >> 2 & kTop)};
  Sixes out;
  std::memcpy(out.scale, scale, sizeof scale);
  std::memcpy(out.minimum, minimum, sizeof minimum);
  return out;
}

void pack_q4_k_q5_k(bool five, const Rows& rows, int64_t row, std::byte* out) {
  const int64_t block_bytes = (five ? 320 : 256) + 32;
  std::byte* blocks = out + 64;
  for (int64_t i = 0; i < 4; ++i) {
    std::memcpy(out + 2 * (row + i), rows.at[i], 2);
    std::memcpy(out + 32 + 2 * (row + i), rows.at[i] + 2, 2);
    const Sixes sixes = unpack_sixes(rows.at[i] + 4);
    for (int64_t b = 0; b < 8; ++b) {
      std::byte* scales = blocks + (b + 1) * block_bytes - 32 + row + i;
      scales[0] = sixes.scale[b];
      scales[16] = sixes.minimum[b];
    }
  }
  const Rows nibbles = rows.from(five ? 48 : 16);
  for (int b = 0; b < 8; ++b) {
    put_nibbles(nibbles.from(b / 2 * 32), b % 2 * 4, blocks + b * block_bytes + 4 * row);
  }
  if (!five) return;
  const Words first = load_words(rows.from(16)), second = load_words(rows.from(32));
  for (int b = 0; b < 8; ++b) {
    const __m128i low = with_bits<1>(_mm_setzero_si128(), first, b, 0);
    store_16(blocks + b * block_bytes + 256 + 4 * row, with_bits<1>(low, second, b, 4));
  }
}

void pack_q6_k(const Rows& rows, int64_t row, std::byte* out) {
  constexpr int64_t kBlockBytes = 384 + 32;
  std::byte* blocks = out + 32;
  for (int64_t i = 0; i < 4; ++i) {
    std::memcpy(out + 2 * (row + i), rows.at[i] + 208, 2);
    for (int64_t b = 0; b < 8; ++b) {
      std::byte* scales = blocks + b * kBlockBytes + 384 + row + i;
      scales[0] = rows.at[i][192 + 2 * b];
      scales[16] = rows.at[i][192 + 2 * b + 1];
    }
  }
  for (int half = 0; half < 2; ++half) {
    const Words first = load_words(rows.from(128 + 32 * half));
    const Words second = load_words(rows.from(128 + 32 * half + 16));
    for (int part = 0; part < 4; ++part) {
      std::byte* to = blocks + (4 * half + part) * kBlockBytes + 4 * row;
      put_nibbles(rows.from(64 * half + part % 2 * 32), part / 2 * 4, to);
      store_16(to + 256, with_bits<2>(_mm_setzero_si128(), first, 2 * part, 0));
      store_16(to + 320, with_bits<2>(_mm_setzero_si128(), second, 2 * part, 0));
    }
  }
}

}  // namespace

void pack_super_panel(DType type, const Panel& panel) {
  const int64_t bytes = info(type).bytes;
  std::byte* out = panel.out;
  for (int64_t at = 0; at < panel.row_bytes; at += bytes, out += block_panel_bytes(type)) {
    for (int64_t r = 0; r < panel.count; r += 4) {
      Rows rows;
      for (int64_t i = 0; i < 4; ++i) {
        rows.at[i] = r + i < panel.count ? panel.rows + (r + i) * panel.row_bytes + at : kZeros;
      }
      if (type == DType::q6_k) {
        pack_q6_k(rows, r, out);
      } else {
        pack_q4_k_q5_k(type == DType::q5_k, rows, r, out);
      }
    }
  }
}

}  // namespace mummu::cpu
