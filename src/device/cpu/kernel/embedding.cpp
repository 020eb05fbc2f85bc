// One row of a packed table, widened; ops.h states the arithmetic. tile_block.cpp and dot.h
// describe the panels.

#include "device/cpu/kernel/ops.h"
#include "device/cpu/kernel/simd.h"

namespace mummu::MUMMU_KERNEL_NAMESPACE {
namespace {

MUMMU_INLINE float half_to_float(const std::byte* p) {
  uint16_t half;
  __builtin_memcpy(&half, p, 2);
  return _cvtsh_ss(half);
}

void nibble_row(const std::byte* panel, int64_t blocks, int64_t row, bool minimum, float* out) {
  for (int64_t b = 0; b < blocks; ++b, panel += minimum ? 320 : 288, out += 32) {
    const float d = half_to_float(panel + 256 + 2 * row);
    const float m = minimum ? half_to_float(panel + 288 + 2 * row) : 0.0F;
    for (int64_t k = 0; k < 16; ++k) {
      const auto both_halves = static_cast<uint8_t>(panel[64 * (k / 4) + 4 * row + k % 4]);
      const int low = both_halves & 15;
      const int high = both_halves >> 4;
      out[k] =
          minimum ? __builtin_fmaf(d, static_cast<float>(low), m) : d * static_cast<float>(low - 8);
      out[k + 16] = minimum ? __builtin_fmaf(d, static_cast<float>(high), m)
                            : d * static_cast<float>(high - 8);
    }
  }
}

void byte_row(const std::byte* panel, int64_t blocks, int64_t row, float* out) {
  for (int64_t b = 0; b < blocks; ++b, panel += 544, out += 32) {
    const float d = half_to_float(panel + 512 + 2 * row);
    for (int64_t k = 0; k < 32; ++k) {
      out[k] = d * static_cast<float>(static_cast<int8_t>(panel[64 * (k / 4) + 4 * row + k % 4]));
    }
  }
}

void f32_row(const std::byte* panel, int64_t columns, int64_t row, float* out) {
  const auto* from = reinterpret_cast<const float*>(panel) + row;
  for (int64_t k = 0; k < columns; ++k) out[k] = from[16 * k];
}

void f16_row(const std::byte* panel, int64_t columns, int64_t row, float* out) {
  const auto* from = reinterpret_cast<const uint16_t*>(panel) + row;
  for (int64_t k = 0; k < columns; ++k) out[k] = _cvtsh_ss(from[16 * k]);
}

void bf16_row(const std::byte* panel, int64_t columns, int64_t row, float* out) {
  const auto* from = reinterpret_cast<const uint16_t*>(panel) + row;
  for (int64_t k = 0; k < columns; ++k) {
    const uint32_t word = static_cast<uint32_t>(from[16 * k]) << 16;
    __builtin_memcpy(out + k, &word, 4);
  }
}

}  // namespace

void embedding(DType type, const std::byte* packed, int64_t panel_bytes, int64_t columns,
               int64_t row, float* out) {
  const std::byte* panel = packed + row / 16 * panel_bytes;
  row %= 16;
  switch (type) {
    case DType::f32:
      return f32_row(panel, columns, row, out);
    case DType::f16:
      return f16_row(panel, columns, row, out);
    case DType::bf16:
      return bf16_row(panel, columns, row, out);
    case DType::q8_0:
      return byte_row(panel, columns / 32, row, out);
    case DType::q4_1:
      return nibble_row(panel, columns / 32, row, true, out);
    default:
      return nibble_row(panel, columns / 32, row, false, out);
  }
}

}  // namespace mummu::MUMMU_KERNEL_NAMESPACE
