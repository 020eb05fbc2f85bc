#include "device/cpu/pack_panel.h"

#include <algorithm>
#include <cstring>

#include "device/cpu/transpose.h"
#include "device/ops.h"

namespace mummu::cpu {
namespace {

// Whole numbers or floats of 4 or 2 bytes: groups of rows that a transposition takes, then what is
// left of the columns and of the rows one by one.
template <typename Word>
void pack_words(const Panel& panel) {
  constexpr int64_t kSize = sizeof(Word);
  constexpr int64_t kGroup = 16 / kSize;  // rows of a transposition, and words of each
  const int64_t grouped = panel.count / kGroup * kGroup;
  const int64_t whole = panel.row_bytes / 16 * 16;
  for (int64_t r = 0; r < panel.count; ++r) {
    const std::byte* row = panel.rows + r * panel.row_bytes;
    std::byte* to = panel.out + r * kSize;
    int64_t at = 0;
    if (r < grouped && r % kGroup == 0) {
      for (; at < whole; at += 16) {
        if constexpr (kSize == 4) {
          transpose_words_4(row + at, panel.row_bytes, to + at * kPanelRows, kSize * kPanelRows);
        } else {
          transpose_halves_8(row + at, panel.row_bytes, to + at * kPanelRows, kSize * kPanelRows);
        }
      }
    } else if (r < grouped) {
      at = whole;
    }
    for (; at < panel.row_bytes; at += kSize) {
      std::memcpy(to + at * kPanelRows, row + at, sizeof(Word));
    }
  }
}

struct Block {
  int64_t scales;  // f16: the scale, and the minimum where there is one
  bool five;       // four bytes of fifth bits follow
  int64_t weight_bytes;
};

// The weights of one block of all rows, groups of 4 k after another.
void pack_block_weights(const std::byte* from, const Panel& panel, int64_t bytes, std::byte* out) {
  int64_t r = 0;
  for (; r + 4 <= panel.count; r += 4) {
    for (int64_t i = 0; i < bytes; i += 16) {
      transpose_words_4(from + r * panel.row_bytes + i, panel.row_bytes,
                        out + i * kPanelRows + 4 * r, 4 * kPanelRows);
    }
  }
  for (; r < panel.count; ++r) {
    for (int64_t i = 0; i < bytes; i += 4) {
      std::memcpy(out + i * kPanelRows + 4 * r, from + r * panel.row_bytes + i, 4);
    }
  }
}

// The fifth bits of one block of all rows.
void pack_fifth_bits(const std::byte* from, const Panel& panel, std::byte* out) {
  for (int64_t r = 0; r < panel.count; r += 4) {
    const int64_t rows = std::min<int64_t>(4, panel.count - r);
    alignas(16) uint32_t bits[4] = {};
    for (int64_t i = 0; i < rows; ++i) {
      std::memcpy(&bits[i], from + (r + i) * panel.row_bytes, sizeof bits[i]);
    }
    store_16(out + 4 * r, turn_bits(load_16(reinterpret_cast<const std::byte*>(bits))));
  }
}

void pack_blocks(const Panel& panel, const Block& block) {
  const int64_t high_bytes = block.five ? 4 : 0;
  const int64_t head_bytes = 2 * block.scales + high_bytes;
  const int64_t bytes = head_bytes + block.weight_bytes;
  std::byte* out = panel.out;
  for (int64_t at = 0; at < panel.row_bytes; at += bytes, out += bytes * kPanelRows) {
    const std::byte* from = panel.rows + at;
    std::byte* high = out + block.weight_bytes * kPanelRows;
    std::byte* scales = high + high_bytes * kPanelRows;
    pack_block_weights(from + head_bytes, panel, block.weight_bytes, out);
    if (block.five) pack_fifth_bits(from + 2 * block.scales, panel, high);
    for (int64_t r = 0; r < panel.count; ++r) {
      for (int64_t s = 0; s < block.scales; ++s) {
        std::memcpy(scales + 2 * s * kPanelRows + 2 * r, from + r * panel.row_bytes + 2 * s, 2);
      }
    }
  }
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
      return pack_blocks(panel, {.scales = 1, .five = false, .weight_bytes = 32});
    case DType::q4_0:
      return pack_blocks(panel, {.scales = 1, .five = false, .weight_bytes = 16});
    case DType::q4_1:
      return pack_blocks(panel, {.scales = 2, .five = false, .weight_bytes = 16});
    case DType::q5_0:
      return pack_blocks(panel, {.scales = 1, .five = true, .weight_bytes = 16});
    case DType::q5_1:
      return pack_blocks(panel, {.scales = 2, .five = true, .weight_bytes = 16});
    default:
      return pack_super_panel(type, panel);
  }
}

}  // namespace mummu::cpu
