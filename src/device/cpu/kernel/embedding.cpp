// One row of a packed table, widened; ops.h states the arithmetic. tile_block.cpp, tile_super.cpp
// and dot.h describe the panels.

#include "device/cpu/kernel/ops.h"
#include "device/cpu/kernel/simd.h"

namespace mummu::MUMMU_KERNEL_NAMESPACE {
namespace {

MUMMU_INLINE float half_to_float(const std::byte* p) {
  uint16_t half;
  __builtin_memcpy(&half, p, 2);
  return _cvtsh_ss(half);
}

// How element k of a block lies in it, for one of the panel's 16 rows: its low four bits, and those
// above from bit 4 on.
MUMMU_INLINE uint8_t byte_at(const std::byte* weights, int64_t k, int64_t row) {
  return static_cast<uint8_t>(weights[64 * (k / 4) + 4 * row + k % 4]);
}
MUMMU_INLINE int low_bits(const std::byte* weights, int64_t k, int64_t row) {
  return byte_at(weights, k % 16, row) >> (k / 16 * 4) & 15;
}
MUMMU_INLINE int fifth_bit(const std::byte* weights, int64_t k, int64_t row) {
  return (byte_at(weights + 256, k % 4, row) >> (k / 4) & 1) * 16;
}
MUMMU_INLINE int bit_pair(const std::byte* weights, int64_t k, int64_t row) {
  return (byte_at(weights + 256 + k / 16 * 64, k % 4, row) >> (k % 16 / 4 * 2) & 3) * 16;
}

struct SmallFormat {
  bool five;
  bool minimum;
};

void small_row(const std::byte* panel, int64_t blocks, int64_t row, SmallFormat format,
               float* out) {
  const int64_t weight_bytes = format.five ? 320 : 256;
  for (int64_t b = 0; b < blocks; ++b, out += 32) {
    const std::byte* scales = panel + weight_bytes + 2 * row;
    const float d = half_to_float(scales);
    const float m = format.minimum ? half_to_float(scales + 32) : 0.0F;
    for (int64_t k = 0; k < 32; ++k) {
      const int q = low_bits(panel, k, row) + (format.five ? fifth_bit(panel, k, row) : 0);
      out[k] = format.minimum ? __builtin_fmaf(d, static_cast<float>(q), m)
                              : d * static_cast<float>(q - (format.five ? 16 : 8));
    }
    panel += weight_bytes + (format.minimum ? 64 : 32);
  }
}

void minimum_super_row(const std::byte* panel, int64_t supers, int64_t row, bool five, float* out) {
  const int64_t weight_bytes = five ? 320 : 256;
  for (int64_t s = 0; s < supers; ++s) {
    const float d = half_to_float(panel + 2 * row);
    const float dmin = half_to_float(panel + 32 + 2 * row);
    panel += 64;
    for (int b = 0; b < 8; ++b, panel += weight_bytes + 32, out += 32) {
      const float scale = d * static_cast<float>(static_cast<uint8_t>(panel[weight_bytes + row]));
      const float m =
          -(dmin * static_cast<float>(static_cast<uint8_t>(panel[weight_bytes + 16 + row])));
      for (int64_t k = 0; k < 32; ++k) {
        const int q = low_bits(panel, k, row) + (five ? fifth_bit(panel, k, row) : 0);
        out[k] = __builtin_fmaf(scale, static_cast<float>(q), m);
      }
    }
  }
}

void q6_k_row(const std::byte* panel, int64_t supers, int64_t row, float* out) {
  for (int64_t s = 0; s < supers; ++s) {
    const float d = half_to_float(panel + 2 * row);
    panel += 32;
    for (int b = 0; b < 8; ++b, panel += 384 + 32, out += 32) {
      for (int64_t k = 0; k < 32; ++k) {
        const int sub_scale = static_cast<int8_t>(panel[384 + k / 16 * 16 + row]);
        const int q = low_bits(panel, k, row) + bit_pair(panel, k, row) - 32;
        out[k] = d * static_cast<float>(sub_scale) * static_cast<float>(q);
      }
    }
  }
}

void byte_row(const std::byte* panel, int64_t blocks, int64_t row, float* out) {
  for (int64_t b = 0; b < blocks; ++b, panel += 544, out += 32) {
    const float d = half_to_float(panel + 512 + 2 * row);
    for (int64_t k = 0; k < 32; ++k) {
      out[k] = d * static_cast<float>(static_cast<int8_t>(byte_at(panel, k, row)));
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
    case DType::q4_0:
      return small_row(panel, columns / 32, row, {.five = false, .minimum = false}, out);
    case DType::q4_1:
      return small_row(panel, columns / 32, row, {.five = false, .minimum = true}, out);
    case DType::q5_0:
      return small_row(panel, columns / 32, row, {.five = true, .minimum = false}, out);
    case DType::q5_1:
      return small_row(panel, columns / 32, row, {.five = true, .minimum = true}, out);
    case DType::q4_k:
      return minimum_super_row(panel, columns / 256, row, false, out);
    case DType::q5_k:
      return minimum_super_row(panel, columns / 256, row, true, out);
    default:
      return q6_k_row(panel, columns / 256, row, out);
  }
}

}  // namespace mummu::MUMMU_KERNEL_NAMESPACE
