#include "device/reference/reference_ops.h"
#include "device/reference/scalar.h"
#include "device/reference/weight_row.h"

namespace mummu::reference {

void ReferenceOps::gated(View x, const Weight& gate, const Weight& up, View out) {
  if (is_quantised(gate.type()) || is_quantised(up.type())) quantise_rows(x);
  parallel_.for_each(out.columns, [&](int64_t row) {
    for (int64_t t = 0; t < x.rows; ++t) {
      const float* input = x.slice(t, 1).as<float>();
      const float g = product(gate, row, input, quantised_row(t));
      const float u = product(up, row, input, quantised_row(t));
      out.slice(t, 1).as<float>()[row] = silu(g) * u;
    }
  });
}

}  // namespace mummu::reference
