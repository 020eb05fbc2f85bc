#pragma once

// The loop that all causal families share: embedding, layers, final norm, head. A Decoder is const
// after load and belongs to a Model; what a step needs besides (activations, pages) lives in a
// DecoderState, one per engine, one thread at a time.

#include <atomic>
#include <cstdint>
#include <span>

#include "device/ops.h"
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

}  // namespace mummu
