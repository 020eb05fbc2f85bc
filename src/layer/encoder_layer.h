#pragma once

// One layer of a post-norm encoder: attention that looks both ways, then a feed-forward part with
// gelu, each added to its input and normalised after that.
//   source   arXiv 1810.04805

#include <span>

#include "layer/norm.h"
#include "layer/step.h"

namespace mummu {

// What the layers of one step share. Keys and values of the layer that runs lie in pages for the
// step only.
struct EncoderStep {
  Ops& ops;
  int64_t tokens = 0;
  std::span<const Segment> sequences;  // whole ones, from position 0, both ways
  View pool;                           // (pages, bytes of one layer) u8
  const Scratch& scratch;
};

class EncoderLayer {
 public:
  int64_t heads = 0, head_dim = 0;
  Weight query, key, value, output;                      // (hidden, hidden)
  Tensor query_bias, key_bias, value_bias, output_bias;  // (1, hidden) f32
  LayerNorm attention_norm;
  Weight up, down;            // (ffn, hidden), (hidden, ffn)
  Tensor up_bias, down_bias;  // (1, ffn), (1, hidden) f32
  LayerNorm ffn_norm;

  //   writes   x (tokens, hidden) f32, in place
  void run(const EncoderStep& step, View x) const;

  KvLayer pages(View pool) const;
  ScratchSize scratch() const;

 private:
  void attend(const EncoderStep& step, View x) const;
  void feed_forward(const EncoderStep& step, View x) const;
};

}  // namespace mummu
