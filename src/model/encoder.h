#pragma once

// The loop of the encoders: embeddings, layers, and one vector a sequence of what comes out. An
// Encoder is const after load and belongs to a Model; what a step needs besides lives
// in an EncoderState, one thread at a time.

#include <cstdint>
#include <span>
#include <vector>

#include "device/ops.h"
#include "layer/encoder_layer.h"
#include "mummu/result.h"
#include "mummu/tokenizer.h"

namespace mummu {

// Activations and, for the length of a step, keys and values.
struct EncoderState {
  int64_t tokens = 0;
  Tensor pool;                  // (pages, bytes of one layer) u8
  Tensor ids, positions, none;  // (1, tokens) i32; `none` is all zero
  Tensor x, other;              // (tokens, hidden) f32
  Scratch scratch;
  std::vector<int32_t> pages, row_positions;
  std::vector<Segment> sequences;
  std::vector<PoolRun> pooled;
};

class Encoder {
 public:
  // What a family's recipe fills.
  Weight words, positions, types;  // (vocab, hidden), (context, hidden), (types, hidden)
  LayerNorm embedding_norm;
  std::vector<EncoderLayer> layers;
  int64_t hidden = 0;
  int64_t vocab_rows = 0;
  int64_t context_tokens = 0;

  int64_t vocab() const { return vocab_rows; }
  int64_t context() const { return context_tokens; }

  // Room for steps of up to `tokens` tokens in up to `sequences` sequences.
  //   errors   no_memory
  Result<EncoderState> make_state(Ops& ops, int64_t tokens, int64_t sequences) const;

  // Encodes whole sequences, one after another in `ids`, and pools each; what one comes to does not
  // depend on the others.
  //   shapes   ids: the sum of lengths   out (sequences, hidden) f32, on the device
  //   requires the sum is not above the state's tokens, lengths at least 1 and not above context(),
  //            ids < vocab()
  //   errors   device_lost
  Result<void> run(Ops& ops, EncoderState& state, std::span<const TokenId> ids,
                   std::span<const int64_t> lengths, Pool how, View out) const;

  // Called with the tokens' vectors after the embedding (layer 0) and after every layer; for tests.
  using Watch = void (*)(void* context, int64_t layer, View x);
  Result<void> run(Ops& ops, EncoderState& state, std::span<const TokenId> ids,
                   std::span<const int64_t> lengths, Pool how, View out, Watch watch,
                   void* context) const;

 private:
  // Words, kinds and positions, added and normalised.
  void embed(Ops& ops, const EncoderState& state, View x) const;
  void plan_step(EncoderState& state, std::span<const int64_t> lengths) const;
};

}  // namespace mummu
