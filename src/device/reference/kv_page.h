#pragma once

// Where the key and the value of one token and head stand in the pages of a layer, and how they are
// rounded to the layer's type.

#include <cstdint>

#include "base/widen.h"
#include "device/ops.h"
#include "device/reference/quantise.h"

namespace mummu::reference {

inline int64_t number_bytes(DType type) { return type == DType::q8_0 ? 1 : info(type).bytes; }

// One head's key or value of one token: component i at `at` + i * stride elements, the scale of
// block b at `scales` + b * scale_stride halves (q8_0 only).
struct KvRow {
  std::byte* at = nullptr;
  int64_t stride = 1;
  std::byte* scales = nullptr;
  int64_t scale_stride = 1;
  DType type = DType::f16;

  // The scale of a block of a token (of a key: so many tokens further on in its page); q8_0 only.
  float scale(int64_t block, int64_t token = 0) const {
    return widen_f16(get<uint16_t>(scales, block * scale_stride + token));
  }

  void store(const float* values, int64_t count) const {
    if (type == DType::q8_0) return store_blocks(values, count);
    for (int64_t i = 0; i < count; ++i) {
      if (type == DType::f32) put(at, i * stride, values[i]);
      if (type == DType::f16) put(at, i * stride, round_f16(values[i]));
      if (type == DType::bf16) put(at, i * stride, round_bf16(values[i]));
    }
  }

 private:
  template <typename T>
  static T get(const std::byte* from, int64_t index) {
    T value;
    std::memcpy(&value, from + index * static_cast<int64_t>(sizeof value), sizeof value);
    return value;
  }
  template <typename T>
  static void put(std::byte* to, int64_t index, T value) {
    std::memcpy(to + index * static_cast<int64_t>(sizeof value), &value, sizeof value);
  }

  // A block at the end of a head that is not full is filled up with zeros, which change nothing.
  void store_blocks(const float* values, int64_t count) const {
    for (int64_t block = 0; block * kBlock < count; ++block) {
      float x[kBlock] = {};
      int8_t q[kBlock];
      float scale, sum;
      const int64_t first = block * kBlock;
      const int64_t here = std::min(kBlock, count - first);
      std::copy_n(values + first, here, x);
      quantise_block(x, {q, &scale, &sum});
      for (int64_t i = 0; i < here; ++i) put(at, (first + i) * stride, q[i]);
      put(scales, block * scale_stride, round_f16(scale));
    }
  }
};

// `count` numbers that lie side by side; those of q8_0 without their scales.
inline void load_numbers(DType type, const std::byte* at, int64_t count, float* out) {
  if (type != DType::q8_0) return widen(type, at, count, out);
  for (int64_t i = 0; i < count; ++i) out[i] = static_cast<float>(std::to_integer<int8_t>(at[i]));
}

inline std::byte* page_of(const KvLayer& layer, const Segment& segment, int64_t position) {
  const int64_t page = segment.pages[static_cast<size_t>(position / kPageTokens)];
  return layer.pool.as<std::byte>() + page * layer.pool.columns + layer.layer_offset_bytes;
}

inline KvRow key_at(const KvLayer& layer, const Segment& segment, int64_t position, int64_t head) {
  std::byte* at = page_of(layer, segment, position) + head * layer.head_bytes();
  const int64_t slot = position % kPageTokens;
  return {.at = at + slot * number_bytes(layer.type),
          .stride = kPageTokens,
          .scales = at + layer.head_dim * kPageTokens + 2 * slot,
          .scale_stride = kPageTokens,
          .type = layer.type};
}

inline KvRow value_at(const KvLayer& layer, const Segment& segment, int64_t position,
                      int64_t head) {
  std::byte* at =
      page_of(layer, segment, position) + layer.keys_bytes() + head * layer.head_bytes();
  const int64_t slot = position % kPageTokens;
  return {.at = at + slot * layer.head_dim * number_bytes(layer.type),
          .stride = 1,
          .scales = at + layer.head_dim * kPageTokens + 2 * slot * layer.blocks(),
          .scale_stride = 1,
          .type = layer.type};
}

// Component `d` of the keys of all tokens of a page, whose first one's is `key`.
inline void load_keys(const KvRow& key, int64_t d, float (&out)[kPageTokens]) {
  load_numbers(key.type, key.at + d * kPageTokens * number_bytes(key.type), kPageTokens, out);
  if (key.type != DType::q8_0) return;
  for (int64_t t = 0; t < kPageTokens; ++t) out[t] = key.scale(d / kBlock, t) * out[t];
}

// Components [first, first + count) of a token's value, all of one block.
inline void load_value(const KvRow& value, int64_t first, int64_t count, float* out) {
  load_numbers(value.type, value.at + first * number_bytes(value.type), count, out);
  if (value.type != DType::q8_0) return;
  const float scale = value.scale(first / kBlock);
  for (int64_t i = 0; i < count; ++i) out[i] = scale * out[i];
}

}  // namespace mummu::reference
