#pragma once

// The two kinds of part that a layer is made of. Both read a normalised input and add to the
// residual stream. Parts are const after load; a part that must remember something of a sequence
// keeps it in the sequence's pages.

#include "layer/step.h"

namespace mummu {

// The part that moves information between the tokens of a sequence.
class Mixer {
 public:
  virtual ~Mixer() = default;

  // residual += mixer(x).
  //   shapes   x, residual (tokens, hidden) f32
  virtual void run(const Step& step, View x, View residual) const = 0;

  // Bytes of one page that this layer owns.
  virtual int64_t page_bytes(DType kv) const = 0;
  virtual ScratchSize scratch() const = 0;
};

// The part that works on every token by itself.
class FeedForward {
 public:
  virtual ~FeedForward() = default;

  // residual += ffn(x).
  //   shapes   x, residual (tokens, hidden) f32
  virtual void run(const Step& step, View x, View residual) const = 0;

  virtual ScratchSize scratch() const = 0;
};

}  // namespace mummu
