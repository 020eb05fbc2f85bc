#include <cmath>

#include "device/reference/reference_ops.h"
#include "device/reference/scalar.h"

namespace mummu::reference {

void ReferenceOps::rms_norm(View x, View weight, float eps, View out) {
  const float* w = weight.as<float>();
  for (int64_t i = 0; i < x.rows; ++i) {
    const float* from = x.slice(i, 1).as<float>();
    float* to = out.slice(i, 1).as<float>();
    Lanes squares;
    for (int64_t k = 0; k < x.columns; ++k) {
      squares.lane[k % 16] = std::fma(from[k], from[k], squares.lane[k % 16]);
    }
    const float mean = squares.total() / static_cast<float>(x.columns);
    const float r = 1.0F / std::sqrt(mean + eps);
    for (int64_t k = 0; k < x.columns; ++k) to[k] = from[k] * r * w[k];
  }
}

}  // namespace mummu::reference
