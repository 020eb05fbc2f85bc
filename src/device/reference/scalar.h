#pragma once

// The functions of one number that ops are made of: exp and silu of device/exp.h, and the sum in
// sixteen lanes of device/ops.h.

#include <bit>
#include <cmath>
#include <cstdint>
#include <initializer_list>

#include "device/exp.h"
#include "device/gelu.h"

namespace mummu::reference {

// 2^n.
//   requires  -126 <= n <= 127
inline float power_of_two(int n) {
  return std::bit_cast<float>(static_cast<uint32_t>(n + 127) << 23);
}

inline float exp(float x) {
  if (std::isnan(x)) return x;
  x = x > kExpHigh ? kExpHigh : x;
  x = x < kExpLow ? kExpLow : x;
  const float n = std::nearbyint(x * kLog2E);
  float r = std::fma(n, -kLn2High, x);
  r = std::fma(n, -kLn2Low, r);
  float p = kExp6;
  for (float c : {kExp5, kExp4, kExp3, kExp2, 1.0F, 1.0F}) p = std::fma(p, r, c);
  const int whole = static_cast<int>(n);
  const int half = whole >> 1;
  return p * power_of_two(half) * power_of_two(whole - half);
}

inline float gelu(float x) {
  const float a = std::fabs(x) * kGeluRoot;
  const float t = 1.0F / std::fma(kGeluP, a, 1.0F);
  float q = kGelu5;
  for (float c : {kGelu4, kGelu3, kGelu2, kGelu1}) q = std::fma(q, t, c);
  float h = q * t * exp(-(a * a));
  h = x < 0 ? h : 2.0F - h;
  return 0.5F * x * h;
}

inline float silu(float x) { return x / (1.0F + exp(-x)); }

// Sixteen running sums; element i of a row belongs to lane i mod 16.
struct Lanes {
  float lane[16] = {};

  float total() const {
    float t[16];
    for (int i = 0; i < 16; ++i) t[i] = lane[i];
    for (int width = 8; width >= 1; width /= 2) {
      for (int i = 0; i < width; ++i) t[i] += t[i + width];
    }
    return t[0];
  }
};

}  // namespace mummu::reference
