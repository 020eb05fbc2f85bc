#pragma once

// The probability of a token as an integer: exp(d) in units of 2^-45 of the likeliest token's, for
// d = (logit - highest logit) / temperature. Integer sums are exact, so a sum over a vocabulary
// needs no order: any part of it may be added first, on any number of lanes.
//
//   order    d = d < -40 ? -40 : d; t = d * log2(e) + 1.5 * 2^52; n = t - 1.5 * 2^52;
//            r = (d - n * kLn2High) - n * kLn2Low; p = 1/12!, then p = p * r + 1/k! for k = 11 ...
//            0; e = p * 2^n; weight = e * 2^45 rounded to the nearest integer all in f64, every
//            product and sum rounded by itself (no fused multiply-add)
//   bound    |e - exp(d)| < 4e-16 * exp(d) + 1e-17 before the last rounding; a token below 2^-46 of
//            the likeliest weighs nothing
//   source   range reduction as in Cody and Waite, Software Manual for the Elementary Functions,
//            1980; Taylor's series, whose next term is below 2e-16 at |r| = ln(2)/2

#include <bit>
#include <cstdint>

namespace mummu {

inline constexpr double kWeightOne = 0x1p45;  // what the likeliest token weighs
inline constexpr double kWeightFloor = -40;   // below: nothing (2^-46 is at -31.9)

inline uint64_t token_weight(double d) {
  constexpr double kShift = 0x1.8p52;
  constexpr double kLog2E = 0x1.71547652b82fep+0;
  constexpr double kLn2High = 0x1.62e42feep-1;  // 32 bits: n * kLn2High is exact
  constexpr double kLn2Low = 0x1.a39ef35793c76p-33;
  d = d < kWeightFloor ? kWeightFloor : d;
  const double t = d * kLog2E + kShift;
  const double n = t - kShift;
  const double r = (d - n * kLn2High) - n * kLn2Low;
  double p = 1.0 / 479001600;
  p = p * r + 1.0 / 39916800;
  p = p * r + 1.0 / 3628800;
  p = p * r + 1.0 / 362880;
  p = p * r + 1.0 / 40320;
  p = p * r + 1.0 / 5040;
  p = p * r + 1.0 / 720;
  p = p * r + 1.0 / 120;
  p = p * r + 1.0 / 24;
  p = p * r + 1.0 / 6;
  p = p * r + 0.5;
  p = p * r + 1;
  p = p * r + 1;
  // t's lowest mantissa bits are n: moved up, they are the exponent of 2^n.
  const double power = std::bit_cast<double>((std::bit_cast<uint64_t>(t) + 1023) << 52);
  const double shifted = p * power * kWeightOne + 0x1p52;
  return std::bit_cast<uint64_t>(shifted) - std::bit_cast<uint64_t>(0x1p52);
}

}  // namespace mummu
