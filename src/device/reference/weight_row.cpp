#include "device/reference/weight_row.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/widen.h"
#include "device/reference/fma.h"

namespace mummu::reference {
namespace {

const uint8_t* row_at(const Weight& weight, int64_t row) {
  return static_cast<const uint8_t*>(weight.data()) +
         row * row_bytes(weight.type(), weight.columns());
}

// A block of 32 whole numbers as ops.h, matmul, names them: element j is about
// scale * sub_scale[j / 16] * q[j] + minimum.
struct Block {
  float scale = 0.0F;
  float minimum = 0.0F;
  int sub_scale[2] = {1, 1};
  int q[kBlock] = {};
};

// Byte j of 16 holds element j in its low half and element j + 16 in its high half.
void unpack_nibbles(const uint8_t* bytes, Block& block) {
  for (int j = 0; j < 16; ++j) {
    block.q[j] = bytes[j] & 0xF;
    block.q[j + 16] = bytes[j] >> 4;
  }
}

// Bit j of the four bytes is the fifth bit of element j.
void add_fifth_bits(const uint8_t* bytes, Block& block) {
  for (int j = 0; j < kBlock; ++j) block.q[j] += (bytes[j / 8] >> (j % 8) & 1) * 16;
}

void subtract(int offset, Block& block) {
  for (int& q : block.q) q -= offset;
}

// A block of a type whose blocks are 32 wide.
Block read_small(DType type, const uint8_t* bytes) {
  Block block;
  block.scale = load_f16(bytes);
  bytes += 2;
  if (has_minimum(type)) {
    block.minimum = load_f16(bytes);
    bytes += 2;
  }
  if (type == DType::q8_0) {
    for (int j = 0; j < kBlock; ++j) block.q[j] = static_cast<int8_t>(bytes[j]);
    return block;
  }
  const bool five = type == DType::q5_0 || type == DType::q5_1;
  unpack_nibbles(five ? bytes + 4 : bytes, block);
  if (five) add_fifth_bits(bytes, block);
  if (!has_minimum(type)) subtract(five ? 16 : 8, block);
  return block;
}

// The scale and minimum of sub-block b of 8, six bits each, in 12 bytes: the first four scales in
// the low bits of bytes 0..3, the first four minima in those of 4..7; of the others the low four
// bits are in the halves of bytes 8..11, the high two in what bytes 0..3 and 4..7 have left.
struct Six {
  int scale, minimum;
};
Six read_six(const uint8_t* bytes, int64_t b) {
  if (b < 4) return {bytes[b] & 63, bytes[b + 4] & 63};
  return {(bytes[b + 4] & 15) | (bytes[b - 4] >> 6) << 4, bytes[b + 4] >> 4 | (bytes[b] >> 6) << 4};
}

// Sub-block b of a super-block of q4_k or q5_k.
Block read_q4_k_q5_k(DType type, const uint8_t* bytes, int64_t b) {
  Block block;
  const Six six = read_six(bytes + 4, b);
  block.scale = load_f16(bytes);
  block.minimum = -(load_f16(bytes + 2) * static_cast<float>(six.minimum));
  block.sub_scale[0] = block.sub_scale[1] = six.scale;
  const uint8_t* fifths = bytes + 16;
  const uint8_t* nibbles = (type == DType::q5_k ? fifths + 32 : fifths) + b / 2 * 32;
  for (int j = 0; j < kBlock; ++j) {
    block.q[j] = nibbles[j] >> (b % 2 * 4) & 15;
    if (type == DType::q5_k) block.q[j] += (fifths[j] >> b & 1) * 16;
  }
  return block;
}

// Sub-block b of a super-block of q6_k.
Block read_q6_k(const uint8_t* bytes, int64_t b) {
  Block block;
  const int64_t half = b / 4, part = b % 4;
  const uint8_t* lows = bytes + 64 * half + 32 * (part % 2);
  const uint8_t* pairs = bytes + 128 + 32 * half;
  for (int j = 0; j < kBlock; ++j) {
    block.q[j] = (lows[j] >> (part / 2 * 4) & 15) + (pairs[j] >> (2 * part) & 3) * 16 - 32;
  }
  for (int i = 0; i < 2; ++i) block.sub_scale[i] = static_cast<int8_t>(bytes[192 + 2 * b + i]);
  block.scale = load_f16(bytes + 208);
  return block;
}

// Block b of 32 of a row.
//   source  base/dtype.h
Block read_block(DType type, const uint8_t* row, int64_t b) {
  const int64_t blocks = info(type).elements / kBlock;  // of a super-block
  const uint8_t* bytes = row + b / blocks * info(type).bytes;
  if (type == DType::q4_k || type == DType::q5_k) return read_q4_k_q5_k(type, bytes, b % blocks);
  if (type == DType::q6_k) return read_q6_k(bytes, b % blocks);
  return read_small(type, bytes);
}

// A row of `rows` for each y; a CPU waits for one sum while it goes on with another.
MUMMU_FMA void float_products(DType type, const uint8_t* const (&rows)[kRowsAtOnce],
                              int64_t columns, const float* x, float (&y)[kRowsAtOnce]) {
  float sum[kRowsAtOnce] = {};
  for (int64_t first = 0; first < columns; first += kBlock) {
    const int64_t here = std::min(kBlock, columns - first);
    float w[kRowsAtOnce][kBlock];
    for (int64_t r = 0; r < kRowsAtOnce; ++r)
      widen(type, rows[r] + first * info(type).bytes, here, w[r]);
    for (int64_t k = 0; k < here; ++k) {
      for (int64_t r = 0; r < kRowsAtOnce; ++r) sum[r] = std::fma(w[r][k], x[first + k], sum[r]);
    }
  }
  std::copy_n(sum, kRowsAtOnce, y);
}

MUMMU_FMA float block_product(DType type, const uint8_t* row, int64_t columns, QuantisedRow x) {
  float y = 0.0F;
  for (int64_t b = 0; b < columns / kBlock; ++b) {
    const Block block = read_block(type, row, b);
    int dot = 0;
    for (int64_t j = 0; j < kBlock; ++j) {
      dot += block.sub_scale[j / 16] * block.q[j] * x.q[b * kBlock + j];
    }
    y = std::fma(block.scale * x.scale[b], static_cast<float>(dot), y);
    if (has_minimum(type)) y = std::fma(block.minimum, x.sum[b], y);
  }
  return y;
}

}  // namespace

float element(const Weight& weight, int64_t row, int64_t column) {
  const DType type = weight.type();
  if (!is_quantised(type)) {
    float value;
    widen(type, row_at(weight, row) + column * info(type).bytes, 1, &value);
    return value;
  }
  const Block block = read_block(type, row_at(weight, row), column / kBlock);
  const int64_t at = column % kBlock, half = at / 16;
  const float scale = block.scale * static_cast<float>(block.sub_scale[half]);
  const auto q = static_cast<float>(block.q[at]);
  return has_minimum(type) ? std::fma(scale, q, block.minimum) : scale * q;
}

Products products(const Weight& weight, int64_t first_row, const float* x, QuantisedRow quantised) {
  Products out{.count = std::min(kRowsAtOnce, weight.rows() - first_row), .y = {}};
  const uint8_t* rows[kRowsAtOnce];
  for (int64_t r = 0; r < kRowsAtOnce; ++r)
    rows[r] = row_at(weight, first_row + std::min(r, out.count - 1));
  if (!is_quantised(weight.type())) {
    float_products(weight.type(), rows, weight.columns(), x, out.y);
    return out;
  }
  for (int64_t r = 0; r < out.count; ++r)
    out.y[r] = block_product(weight.type(), rows[r], weight.columns(), quantised);
  return out;
}

}  // namespace mummu::reference
