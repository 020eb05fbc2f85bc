#include "device/reference/reference_ops.h"
#include "device/reference/scalar.h"
#include "device/reference/weight_row.h"

namespace mummu::reference {

void ReferenceOps::gated(View x, const Weight& gate, const Weight& up, View out) {
  if (is_quantised(gate.type()) || is_quantised(up.type())) quantise_rows(x);
  parallel_.for_each((out.columns + kRowsAtOnce - 1) / kRowsAtOnce, [&](int64_t piece) {
    const int64_t row = piece * kRowsAtOnce;
    for (int64_t t = 0; t < x.rows; ++t) {
      const float* input = x.slice(t, 1).as<float>();
      const Products g = products(gate, row, input, quantised_row(t));
      const Products u = products(up, row, input, quantised_row(t));
      float* const to = out.slice(t, 1).as<float>() + row;
      for (int64_t r = 0; r < g.count; ++r) to[r] = silu(g.y[r]) * u.y[r];
    }
  });
}

}  // namespace mummu::reference
