#pragma once

// Floats of any type as f32; exact.

#include <algorithm>
#include <cstring>

#include "base/dtype.h"
#include "base/half.h"

namespace mummu {

// `count` numbers of type f32, f16 or bf16 that lie side by side, at any address.
inline void widen(DType type, const void* from, int64_t count, float* out) {
  const auto* bytes = static_cast<const unsigned char*>(from);
  if (type == DType::f32) {
    std::copy_n(bytes, count * info(type).bytes, reinterpret_cast<unsigned char*>(out));
    return;
  }
  const auto each = [&](auto widen_half) {
    for (int64_t i = 0; i < count; ++i) {
      uint16_t half = 0;
      std::memcpy(&half, bytes + 2 * i, sizeof half);
      out[i] = widen_half(half);
    }
  };
  if (type == DType::f16) return each([](uint16_t half) { return widen_f16(half); });
  each([](uint16_t half) { return widen_bf16(half); });
}

}  // namespace mummu
