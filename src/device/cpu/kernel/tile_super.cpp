// A panel of weights in super-blocks of 256 times a tile of quantised tokens; ops.h, matmul, states
// the order.
//
// As tile_block.cpp. A panel is for each super-block: f16 d[16], for q4_k and q5_k f16 dmin[16],
// then for each of its 8 blocks of 32 columns the weights as dot.h describes them and 32 bytes:
// scales [16] and minima [16] of q4_k and q5_k, of q6_k the scales [16] of its first and of its
// second half.

#include "device/cpu/kernel/dot.h"
#include "device/cpu/kernel/ops.h"
#include "device/cpu/kernel/simd.h"
#include "device/cpu/kernel/tile.h"

namespace mummu::MUMMU_KERNEL_NAMESPACE {
namespace {

// One super-block's f16 words, then one block's weights and scales; add() is one block of one
// token.
template <int kBits>
struct WithMinimum {
  static constexpr int64_t kHeadBytes = 64;
  static constexpr int64_t kWeightBytes = kBits == 4 ? 256 : 320;
  Unsigned<kBits> weights;
  SubScale scale;
  f32_part d, minus_dmin, m;

  MUMMU_INLINE void load_head(const std::byte* p, int64_t part) {
    const auto* halves = reinterpret_cast<const uint16_t*>(p) + part * kPartRows;
    d = part_load_f16(halves);
    minus_dmin = part_mul(part_all(-1.0F), part_load_f16(halves + 16));
  }
  MUMMU_INLINE void load(const std::byte* p, int64_t part) {
    weights.load(p, part);
    scale.load_unsigned(p + kWeightBytes, part);
    m = part_mul(minus_dmin, part_float(part_load_u8(p + kWeightBytes + 16 + part * kPartRows)));
  }
  MUMMU_INLINE f32_part add(const int8_t* q, const TokenWords& words, f32_part sum) const {
    sum = part_fma(part_mul(d, part_all(words.d)), weights.product(q, scale), sum);
    return part_fma(m, part_all(words.s), sum);
  }
};

struct Q6_K {
  static constexpr int64_t kHeadBytes = 32;
  static constexpr int64_t kWeightBytes = 384;
  Sixes weights;
  SubScale scale[2];
  f32_part d;

  MUMMU_INLINE void load_head(const std::byte* p, int64_t part) {
    d = part_load_f16(reinterpret_cast<const uint16_t*>(p) + part * kPartRows);
  }
  MUMMU_INLINE void load(const std::byte* p, int64_t part) {
    weights.load(p, part);
    scale[0].load_signed(p + kWeightBytes, part);
    scale[1].load_signed(p + kWeightBytes + 16, part);
  }
  MUMMU_INLINE f32_part add(const int8_t* q, const TokenWords& words, f32_part sum) const {
    const f32_part dot = weights.product(q, scale, part_all(words.c), part_all(words.h));
    return part_fma(part_mul(d, part_all(words.d)), dot, sum);
  }
};

template <typename Super, int kTokens>
MUMMU_INLINE void super_part(const std::byte* panel, int64_t supers, const std::byte* tile,
                             float* y, int64_t part) {
  f32_part sum[kTokens];
  MUMMU_UNROLL
  for (int t = 0; t < kTokens; ++t) sum[t] = part_zero();
  for (int64_t s = 0; s < supers; ++s) {
    Super super;
    super.load_head(panel, part);
    panel += Super::kHeadBytes;
    for (int b = 0; b < 8; ++b) {
      super.load(panel, part);
      MUMMU_UNROLL
      for (int t = 0; t < kTokens; ++t) {
        sum[t] = super.add(tile_q(tile, t), tile_words<kTokens>(tile, t), sum[t]);
      }
      panel += Super::kWeightBytes + 32;
      tile += kTokens * cpu::kTileBlockBytes;
    }
  }
  MUMMU_UNROLL
  for (int t = 0; t < kTokens; ++t) part_store(y + 16 * t + part * kPartRows, sum[t]);
}

template <typename Super, int kTokens>
void super_tile(const std::byte* panel, int64_t columns, const std::byte* tile, float* y) {
  for (int64_t part = 0; part < 16 / kPartRows; ++part) {
    super_part<Super, kTokens>(panel, columns / 256, tile, y, part);
  }
}

// super_tile for kTokens tokens, where a tile may hold so many.
template <typename Super, int kTokens>
constexpr TileKernel super_tile_or_none() {
  if constexpr (kTokens <= kBlockTile) return super_tile<Super, kTokens>;
  return nullptr;
}

template <typename Super>
constexpr TileKernel kSuperTiles[cpu::kMaxTile] = {
    super_tile_or_none<Super, 1>(),  super_tile_or_none<Super, 2>(),
    super_tile_or_none<Super, 3>(),  super_tile_or_none<Super, 4>(),
    super_tile_or_none<Super, 5>(),  super_tile_or_none<Super, 6>(),
    super_tile_or_none<Super, 7>(),  super_tile_or_none<Super, 8>(),
    super_tile_or_none<Super, 9>(),  super_tile_or_none<Super, 10>(),
    super_tile_or_none<Super, 11>(), super_tile_or_none<Super, 12>(),
    super_tile_or_none<Super, 13>(), super_tile_or_none<Super, 14>(),
    super_tile_or_none<Super, 15>(), super_tile_or_none<Super, 16>()};

}  // namespace

TileKernel super_tile_kernel(DType type, int64_t tokens) {
  if (type == DType::q4_k) return kSuperTiles<WithMinimum<4>>[tokens - 1];
  if (type == DType::q5_k) return kSuperTiles<WithMinimum<5>>[tokens - 1];
  return kSuperTiles<Q6_K>[tokens - 1];
}

}  // namespace mummu::MUMMU_KERNEL_NAMESPACE
