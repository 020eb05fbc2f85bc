#pragma once

// A mixture of gated feed-forward parts: a router sends every token to its top_k experts and adds
// up what they say, by their shares.
//   source   arXiv 2409.02060 section 2

#include <vector>

#include "layer/part.h"

namespace mummu {

class MoeMlp final : public FeedForward {
 public:
  int64_t top_k = 0;
  bool normalise = false;        // the shares of a token add up to one
  Weight router;                 // (experts, hidden)
  std::vector<Weight> gate, up;  // (ffn, hidden) each
  std::vector<Weight> down;      // (hidden, ffn) each

  void run(const Step& step, View x, View residual) const override;
  ScratchSize scratch() const override;
};

}  // namespace mummu
