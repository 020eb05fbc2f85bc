#pragma once

// Panels of quantised types, block by block: four rows at a time, so that a vector holds one word
// of each.

#include "device/cpu/pack_panel.h"
#include "device/cpu/transpose.h"
#include "device/ops.h"

namespace mummu::cpu {

inline constexpr std::byte kZeroBlock[210] = {};  // of a row that is not there

// Calls pack(rows, row, out) for each block of each four rows of a panel; `out` is where this block
// of all rows goes, and `row` the place of the first of the four among them.
template <typename Pack>
void pack_blocks(const Panel& panel, DType type, Pack pack) {
  const int64_t bytes = info(type).bytes, packed = block_panel_bytes(type);
  const auto [rows, count, row_bytes, begin] = panel;
  std::byte* out = begin;
  for (int64_t at = 0; at < row_bytes; at += bytes, out += packed) {
    for (int64_t row = 0; row < count; row += 4) {
      FourRows four;
      for (int64_t i = 0; i < 4; ++i)
        four.at[i] = row + i < count ? rows + (row + i) * row_bytes + at : kZeroBlock;
      pack(four, row, out);
    }
  }
}

}  // namespace mummu::cpu
