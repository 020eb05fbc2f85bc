#include <cmath>

#include "device/reference/reference_ops.h"
#include "device/reference/scalar.h"

namespace mummu::reference {

void ReferenceOps::layer_norm(View x, View weight, View bias, float eps, View out) {
  const auto columns = static_cast<float>(x.columns);
  for (int64_t t = 0; t < x.rows; ++t) {
    const float* row = x.slice(t, 1).as<float>();
    float* to = out.slice(t, 1).as<float>();
    Lanes sum;
    for (int64_t i = 0; i < x.columns; ++i) sum.lane[i % 16] += row[i];
    const float mean = sum.total() / columns;
    Lanes squares;
    for (int64_t i = 0; i < x.columns; ++i) {
      const float d = row[i] - mean;
      squares.lane[i % 16] = std::fma(d, d, squares.lane[i % 16]);
    }
    const float r = 1.0F / std::sqrt(squares.total() / columns + eps);
    for (int64_t i = 0; i < x.columns; ++i) {
      const float d = row[i] - mean;
      to[i] = std::fma(d * r, weight.as<float>()[i], bias.as<float>()[i]);
    }
  }
}

}  // namespace mummu::reference
