#pragma once

// The constants of exp and silu, and the exact operations that every device performs with them.
// Only this file is shared between reference/ and cpu/: each writes the operations again in its own
// words, and a test compares them to the bit.
//
//   exp(x), all in f32, round to nearest even, denormals kept:
//     1  x NaN: the result is a NaN
//     2  x = x > kExpHigh ? kExpHigh : x
//     3  x = x < kExpLow ? kExpLow : x
//     4  n = rint(x * kLog2E)           the product is rounded once, then to the even integer
//     5  r = fma(n, -kLn2High, x)
//        r = fma(n, -kLn2Low, r)
//     6  p = kExp6
//        p = fma(p, r, c)               for c = kExp5, kExp4, kExp3, kExp2, 1, 1 in this order
//     7  h = n >> 1                     rounds down
//        result = (p * 2^h) * 2^(n - h)
//   The first product of step 7 is exact, so a denormal result is rounded once from p. Step 7 gives
//   +inf by itself above ln(FLT_MAX), and +0 at kExpLow. -150 <= n <= 128, so both powers of two
//   are normal numbers.
//   bound    0.9 ulp (0.86 * 2^-149 where the result is denormal), measured against f64 over every
//            float in [-89.5, 89.5] and, for denormal results, down to -104
//
//   silu(x) = x / (1 + exp(-x)): negate, exp, add, divide, each rounded once.
//   bound    2.4 ulp for |x| < 87. silu(x) is -0 below -88.73; silu(-inf) is NaN
//
//   source   range reduction with ln 2 in two parts: W. J. Cody and W. Waite, Software Manual for
//            the Elementary Functions, 1980, chapter 6. Coefficients: Remez exchange of
//            1 + r + r^2 q(r) on |r| <= ln(2)/2 in relative error, rounded to f32 one after another
//            from the lowest, the rest solved again each time; 3.2e-9 without rounding

namespace mummu {

inline constexpr float kExpHigh = 89.0F;
inline constexpr float kExpLow = -104.0F;
inline constexpr float kLog2E = 0x1.715476p+0F;
inline constexpr float kLn2High = 0x1.62e4p-1F;    // 15 bits: n * kLn2High is exact
inline constexpr float kLn2Low = 0x1.7f7d1cp-20F;  // ln 2 - kLn2High
inline constexpr float kExp2 = 0x1.fffffcp-2F;
inline constexpr float kExp3 = 0x1.55548cp-3F;
inline constexpr float kExp4 = 0x1.555858p-5F;
inline constexpr float kExp5 = 0x1.123de2p-7F;
inline constexpr float kExp6 = 0x1.6ac778p-10F;

}  // namespace mummu
