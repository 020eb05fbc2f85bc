#pragma once

// Norms with their weights.

#include "device/ops.h"

namespace mummu {

// By root mean square.
struct RmsNorm {
  Tensor weight;  // (1, columns) f32
  float eps = 0;

  void run(Ops& ops, View x, View out) const { ops.rms_norm(x, weight.view(), eps, out); }
};

// By mean and variance.
struct LayerNorm {
  Tensor weight, bias;  // (1, columns) f32
  float eps = 0;

  void run(Ops& ops, View x, View out) const {
    ops.layer_norm(x, weight.view(), bias.view(), eps, out);
  }
};

}  // namespace mummu
