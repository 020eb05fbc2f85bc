#pragma once

// The gated feed-forward part: down · (silu(gate · x) * (up · x)).
//   source   arXiv 2002.05202

#include "layer/part.h"

namespace mummu {

class GatedMlp final : public FeedForward {
 public:
  Weight gate, up;  // (ffn, hidden)
  Weight down;      // (hidden, ffn)

  void run(const Step& step, View x, View residual) const override;
  ScratchSize scratch() const override;
};

}  // namespace mummu
