// Rotary embedding of some tokens; ops.h states the order.

#include "device/cpu/kernel/ops.h"
#include "device/cpu/kernel/simd.h"

namespace mummu::MUMMU_KERNEL_NAMESPACE {
namespace {

// Turns n <= 16 pairs.
MUMMU_INLINE void rotate(float* low, float* high, f32x16 cosine, f32x16 sine, int64_t n) {
  const f32x16 a = load_first(low, n);
  const f32x16 b = load_first(high, n);
  store_first(low, fma(a, cosine, negate(mul(b, sine))), n);
  store_first(high, fma(b, cosine, mul(a, sine)), n);
}

}  // namespace

void rope(const RopeRun& run) {
  const int64_t half = run.rotary_dim / 2;
  for (int64_t t = 0; t < run.tokens; ++t) {
    const float* cosines = run.cos_sin + run.positions[t] * run.rotary_dim;
    float* row = run.x + t * run.heads * run.head_dim;
    for (int64_t i = 0; i < half; i += 16) {
      const int64_t n = smaller(16, half - i);
      const f32x16 cosine = load_first(cosines + i, n);
      const f32x16 sine = load_first(cosines + half + i, n);
      for (int64_t h = 0; h < run.heads; ++h) {
        float* low = row + h * run.head_dim + i;
        rotate(low, low + half, cosine, sine, n);
      }
    }
  }
}

}  // namespace mummu::MUMMU_KERNEL_NAMESPACE
