#pragma once

// exp and silu of 16 lanes; the operations and constants of device/exp.h.

#include "device/cpu/kernel/simd.h"
#include "device/exp.h"

namespace mummu::MUMMU_KERNEL_NAMESPACE {
namespace {

// 2^n
//   requires  -126 <= n <= 127
MUMMU_INLINE f32x16 power_of_two(i32x16 n) {
  return from_bits(shift_left<23>(add(n, all(int32_t{127}))));
}

MUMMU_INLINE f32x16 exp(f32x16 x) {
  x = lesser(all(kExpHigh), x);
  x = greater(all(kExpLow), x);
  const f32x16 n = round_to_int(mul(x, all(kLog2E)));
  f32x16 r = fma(n, all(-kLn2High), x);
  r = fma(n, all(-kLn2Low), r);
  f32x16 p = all(kExp6);
  p = fma(p, r, all(kExp5));
  p = fma(p, r, all(kExp4));
  p = fma(p, r, all(kExp3));
  p = fma(p, r, all(kExp2));
  p = fma(p, r, all(1.0F));
  p = fma(p, r, all(1.0F));
  const i32x16 whole = to_int(n);
  const i32x16 half = shift_right<1>(whole);
  return mul(mul(p, power_of_two(half)), power_of_two(sub(whole, half)));
}

MUMMU_INLINE f32x16 silu(f32x16 x) { return div(x, add(all(1.0F), exp(negate(x)))); }

}  // namespace
}  // namespace mummu::MUMMU_KERNEL_NAMESPACE
