#pragma once

// One panel: up to 16 rows as a file holds them, re-laid as pack.h describes.

#include <cstddef>
#include <cstdint>

#include "base/dtype.h"

namespace mummu::cpu {

struct Panel {
  const std::byte* rows;
  int64_t count;
  int64_t row_bytes;
  std::byte* out;
};

// Bytes that one block (or one number) of 16 rows takes in a panel.
int64_t block_panel_bytes(DType type);

// Re-lays a panel; rows beyond `count` are left as they are.
void pack_panel(DType type, const Panel& panel);
// The same for q4_k, q5_k and q6_k.
void pack_super_panel(DType type, const Panel& panel);

}  // namespace mummu::cpu
