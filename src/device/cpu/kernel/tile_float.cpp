// A panel of float weights times a tile of f32 tokens; ops.h, matmul, states the order.
//
// A panel is (columns, 16) values; a tile is (columns, tokens) f32, so that one token is the row of
// x itself. One accumulator per token, fma over k ascending.

#include "device/cpu/kernel/ops.h"
#include "device/cpu/kernel/simd.h"
#include "device/cpu/kernel/tile.h"

namespace mummu::MUMMU_KERNEL_NAMESPACE {
namespace {

struct F32 {
  using Stored = float;
  MUMMU_INLINE static f32x16 widen(const float* p) { return load(p); }
};
struct F16 {
  using Stored = uint16_t;
  MUMMU_INLINE static f32x16 widen(const uint16_t* p) { return load_f16(p); }
};
struct Bf16 {
  using Stored = uint16_t;
  MUMMU_INLINE static f32x16 widen(const uint16_t* p) { return load_bf16(p); }
};

template <typename Format, int kTokens>
void float_tile(const std::byte* panel, int64_t columns, const std::byte* tile, float* y) {
  const auto* weights = reinterpret_cast<const typename Format::Stored*>(panel);
  const auto* x = reinterpret_cast<const float*>(tile);
  f32x16 sum[kTokens];
  MUMMU_UNROLL
  for (int t = 0; t < kTokens; ++t) sum[t] = zero();
  for (int64_t k = 0; k < columns; ++k) {
    const f32x16 w = Format::widen(weights + 16 * k);
    MUMMU_UNROLL
    for (int t = 0; t < kTokens; ++t) sum[t] = fma(w, all(x[k * kTokens + t]), sum[t]);
  }
  MUMMU_UNROLL
  for (int t = 0; t < kTokens; ++t) store(y + 16 * t, sum[t]);
}

// float_tile for kTokens tokens, where a tile may hold so many.
template <typename Format, int kTokens>
constexpr TileKernel float_tile_or_none() {
  if constexpr (kTokens <= kFloatTile) return float_tile<Format, kTokens>;
  return nullptr;
}

template <typename Format>
constexpr TileKernel kFloatTiles[cpu::kMaxTile] = {
    float_tile_or_none<Format, 1>(),  float_tile_or_none<Format, 2>(),
    float_tile_or_none<Format, 3>(),  float_tile_or_none<Format, 4>(),
    float_tile_or_none<Format, 5>(),  float_tile_or_none<Format, 6>(),
    float_tile_or_none<Format, 7>(),  float_tile_or_none<Format, 8>(),
    float_tile_or_none<Format, 9>(),  float_tile_or_none<Format, 10>(),
    float_tile_or_none<Format, 11>(), float_tile_or_none<Format, 12>(),
    float_tile_or_none<Format, 13>(), float_tile_or_none<Format, 14>(),
    float_tile_or_none<Format, 15>(), float_tile_or_none<Format, 16>()};

}  // namespace

TileKernel float_tile_kernel(DType type, int64_t tokens) {
  if (type == DType::f32) return kFloatTiles<F32>[tokens - 1];
  if (type == DType::f16) return kFloatTiles<F16>[tokens - 1];
  return kFloatTiles<Bf16>[tokens - 1];
}

void interleave_tile(const PrepareRun& run, int64_t tile) {
  const int64_t first = first_token(run.split, tile);
  const int64_t tokens = first_token(run.split, tile + 1) - first;
  const float* x = run.x + first * run.columns;
  float* out = reinterpret_cast<float*>(run.tiles) + first * run.columns;
  for (int64_t k = 0; k < run.columns; ++k) {
    for (int64_t t = 0; t < tokens; ++t) out[k * tokens + t] = x[t * run.columns + k];
  }
}

}  // namespace mummu::MUMMU_KERNEL_NAMESPACE
