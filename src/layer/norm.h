#pragma once

// Root mean square norm with its weight.

#include "device/ops.h"

namespace mummu {

struct RmsNorm {
  Tensor weight;  // (1, columns) f32
  float eps = 0;

  void run(Ops& ops, View x, View out) const { ops.rms_norm(x, weight.view(), eps, out); }
};

}  // namespace mummu
