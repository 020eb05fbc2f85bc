#pragma once

// The constants of gelu, and the exact operations that every device performs with them. Only this
// file is shared between reference/ and cpu/.
//
//   gelu(x) = x * Phi(x), Phi the normal distribution; all in f32, each operation rounded once:
//     1  a = |x| * kGeluRoot
//     2  t = 1 / fma(kGeluP, a, 1)
//     3  q = kGelu5
//        q = fma(q, t, c)         for c = kGelu4, kGelu3, kGelu2, kGelu1 in this order
//     4  h = (q * t) * exp(-(a * a))        erfc(a); exp is that of device/exp.h
//     5  h = x < 0 ? h : 2 - h
//        result = (0.5 * x) * h
//   bound    3e-7 * |x| absolute (2.5e-7 measured against f64 over [-20, 20]). gelu(-inf) is a
//            NaN
//   source   M. Abramowitz and I. Stegun, Handbook of Mathematical Functions, 1964, formula 7.1.26

namespace mummu {

inline constexpr float kGeluRoot = 0.70710678F;  // sqrt(1/2)
inline constexpr float kGeluP = 0.3275911F;
inline constexpr float kGelu1 = 0.254829592F;
inline constexpr float kGelu2 = -0.284496736F;
inline constexpr float kGelu3 = 1.421413741F;
inline constexpr float kGelu4 = -1.453152027F;
inline constexpr float kGelu5 = 1.061405429F;

}  // namespace mummu
