#pragma once

// What the parts of a network share while one step runs: the device, whose tokens these are, where
// their keys and values lie, and scratch. Made by the decoder; every part borrows it for one call.

#include <algorithm>
#include <cstdint>
#include <span>

#include "device/ops.h"

namespace mummu {

// Columns (f32 a token) of the buffers that parts write in between; each part states what it needs.
struct ScratchSize {
  int64_t query = 0, key = 0, value = 0, mixed = 0, ffn = 0, route = 0;

  void grow(const ScratchSize& other) {
    query = std::max(query, other.query);
    key = std::max(key, other.key);
    value = std::max(value, other.value);
    mixed = std::max(mixed, other.mixed);
    ffn = std::max(ffn, other.ffn);
    route = std::max(route, other.route);
  }
};

// Those buffers. A part looks at as many rows and columns of one as it needs.
struct Scratch {
  Tensor query, key, value, mixed, ffn, route;

  // The first rows * columns floats of a buffer.
  //   requires the buffer was made for at least as many
  static View matrix(const Tensor& buffer, int64_t rows, int64_t columns) {
    return {buffer.view().data, DType::f32, rows, columns};
  }
};

struct Step {
  Ops& ops;
  int64_t tokens = 0;
  View positions;  // (1, tokens) i32
  View cos_sin;    // see Ops::rope
  std::span<const Segment> segments;
  View pool;  // (pages, page bytes) u8
  DType kv = DType::f16;
  int64_t page_offset_bytes = 0;  // of the current layer's bytes inside a page
  const Scratch& scratch;
};

}  // namespace mummu
