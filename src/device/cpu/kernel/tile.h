#pragma once

// Inside one instruction set: the products of one panel with one tile of tokens, the step that
// matmul and gated share.

#include <cstddef>
#include <cstdint>

#include "base/dtype.h"
#include "device/cpu/kernels.h"

namespace mummu::MUMMU_KERNEL_NAMESPACE {

// Writes 16 outputs for each token of a tile.
//   shapes   panel: as pack.cpp lays it out   tile: as prepared   y (tile's tokens, 16)
//   order    ops.h, matmul: everything before the bias
using TileKernel = void (*)(const std::byte* panel, int64_t columns, const std::byte* tile,
                            float* y);

// The kernel for a weight type and 1 to kMaxTile tokens (as many as the table's tile allows).
TileKernel block_tile_kernel(DType type, int64_t tokens);
TileKernel super_tile_kernel(DType type, int64_t tokens);  // a part of block_tile_kernel
TileKernel float_tile_kernel(DType type, int64_t tokens);

namespace {

[[gnu::always_inline]] inline bool is_block_type(DType type) { return type >= DType::q8_0; }

[[gnu::always_inline]] inline TileKernel tile_kernel(DType type, int64_t tokens) {
  return is_block_type(type) ? block_tile_kernel(type, tokens) : float_tile_kernel(type, tokens);
}

// The first token of tile i: the first `tokens % count` tiles hold one token more.
[[gnu::always_inline]] inline int64_t first_token(const cpu::Tiles& split, int64_t i) {
  const int64_t base = split.tokens / split.count;
  const int64_t longer = split.tokens % split.count;
  return i * base + (i < longer ? i : longer);
}

// Bytes of one prepared token, the same in a tile of any size.
[[gnu::always_inline]] inline int64_t token_bytes(DType type, int64_t columns) {
  return is_block_type(type) ? columns / 32 * cpu::kTileBlockBytes : columns * 4;
}

// One token's words of a block in a tile (see quantise.cpp).
struct TokenWords {
  float d, s;
  int32_t c, h;
};

[[gnu::always_inline]] inline const int8_t* tile_q(const std::byte* block, int t) {
  return reinterpret_cast<const int8_t*>(block) + 32 * t;
}

template <int kTokens>
[[gnu::always_inline]] inline TokenWords tile_words(const std::byte* block, int t) {
  const auto* floats = reinterpret_cast<const float*>(block + 32 * kTokens) + t;
  const auto* ints = reinterpret_cast<const int32_t*>(floats);
  return {floats[0], floats[kTokens], ints[2 * kTokens], ints[3 * kTokens]};
}

}  // namespace
}  // namespace mummu::MUMMU_KERNEL_NAMESPACE
