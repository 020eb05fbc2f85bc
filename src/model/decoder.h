#pragma once

// The loop that all causal families share: embedding, layers, final norm, head. A Decoder is const
// after load and belongs to a Model; what a step needs besides (activations, pages) lives in a
// DecoderState, one per engine, one thread at a time.

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "device/ops.h"
#include "layer/norm.h"
#include "layer/part.h"
#include "layer/rope.h"
#include "mummu/result.h"
#include "mummu/tokenizer.h"

namespace mummu {

// The tokens of one step, of one or many sequences. All host memory, alive until run returns.
struct Batch {
  std::span<const TokenId> ids;             // (rows)
  std::span<const int32_t> positions;       // (rows)
  std::span<const Segment> segments;        // partition the rows
  std::span<const int32_t> wanted;          // rows whose logits are wanted, ascending; may be empty
  const std::atomic<bool>* stop = nullptr;  // looked at between layers
};

// What DecoderState is made for.
struct DecoderSize {
  int64_t pages = 0;   // of kPageTokens positions
  int64_t tokens = 0;  // most rows of one step
  int64_t wanted = 0;  // most rows with logits of one step
  DType kv = DType::f16;
};

// What becomes of the rows of a step that has no logits: vectors of their sequences.
struct Pooling {
  Pool how = Pool::mean;
  std::span<const PoolRun> runs;
  View out;  // (sequences, hidden) f32, on the device
};

// Pages and activations of one engine; everything that run writes. Moves, does not copy.
struct DecoderState {
  DecoderSize size;
  int64_t positions = 0;              // rows of cos_sin: no position of a batch is higher
  Tensor pool;                        // (pages, page bytes) u8
  Tensor cos_sin;                     // (positions, rotary_dim) f32
  Tensor ids, row_positions, wanted;  // (1, tokens), (1, tokens), (1, wanted) i32
  Tensor residual, normed;            // (tokens, hidden) f32
  Tensor picked;                      // (wanted, hidden) f32
  Tensor logits;                      // (wanted, vocab) f32
  Scratch scratch;
  std::vector<std::byte> page;  // one page on the host, for copies
};

// x += mixer(norm(x)); x += ffn(norm(x))
struct DecoderLayer {
  RmsNorm mixer_norm;
  std::unique_ptr<Mixer> mixer;
  RmsNorm ffn_norm;
  std::unique_ptr<FeedForward> ffn;
};

class Decoder {
 public:
  // What a family's recipe fills; see model/family.h.
  Weight embedding;  // (vocab, hidden); also the head where `head` is empty
  std::vector<DecoderLayer> layers;
  RmsNorm final_norm;
  Weight head;           // (vocab, hidden), or empty
  bool has_head = true;  // false: neither; the checkpoint makes vectors only
  RopeConfig rope;
  int64_t hidden = 0;
  int64_t vocab_rows = 0;
  int64_t context_tokens = 0;

  int64_t vocab() const { return vocab_rows; }  // columns of the logits: rows of the embedding
  int64_t context() const { return context_tokens; }  // tokens the checkpoint was made for
  int64_t page_bytes(DType kv) const;

  // Allocates pages and activations on the device; nothing after this allocates.
  //   errors   invalid (nothing to do, or more pages than ids can name), no_memory
  Result<DecoderState> make_state(Ops& ops, const DecoderSize& size) const;

  // Computes a step. Every row's key and value are in its page when it returns.
  //   writes   logits (wanted, vocab) f32, row-major, in the order of batch.wanted
  //   requires rows <= state.size.tokens, wanted <= state.size.wanted, ids < vocab, positions <
  //            state.positions
  //   errors   device_lost, cancelled (batch.stop was set; pages of this batch are then not to be
  //            trusted)
  Result<void> run(Ops& ops, DecoderState& state, const Batch& batch,
                   std::span<float> logits) const;

  // Called with the residual stream after the embedding (layer 0) and after every layer (1, 2,
  // ...); for tests and tools.
  using Watch = void (*)(void* context, int64_t layer, View residual);
  Result<void> run(Ops& ops, DecoderState& state, const Batch& batch, std::span<float> logits,
                   Watch watch, void* context) const;

  // Computes a step without logits: the rows, behind the final norm, become vectors.
  //   requires as run, with no rows wanted
  //   errors   device_lost, cancelled
  Result<void> run_pooled(Ops& ops, DecoderState& state, const Batch& batch,
                          const Pooling& pooling) const;

  // Copies all layers' bytes of one page. Between steps.
  void copy_page(Ops& ops, DecoderState& state, int32_t from, int32_t to) const;

 private:
  ScratchSize scratch_size() const;
  void upload(Ops& ops, DecoderState& state, const Batch& batch) const;
  // Embedding and layers, within a step: the residual stream behind the last. Ends early where the
  // batch is stopped.
  View run_layers(Ops& ops, DecoderState& state, const Batch& batch, Watch watch,
                  void* context) const;
};

}  // namespace mummu
