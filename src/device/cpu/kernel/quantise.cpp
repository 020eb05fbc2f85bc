// Activations for block weights: int8 in blocks of 32 with one scale; ops.h states the arithmetic.
//
// A tile of T tokens holds for each block, ascending:
//   int8  q[T][32]
//   f32   d[T]     the scale
//   f32   s[T]     sum_a = d * f32(sum of q)
//   i32   c[T]     -8 * sum of q: what turns unsigned nibbles into signed ones
// so that a kernel reads a tile front to back, every address a constant from one pointer.

#include "device/cpu/kernel/ops.h"
#include "device/cpu/kernel/simd.h"
#include "device/cpu/kernel/tile.h"

namespace mummu::MUMMU_KERNEL_NAMESPACE {
namespace {

struct Block {
  int8_t* q;
  float* d;
  float* s;
  int32_t* c;
};

constexpr int32_t kInfinityBits = 0x7f800000;
constexpr float kTiny = 0x1p-100F;

MUMMU_INLINE void quantise_block(const float* x, const Block& out) {
  const f32x16 lo = load(x);
  const f32x16 hi = load(x + 16);
  const i32x16 magnitude_mask = all(INT32_MAX);
  const int32_t amax_bits =
      largest(larger(both(bits(lo), magnitude_mask), both(bits(hi), magnitude_mask)));
  const float amax = _mm_cvtss_f32(_mm_castsi128_ps(_mm_cvtsi32_si128(amax_bits)));
  if (amax_bits >= kInfinityBits || amax < kTiny) {
    const float nothing = amax_bits >= kInfinityBits ? __builtin_nanf("") : 0.0F;
    *out.d = nothing;
    *out.s = nothing;
    *out.c = 0;
    store_bytes(out.q, all(int32_t{0}));
    store_bytes(out.q + 16, all(int32_t{0}));
    return;
  }
  const float d = amax / 127.0F;
  const f32x16 inverse = all(127.0F / amax);
  // |x * inverse| < 127.5 always, so that the clamp of ops.h has nothing to do.
  const i32x16 a = to_int(mul(lo, inverse));
  const i32x16 b = to_int(mul(hi, inverse));
  store_bytes(out.q, a);
  store_bytes(out.q + 16, b);
  const int32_t sum = integer_sum(add(a, b));
  *out.d = d;
  *out.s = d * static_cast<float>(sum);
  *out.c = -8 * sum;
}

}  // namespace

void quantise_tile(const PrepareRun& run, int64_t tile) {
  const int64_t first = first_token(run.split, tile);
  const int64_t tokens = first_token(run.split, tile + 1) - first;
  const int64_t blocks = run.columns / 32;
  std::byte* out = run.tiles + first * blocks * kTileBlockBytes;
  for (int64_t t = 0; t < tokens; ++t) {
    const float* x = run.x + (first + t) * run.columns;
    for (int64_t b = 0; b < blocks; ++b) {
      std::byte* block = out + b * tokens * kTileBlockBytes;
      float* words = reinterpret_cast<float*>(block + tokens * 32) + t;
      quantise_block(x + 32 * b, {reinterpret_cast<int8_t*>(block + t * 32), words, words + tokens,
                                  reinterpret_cast<int32_t*>(words + 2 * tokens)});
    }
  }
}

}  // namespace mummu::MUMMU_KERNEL_NAMESPACE
