#pragma once

// Where the key and the value of one token and head stand in the pages of a layer, and how they are
// rounded to the layer's type.

#include <cstdint>

#include "base/half.h"
#include "device/ops.h"
#include "device/reference/quantise.h"

namespace mummu::reference {

// One head's key or value of one token: component i at `at` + i * stride elements, the scale of
// block b at `scales` + b * scale_stride halves (q8_0 only).
struct KvRow {
  std::byte* at = nullptr;
  int64_t stride = 1;
  std::byte* scales = nullptr;
  int64_t scale_stride = 1;
  DType type = DType::f16;

  float load(int64_t i) const {
    if (type == DType::f32) return get<float>(at, i * stride);
    if (type == DType::f16) return widen_f16(get<uint16_t>(at, i * stride));
    if (type == DType::bf16) return widen_bf16(get<uint16_t>(at, i * stride));
    const float scale = widen_f16(get<uint16_t>(scales, i / kBlock * scale_stride));
    return scale * static_cast<float>(get<int8_t>(at, i * stride));
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

inline std::byte* page_of(const KvLayer& layer, const Segment& segment, int64_t position) {
  const int64_t page = segment.pages[static_cast<size_t>(position / kPageTokens)];
  return layer.pool.as<std::byte>() + page * layer.pool.columns + layer.layer_offset_bytes;
}

inline KvRow key_at(const KvLayer& layer, const Segment& segment, int64_t position, int64_t head) {
  std::byte* at = page_of(layer, segment, position) + head * layer.head_bytes();
  const int64_t slot = position % kPageTokens;
  const int64_t element = layer.type == DType::q8_0 ? 1 : info(layer.type).bytes;
  return {.at = at + slot * element,
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
  const int64_t element = layer.type == DType::q8_0 ? 1 : info(layer.type).bytes;
  return {.at = at + slot * layer.head_dim * element,
          .stride = 1,
          .scales = at + layer.head_dim * kPageTokens + 2 * slot * layer.blocks(),
          .scale_stride = 1,
          .type = layer.type};
}

}  // namespace mummu::reference
