#pragma once

// 32 values as int8 with one scale; ops.h (quantise) states the arithmetic.

#include "device/cpu/kernel/simd.h"

namespace mummu::MUMMU_KERNEL_NAMESPACE {
namespace {

struct Block {
  i32x16 lo, hi;  // -127 to 127
  float d;
};

constexpr int32_t kInfinityBits = 0x7f800000;
constexpr float kTiny = 0x1p-100F;

MUMMU_INLINE Block quantise_block(f32x16 lo, f32x16 hi) {
  const i32x16 magnitude_mask = all(INT32_MAX);
  const int32_t amax_bits =
      largest(larger(both(bits(lo), magnitude_mask), both(bits(hi), magnitude_mask)));
  const float amax = _mm_cvtss_f32(_mm_castsi128_ps(_mm_cvtsi32_si128(amax_bits)));
  if (amax_bits >= kInfinityBits || amax < kTiny) {
    const i32x16 none = all(int32_t{0});
    return {none, none, amax_bits >= kInfinityBits ? __builtin_nanf("") : 0.0F};
  }
  const f32x16 inverse = all(127.0F / amax);
  // |x * inverse| < 127.5 always, so that the clamp of ops.h has nothing to do.
  return {to_int(mul(lo, inverse)), to_int(mul(hi, inverse)), amax / 127.0F};
}

}  // namespace
}  // namespace mummu::MUMMU_KERNEL_NAMESPACE
