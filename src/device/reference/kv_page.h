#pragma once

// Where the key and the value of one token and head stand in the pages of a layer.

#include <cstdint>

#include "device/ops.h"
#include "device/reference/half.h"

namespace mummu::reference {

// Element i of one head's key or value: at + i * stride, in elements of the layer's type.
struct KvRow {
  std::byte* at = nullptr;
  int64_t stride = 1;
  DType type = DType::f16;

  float load(int64_t i) const {
    const std::byte* from = at + i * stride * info(type).bytes;
    if (type == DType::f16) return load_f16(from);
    float value;
    std::memcpy(&value, from, sizeof value);
    return value;
  }

  void store(int64_t i, float value) const {
    std::byte* to = at + i * stride * info(type).bytes;
    if (type == DType::f16) {
      const uint16_t half = round_f16(value);
      std::memcpy(to, &half, sizeof half);
    } else {
      std::memcpy(to, &value, sizeof value);
    }
  }
};

inline std::byte* page_of(const KvLayer& layer, const Segment& segment, int64_t position) {
  const int64_t page = segment.pages[static_cast<size_t>(position / kPageTokens)];
  return layer.pool.as<std::byte>() + page * layer.pool.columns + layer.layer_offset_bytes;
}

inline KvRow key_at(const KvLayer& layer, const Segment& segment, int64_t position, int64_t head) {
  const int64_t offset = head * layer.head_dim * kPageTokens + position % kPageTokens;
  return {page_of(layer, segment, position) + offset * info(layer.type).bytes, kPageTokens,
          layer.type};
}

inline KvRow value_at(const KvLayer& layer, const Segment& segment, int64_t position,
                      int64_t head) {
  const int64_t offset = (head * kPageTokens + position % kPageTokens) * layer.head_dim;
  return {page_of(layer, segment, position) + layer.keys_bytes() + offset * info(layer.type).bytes,
          1, layer.type};
}

}  // namespace mummu::reference
