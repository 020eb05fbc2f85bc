#pragma once

// What one instruction set offers: plain functions over plain memory, one table per set. They start
// no thread and allocate nothing; device.cpp decides who computes which rows. Only plain structs
// stand here, because kernels are compiled once per instruction set and must not share a function.

#include <cstddef>
#include <cstdint>

#include "base/dtype.h"

namespace mummu::cpu {

// Tokens that one pass over a panel computes at most. Tiles of a step differ by at most one token.
inline constexpr int kMaxTile = 16;
// A quantised block of one token in a tile: 32 int8, then four words (see kernel/quantise.cpp).
inline constexpr int64_t kTileBlockBytes = 32 + 4 * 4;

// The tokens of a step, cut into tiles: tile i holds `first(i)` up to `first(i + 1)`.
struct Tiles {
  int64_t tokens;
  int64_t count;
};

// A run of panels of one weight and the tokens they are multiplied with.
//   packed   panels as pack.cpp lays them out
//   tiles    the prepared tokens: quantised for block weights, side by side for float weights
//   out      (tokens, rows) with `stride` floats from one token to the next; points at the first
//            row of the first panel
//   rows     outputs from the first panel's first row to the end of the weight
struct PanelRun {
  DType type;
  const std::byte* packed;
  int64_t panel_bytes;
  int64_t panels;
  int64_t columns;
  int64_t rows;
  const std::byte* tiles;
  Tiles split;
  const float* bias;  // from the first panel's first row, or null
  float* out;
  int64_t stride;
  bool add;
};

// The same for the two weights of a gated part, with equal rows, columns and split; the result goes
// to gate.out, nothing is added.
struct GatedRun {
  PanelRun gate;
  PanelRun up;
};

// Prepares tile `tile` of x (tokens, columns) for a matmul.
struct PrepareRun {
  const float* x;
  int64_t columns;
  Tiles split;
  std::byte* tiles;
};

struct RopeRun {
  float* x;
  int64_t tokens;
  int64_t heads;
  int64_t head_dim;
  const int32_t* positions;
  const float* cos_sin;
  int64_t rotary_dim;
};

// Keys or values of one token, for one page.
struct KvRun {
  const float* k;  // (kv_heads, head_dim)
  const float* v;
  std::byte* page_keys;  // of this layer
  std::byte* page_values;
  int64_t head_bytes;  // of one head's keys, or values
  int64_t slot;        // position mod 16
  int64_t kv_heads;
  int64_t head_dim;
  DType type;
};

// Consecutive (token, head) pairs of one sequence and one kv head; pair i is token i / group, head
// i % group of this kv head's group. All spans, or only span `span` with its result left in
// `partial`: 16 maxima, 16 sums, then (pairs, head_dim) weighted values; merge_attention turns the
// partial results of all spans, `partial_stride` floats apart, into out.
struct AttentionRun {
  const float* q;  // the sequence's first row, the group's first head
  float* out;
  int64_t stride;  // floats from one token to the next, of q and of out
  int64_t group;
  int64_t first_pair;
  int64_t pairs;  // at most the table's attention_pairs
  int64_t position;
  int64_t common_keys;  // that every pair sees; 0: each up to its own position
  int64_t head_dim;
  float scale;
  const std::byte* keys;  // page 0's keys of this layer and kv head
  const std::byte* values;
  int64_t page_bytes;
  const int32_t* pages;
  DType type;
  float* partial;  // null: all spans
  int64_t partial_stride;
  int64_t span;
};

// Some channels of the tokens of one sequence. `state(page)` is page_state + pages[i] * page_bytes,
// (length - 1, hidden) floats.
struct ConvRun {
  const float* bcx;     // the sequence's first row, channel 0
  const float* kernel;  // (length, hidden)
  const float* bias;    // (hidden), or null
  float* out;           // the sequence's first row
  int64_t tokens;
  int64_t hidden;
  int64_t length;
  int64_t position;
  std::byte* page_state;
  int64_t page_bytes;
  const int32_t* pages;
  int64_t first_channel;
  int64_t channels;
};

// Scores of one token, overwritten by their softmax.
struct RouteRun {
  float* scores;
  int64_t experts;
  int64_t top_k;
  bool normalise;
  int32_t* chosen;
  float* share;
};

struct Kernels {
  const char* isa;
  int64_t block_tile;       // tokens of a tile for block weights, at most kMaxTile
  int64_t float_tile;       // the same for float weights
  int64_t attention_pairs;  // pairs of an AttentionRun

  void (*rms_norm)(const float* x, const float* weight, int64_t columns, float eps, float* out);
  void (*quantise_tile)(const PrepareRun& run, int64_t tile);
  void (*interleave_tile)(const PrepareRun& run, int64_t tile);
  void (*matmul)(const PanelRun& run);
  void (*gated)(const GatedRun& run);
  void (*rope)(const RopeRun& run);
  void (*kv_write)(const KvRun& run);
  void (*attention)(const AttentionRun& run);
  void (*merge_attention)(const AttentionRun& run);
  // Widens one row of a packed table.
  void (*embedding)(DType type, const std::byte* packed, int64_t panel_bytes, int64_t columns,
                    int64_t row, float* out);
  void (*short_conv)(const ConvRun& run);
  void (*route)(const RouteRun& run);
  void (*layer_norm)(const float* x, const float* weight, const float* bias, int64_t columns,
                     float eps, float* out);
  void (*gelu)(const float* x, int64_t count, float* out);
  void (*add)(const float* x, int64_t count, float* out);
  void (*l2_norm)(const float* x, int64_t columns, float* out);
  void (*add_product)(float factor, const float* x, int64_t count, float* out);  // fma into out
};

extern const Kernels kAvx2Kernels;
extern const Kernels kAvx512Kernels;

}  // namespace mummu::cpu
