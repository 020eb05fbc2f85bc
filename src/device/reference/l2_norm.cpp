#include <cmath>

#include "device/reference/reference_ops.h"
#include "device/reference/scalar.h"

namespace mummu::reference {

void ReferenceOps::l2_norm(View x, View out) {
  for (int64_t t = 0; t < x.rows; ++t) {
    const float* row = x.slice(t, 1).as<float>();
    float* to = out.slice(t, 1).as<float>();
    Lanes squares;
    for (int64_t i = 0; i < x.columns; ++i)
      squares.lane[i % 16] = std::fma(row[i], row[i], squares.lane[i % 16]);
    float r = std::sqrt(squares.total());
    r = r < 1e-12F ? 1e-12F : r;
    for (int64_t i = 0; i < x.columns; ++i) to[i] = row[i] / r;
  }
}

}  // namespace mummu::reference
