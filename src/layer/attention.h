#pragma once

// Causal attention with rotary positions over pages of keys and values. Three things vary between
// families: biases, norms of q and k before the rotation, and the width of a head.

#include <cstdint>

#include "layer/norm.h"
#include "layer/part.h"

namespace mummu {

// Where q and k are normalised before they are rotated.
enum class QueryKeyNorm {
  none,
  head,  // each head by itself, one weight of head_dim for all
  row,   // all heads of a token together, before they are split
};

class Attention final : public Mixer {
 public:
  int64_t heads = 0, kv_heads = 0, head_dim = 0;
  Weight query, key, value, output;                      // (rows, hidden), (hidden, rows)
  Tensor query_bias, key_bias, value_bias, output_bias;  // (1, rows) f32, or empty
  QueryKeyNorm norm = QueryKeyNorm::none;
  RmsNorm query_norm, key_norm;

  void run(const Step& step, View x, View residual) const override;
  int64_t page_bytes(DType kv) const override;
  ScratchSize scratch() const override;

 private:
  void normalise(const Step& step, View query_rows, View key_rows) const;
};

}  // namespace mummu
