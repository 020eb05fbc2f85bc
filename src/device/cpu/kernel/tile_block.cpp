// A panel of block weights times a tile of quantised tokens; ops.h, matmul, states the order.
//
// Each part of 16 (8) rows holds one accumulator for each token of the tile, so that a block of
// weights is read and unpacked once and used for every token. A panel is for each block of 32
// columns: the weights as dot.h describes them, then f16 d[16], then where the type has a minimum
// f16 m[16]. tile_super.cpp has the types with super-blocks.

#include "device/cpu/kernel/dot.h"
#include "device/cpu/kernel/ops.h"
#include "device/cpu/kernel/simd.h"
#include "device/cpu/kernel/tile.h"

namespace mummu::MUMMU_KERNEL_NAMESPACE {
namespace {

// kOffsetEighths: what is subtracted from a number, / 8.
struct Q4_0 {
  using Weights = Unsigned<4>;
  static constexpr int64_t kWeightBytes = 256;
  static constexpr int kOffsetEighths = 1;
  static constexpr bool kMinimum = false;
};

struct Q4_1 {
  using Weights = Unsigned<4>;
  static constexpr int64_t kWeightBytes = 256;
  static constexpr int kOffsetEighths = 0;
  static constexpr bool kMinimum = true;
};

struct Q5_0 {
  using Weights = Unsigned<5>;
  static constexpr int64_t kWeightBytes = 320;
  static constexpr int kOffsetEighths = 2;
  static constexpr bool kMinimum = false;
};

struct Q5_1 {
  using Weights = Unsigned<5>;
  static constexpr int64_t kWeightBytes = 320;
  static constexpr int kOffsetEighths = 0;
  static constexpr bool kMinimum = true;
};

struct Q8_0 {
  using Weights = Bytes;
  static constexpr int64_t kWeightBytes = 512;
  static constexpr int kOffsetEighths = 1;
  static constexpr bool kMinimum = false;
};

template <typename Format, int kTokens>
MUMMU_INLINE void block_part(const std::byte* panel, int64_t blocks, const std::byte* tile,
                             float* y, int64_t part) {
  constexpr int64_t kScaleBytes = Format::kMinimum ? 64 : 32;
  f32_part sum[kTokens];
  MUMMU_UNROLL
  for (int t = 0; t < kTokens; ++t) sum[t] = part_zero();
  for (int64_t b = 0; b < blocks; ++b) {
    typename Format::Weights weights;
    weights.load(panel, part);
    const auto* scales =
        reinterpret_cast<const uint16_t*>(panel + Format::kWeightBytes) + part * kPartRows;
    const f32_part d = part_load_f16(scales);
    const f32_part m = Format::kMinimum ? part_load_f16(scales + 16) : part_zero();
    MUMMU_UNROLL
    for (int t = 0; t < kTokens; ++t) {
      const TokenWords words = tile_words<kTokens>(tile, t);
      const i32_part dot = weights.dot(tile_q(tile, t), part_all(Format::kOffsetEighths * words.c));
      sum[t] = part_fma(part_mul(d, part_all(words.d)), part_float(dot), sum[t]);
      if constexpr (Format::kMinimum) sum[t] = part_fma(m, part_all(words.s), sum[t]);
    }
    panel += Format::kWeightBytes + kScaleBytes;
    tile += kTokens * cpu::kTileBlockBytes;
  }
  MUMMU_UNROLL
  for (int t = 0; t < kTokens; ++t) part_store(y + 16 * t + part * kPartRows, sum[t]);
}

template <typename Format, int kTokens>
void block_tile(const std::byte* panel, int64_t columns, const std::byte* tile, float* y) {
  for (int64_t part = 0; part < 16 / kPartRows; ++part) {
    block_part<Format, kTokens>(panel, columns / 32, tile, y, part);
  }
}

// block_tile for kTokens tokens, where a tile may hold so many.
template <typename Format, int kTokens>
constexpr TileKernel block_tile_or_none() {
  if constexpr (kTokens <= kBlockTile) return block_tile<Format, kTokens>;
  return nullptr;
}

template <typename Format>
constexpr TileKernel kBlockTiles[cpu::kMaxTile] = {
    block_tile_or_none<Format, 1>(),  block_tile_or_none<Format, 2>(),
    block_tile_or_none<Format, 3>(),  block_tile_or_none<Format, 4>(),
    block_tile_or_none<Format, 5>(),  block_tile_or_none<Format, 6>(),
    block_tile_or_none<Format, 7>(),  block_tile_or_none<Format, 8>(),
    block_tile_or_none<Format, 9>(),  block_tile_or_none<Format, 10>(),
    block_tile_or_none<Format, 11>(), block_tile_or_none<Format, 12>(),
    block_tile_or_none<Format, 13>(), block_tile_or_none<Format, 14>(),
    block_tile_or_none<Format, 15>(), block_tile_or_none<Format, 16>()};

}  // namespace

TileKernel block_tile_kernel(DType type, int64_t tokens) {
  switch (type) {
    case DType::q4_0:
      return kBlockTiles<Q4_0>[tokens - 1];
    case DType::q4_1:
      return kBlockTiles<Q4_1>[tokens - 1];
    case DType::q5_0:
      return kBlockTiles<Q5_0>[tokens - 1];
    case DType::q5_1:
      return kBlockTiles<Q5_1>[tokens - 1];
    case DType::q8_0:
      return kBlockTiles<Q8_0>[tokens - 1];
    default:
      return super_tile_kernel(type, tokens);
  }
}

}  // namespace mummu::MUMMU_KERNEL_NAMESPACE
