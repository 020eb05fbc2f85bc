#include "device/reference/weight_row.h"

#include <cmath>
#include <cstring>

#include "device/reference/half.h"

namespace mummu::reference {
namespace {

const uint8_t* row_at(const Weight& weight, int64_t row) {
  return static_cast<const uint8_t*>(weight.data()) +
         row * row_bytes(weight.type(), weight.columns());
}

float float_element(DType type, const uint8_t* row, int64_t column) {
  if (type == DType::f32) {
    float value;
    std::memcpy(&value, row + column * 4, sizeof value);
    return value;
  }
  uint16_t half;
  std::memcpy(&half, row + column * 2, sizeof half);
  return type == DType::f16 ? widen_f16(half) : widen_bf16(half);
}

// A block of 32 whole numbers with a scale and, for q4_1, a minimum.
struct Block {
  float scale = 0.0F;
  float minimum = 0.0F;
  int q[kBlock] = {};
};

// Byte j of 16 holds element j in its low half and element j + 16 in its high half.
void unpack_nibbles(const uint8_t* bytes, int offset, Block& block) {
  for (int j = 0; j < 16; ++j) {
    block.q[j] = (bytes[j] & 0xF) + offset;
    block.q[j + 16] = (bytes[j] >> 4) + offset;
  }
}

//   source  ggml's block structs, see base/dtype.h
Block read_block(DType type, const uint8_t* bytes) {
  Block block;
  block.scale = load_f16(bytes);
  if (type == DType::q8_0) {
    for (int j = 0; j < kBlock; ++j) block.q[j] = static_cast<int8_t>(bytes[2 + j]);
  } else if (type == DType::q4_0) {
    unpack_nibbles(bytes + 2, -8, block);
  } else {
    block.minimum = load_f16(bytes + 2);
    unpack_nibbles(bytes + 4, 0, block);
  }
  return block;
}

float float_product(DType type, const uint8_t* row, int64_t columns, const float* x) {
  float y = 0.0F;
  for (int64_t k = 0; k < columns; ++k) y = std::fma(float_element(type, row, k), x[k], y);
  return y;
}

float block_product(DType type, const uint8_t* row, int64_t columns, QuantisedRow x) {
  float y = 0.0F;
  for (int64_t b = 0; b < columns / kBlock; ++b) {
    const Block block = read_block(type, row + b * info(type).bytes);
    int dot = 0;
    for (int64_t j = 0; j < kBlock; ++j) dot += block.q[j] * x.q[b * kBlock + j];
    y = std::fma(block.scale * x.scale[b], static_cast<float>(dot), y);
    if (type == DType::q4_1) y = std::fma(block.minimum, x.sum[b], y);
  }
  return y;
}

}  // namespace

float element(const Weight& weight, int64_t row, int64_t column) {
  const DType type = weight.type();
  if (!is_quantised(type)) return float_element(type, row_at(weight, row), column);
  const Block block = read_block(type, row_at(weight, row) + column / kBlock * info(type).bytes);
  const auto q = static_cast<float>(block.q[column % kBlock]);
  return type == DType::q4_1 ? std::fma(block.scale, q, block.minimum) : block.scale * q;
}

float product(const Weight& weight, int64_t row, const float* x, QuantisedRow quantised) {
  const uint8_t* bytes = row_at(weight, row);
  return is_quantised(weight.type())
             ? block_product(weight.type(), bytes, weight.columns(), quantised)
             : float_product(weight.type(), bytes, weight.columns(), x);
}

}  // namespace mummu::reference
