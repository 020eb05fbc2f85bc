// A panel of block weights times a tile of quantised tokens; ops.h, matmul, states the order.
//
// Each part of 16 (8) rows holds one accumulator for each token of the tile, so that a block of
// weights is read and unpacked once and used for every token. A panel of q4_0, q4_1, q8_0 is for
// each block of 32 columns: the weights as dot.h describes them, then f16 d[16], then for q4_1 f16
// m[16].

#include "device/cpu/kernel/dot.h"
#include "device/cpu/kernel/ops.h"
#include "device/cpu/kernel/simd.h"
#include "device/cpu/kernel/tile.h"

namespace mummu::MUMMU_KERNEL_NAMESPACE {
namespace {

struct Q4_0 {
  using Weights = Nibbles;
  static constexpr int64_t kWeightBytes = 256;
  static constexpr bool kSigned = true;
  static constexpr bool kMinimum = false;
};

struct Q4_1 {
  using Weights = Nibbles;
  static constexpr int64_t kWeightBytes = 256;
  static constexpr bool kSigned = false;
  static constexpr bool kMinimum = true;
};

struct Q8_0 {
  using Weights = Bytes;
  static constexpr int64_t kWeightBytes = 512;
  static constexpr bool kSigned = true;
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
    const auto* q = reinterpret_cast<const int8_t*>(tile);
    const auto* words = reinterpret_cast<const float*>(tile + 32 * kTokens);
    const auto* eighths = reinterpret_cast<const int32_t*>(words + 2 * kTokens);
    MUMMU_UNROLL
    for (int t = 0; t < kTokens; ++t) {
      const i32_part start = part_all(Format::kSigned ? eighths[t] : int32_t{0});
      const i32_part dot = weights.dot(q + 32 * t, start);
      sum[t] = part_fma(part_mul(d, part_all(words[t])), part_float(dot), sum[t]);
      if constexpr (Format::kMinimum) sum[t] = part_fma(m, part_all(words[kTokens + t]), sum[t]);
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
  if (type == DType::q4_0) return kBlockTiles<Q4_0>[tokens - 1];
  if (type == DType::q4_1) return kBlockTiles<Q4_1>[tokens - 1];
  return kBlockTiles<Q8_0>[tokens - 1];
}

}  // namespace mummu::MUMMU_KERNEL_NAMESPACE
