#include "device/cpu/pack_panel.h"

#include <algorithm>
#include <cstring>

#include "device/cpu/pack_blocks.h"

namespace mummu::cpu {
namespace {

// Whole numbers or floats of 4 or 2 bytes: groups of rows that a transposition takes, then what is
// left of the rows and of the columns one by one.
template <typename Word>
void pack_words(const Panel& panel) {
  constexpr int64_t kSize = sizeof(Word);
  constexpr int64_t kGroup = 16 / kSize;  // rows of a transposition, and words of each
  constexpr int64_t kLine = 64;
  const auto [rows, count, row_bytes, out] = panel;
  const int64_t grouped = count / kGroup * kGroup;
  const int64_t whole = row_bytes / 16 * 16;
  for (int64_t line = 0; line < whole; line += kLine) {
    const int64_t end = std::min(whole, line + kLine);
    for (int64_t r = 0; r < grouped; r += kGroup) {
      for (int64_t at = line; at < end; at += 16) {
        const std::byte* from = rows + r * row_bytes + at;
        std::byte* to = out + at * kPanelRows + r * kSize;
        if constexpr (kSize == 4) {
          load_words(four_rows(from, row_bytes)).store(to, kSize * kPanelRows);
        } else {
          transpose_halves_8(from, row_bytes, to, kSize * kPanelRows);
        }
      }
    }
  }
  for (int64_t r = 0; r < count; ++r) {
    for (int64_t at = r < grouped ? whole : 0; at < row_bytes; at += kSize)
      std::memcpy(out + at * kPanelRows + r * kSize, rows + r * row_bytes + at, kSize);
  }
}

struct Form {
  bool minimum;  // follows the scale, both f16
  bool five;     // four bytes of fifth bits follow
  int64_t weight_bytes;
};

template <Form kForm>
void pack_block(const FourRows& rows, int64_t row, std::byte* out) {
  constexpr int64_t kScaleBytes = kForm.minimum ? 4 : 2;
  constexpr int64_t kHeadBytes = kScaleBytes + (kForm.five ? 4 : 0);
  for (int64_t at = 0; at < kForm.weight_bytes; at += 16) {
    load_words(rows.from(kHeadBytes + at)).store(out + at * kPanelRows + 4 * row, 4 * kPanelRows);
  }
  out += kForm.weight_bytes * kPanelRows;
  if constexpr (kForm.five) {
    store_16(out + 4 * row, turn_bits(load_word(rows.from(kScaleBytes))));
    out += 4 * kPanelRows;
  }
  const __m128i scales = split_halves(load_word(rows));
  store_low_8(out + 2 * row, scales);
  if constexpr (kForm.minimum) store_high_8(out + 2 * (kPanelRows + row), scales);
}

}  // namespace

int64_t block_panel_bytes(DType type) {
  // The 6-bit scales and minima of a super-block take a byte each.
  const int64_t widened = type == DType::q4_k || type == DType::q5_k ? 4 : 0;
  return kPanelRows * (info(type).bytes + widened);
}

void pack_panel(DType type, const Panel& panel) {
  switch (type) {
    case DType::f32:
      return pack_words<uint32_t>(panel);
    case DType::f16:
    case DType::bf16:
      return pack_words<uint16_t>(panel);
    case DType::q8_0:
      return pack_blocks(panel, type, pack_block<Form{false, false, 32}>);
    case DType::q4_0:
      return pack_blocks(panel, type, pack_block<Form{false, false, 16}>);
    case DType::q4_1:
      return pack_blocks(panel, type, pack_block<Form{true, false, 16}>);
    case DType::q5_0:
      return pack_blocks(panel, type, pack_block<Form{false, true, 16}>);
    case DType::q5_1:
      return pack_blocks(panel, type, pack_block<Form{true, true, 16}>);
    default:
      return pack_super_panel(type, panel);
  }
}

}  // namespace mummu::cpu
