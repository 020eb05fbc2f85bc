#pragma once

// The gated short convolution of LFM2: in, gate, a few taps along the sequence, gate, out. What a
// sequence must remember, the last taps' inputs, lies in its pages.
//   source   arXiv 2511.23404

#include "layer/part.h"

namespace mummu {

class ShortConv final : public Mixer {
 public:
  int64_t length = 0;  // taps
  int64_t hidden = 0;
  Weight in;                       // (3 * hidden, hidden)
  Weight out;                      // (hidden, hidden)
  Tensor kernel;                   // (length, hidden) f32, the oldest tap first
  Tensor in_bias, bias, out_bias;  // (1, 3 * hidden), (1, hidden), (1, hidden), or empty

  void run(const Step& step, View x, View residual) const override;
  int64_t page_bytes(DType kv) const override;
  ScratchSize scratch() const override;
};

}  // namespace mummu
