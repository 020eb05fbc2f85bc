#include "layer/double_math.h"

#include <array>
#include <cmath>

namespace mummu {

namespace {

// pi/2 in two parts of 33 bits and the rest, so that n * part is exact for |n| < 2^20.
//   source   the bits of pi; Cody and Waite, Software Manual for the Elementary Functions, 1980
constexpr double kHalfPi1 = 0x1.921fb544p+0;
constexpr double kHalfPi2 = 0x1.0b4611a6p-34;
constexpr double kHalfPi3 = 0x1.3198a2e037073p-69;
constexpr double kTwoOverPi = 0x1.45f306dc9c883p-1;

constexpr double kLn2High = 0x1.62e42feep-1;
constexpr double kLn2Low = 0x1.a39ef35793c76p-33;
constexpr double kLog2E = 0x1.71547652b82fep+0;

// 1/n! ; Taylor's series, cut where the next term is below 2^-60 at the end of the reduced range.
template <int n>
constexpr double inverse_factorial() {
  double product = 1;
  for (int i = 2; i <= n; ++i) product *= i;
  return 1 / product;
}

// |r| <= pi/4
double sin_reduced(double r) {
  const double s = r * r;
  double p = inverse_factorial<17>();
  p = p * s - inverse_factorial<15>();
  p = p * s + inverse_factorial<13>();
  p = p * s - inverse_factorial<11>();
  p = p * s + inverse_factorial<9>();
  p = p * s - inverse_factorial<7>();
  p = p * s + inverse_factorial<5>();
  p = p * s - inverse_factorial<3>();
  return r + r * (s * p);
}

double cos_reduced(double r) {
  const double s = r * r;
  double p = inverse_factorial<18>();
  p = inverse_factorial<16>() - p * s;
  p = p * s - inverse_factorial<14>();
  p = p * s + inverse_factorial<12>();
  p = p * s - inverse_factorial<10>();
  p = p * s + inverse_factorial<8>();
  p = p * s - inverse_factorial<6>();
  p = p * s + inverse_factorial<4>();
  return 1 + (s * s * p - 0.5 * s);
}

}  // namespace

SinCos sin_cos(double x) {
  const double n = std::nearbyint(x * kTwoOverPi);
  const double r = ((x - n * kHalfPi1) - n * kHalfPi2) - n * kHalfPi3;
  const double s = sin_reduced(r);
  const double c = cos_reduced(r);
  switch (static_cast<int64_t>(n) & 3) {
    case 0:
      return {s, c};
    case 1:
      return {c, -s};
    case 2:
      return {-s, -c};
    default:
      return {-c, s};
  }
}

double natural_log(double x) {
  int exponent = 0;
  double m = std::frexp(x, &exponent);  // [0.5, 1)
  if (m < 0x1.6a09e667f3bcdp-1) {       // sqrt(1/2)
    m *= 2;
    --exponent;
  }
  // ln m = 2 atanh(z), z = (m-1)/(m+1), |z| < 0.1716
  const double z = (m - 1) / (m + 1);
  const double s = z * z;
  double p = 0;
  for (int k = 23; k >= 3; k -= 2) p = p * s + 1.0 / k;
  return exponent * kLn2High + (2 * z + (2 * z * s * p + exponent * kLn2Low));
}

double exponential(double x) {
  const double n = std::nearbyint(x * kLog2E);
  const double r = (x - n * kLn2High) - n * kLn2Low;
  double p = inverse_factorial<14>();
  constexpr std::array kTerms = {
      inverse_factorial<13>(), inverse_factorial<12>(), inverse_factorial<11>(),
      inverse_factorial<10>(), inverse_factorial<9>(),  inverse_factorial<8>(),
      inverse_factorial<7>(),  inverse_factorial<6>(),  inverse_factorial<5>(),
      inverse_factorial<4>(),  inverse_factorial<3>(),  inverse_factorial<2>()};
  for (double term : kTerms) p = p * r + term;
  return std::ldexp(1 + (r + r * r * p), static_cast<int>(n));
}

}  // namespace mummu
