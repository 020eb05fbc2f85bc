#pragma once

// Activations to int8 in blocks of 32, as `matmul` of device/ops.h states.

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "device/ops.h"

namespace mummu::reference {

// A row of x in blocks: x[i] is about scale[i / 32] * q[i].
struct QuantisedRow {
  int8_t* q = nullptr;     // (columns)
  float* scale = nullptr;  // (columns / 32)
  float* sum = nullptr;    // (columns / 32): scale * the integer sum of the block's q

  // The same row from block `block` on.
  QuantisedRow at(int64_t block) const { return {q + block * kBlock, scale + block, sum + block}; }
};

// One block of 32.
inline void quantise_block(const float* x, QuantisedRow out) {
  float amax = 0.0F;
  bool finite = true;
  for (int64_t i = 0; i < kBlock; ++i) {
    finite = finite && std::isfinite(x[i]);
    amax = std::max(amax, std::fabs(x[i]));
  }
  if (!finite || amax < 0x1p-100F) {
    std::fill_n(out.q, kBlock, int8_t{0});
    *out.scale = *out.sum = finite ? 0.0F : std::nanf("");
    return;
  }
  const float inverse = 127.0F / amax;
  int total = 0;
  for (int64_t i = 0; i < kBlock; ++i) {
    const float rounded = std::nearbyint(x[i] * inverse);
    out.q[i] = static_cast<int8_t>(std::clamp(rounded, -127.0F, 127.0F));
    total += out.q[i];
  }
  *out.scale = amax / 127.0F;
  *out.sum = *out.scale * static_cast<float>(total);
}

inline void quantise(const float* x, int64_t columns, QuantisedRow out) {
  for (int64_t block = 0; block < columns / kBlock; ++block) {
    quantise_block(x + block * kBlock, out.at(block));
  }
}

}  // namespace mummu::reference
