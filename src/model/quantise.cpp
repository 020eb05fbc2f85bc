#include "model/quantise.h"

#include <cmath>
#include <cstring>

#include "base/half.h"

namespace mummu {

namespace {

constexpr size_t kBlockValues = 32;
constexpr float kLargestHalf = 65520;  // what rounds to infinity

// The first value of the largest magnitude; infinity if one is not finite.
float largest(const float* x) {
  float found = x[0];
  for (size_t i = 0; i < kBlockValues; ++i) {
    if (!std::isfinite(x[i])) return INFINITY;
    if (std::fabs(x[i]) > std::fabs(found)) found = x[i];
  }
  return found;
}

// 1 / d, or 0 where the block becomes zeros.
float inverse(float d) {
  const float inverse = 1 / d;
  return std::isfinite(inverse) ? inverse : 0;
}

void put_scale(float d, std::byte* out) {
  const uint16_t half = round_f16(d);
  std::memcpy(out, &half, sizeof half);
}

// Half away from zero.
int8_t rounded(float x) {
  const float magnitude = std::fabs(x);
  auto whole = static_cast<int>(magnitude);
  whole += static_cast<int>(magnitude - static_cast<float>(whole) >= 0.5F);
  return static_cast<int8_t>(x < 0 ? -whole : whole);
}

bool quantise_q8_0(const float* x, std::byte* out) {
  const float d = std::fabs(largest(x)) / 127;
  if (d >= kLargestHalf) return false;
  const float by = inverse(d);
  put_scale(d, out);
  for (size_t i = 0; i < kBlockValues; ++i) {
    out[2 + i] = static_cast<std::byte>(rounded(x[i] * by));
  }
  return true;
}

uint8_t nibble(float x) {
  const auto whole = static_cast<int>(x + 8.5F);
  return static_cast<uint8_t>(whole < 15 ? whole : 15);
}

bool quantise_q4_0(const float* x, std::byte* out) {
  const float d = largest(x) / -8;
  if (std::fabs(d) >= kLargestHalf) return false;
  const float by = inverse(d);
  put_scale(d, out);
  for (size_t i = 0; i < kBlockValues / 2; ++i) {
    out[2 + i] = static_cast<std::byte>(nibble(x[i] * by) | nibble(x[i + 16] * by) << 4);
  }
  return true;
}

}  // namespace

bool quantise_row(DType type, std::span<const float> values, std::span<std::byte> out) {
  std::byte* to = out.data();
  for (size_t i = 0; i < values.size(); i += kBlockValues, to += info(type).bytes) {
    const float* x = values.data() + i;
    if (!(type == DType::q8_0 ? quantise_q8_0(x, to) : quantise_q4_0(x, to))) return false;
  }
  return true;
}

}  // namespace mummu
