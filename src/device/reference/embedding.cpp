#include "device/reference/reference_ops.h"
#include "device/reference/weight_row.h"

namespace mummu::reference {

void ReferenceOps::embedding(const Weight& table, View ids, View out) {
  for (int64_t i = 0; i < out.rows; ++i) {
    const int64_t row = ids.as<int32_t>()[i];
    float* to = out.slice(i, 1).as<float>();
    for (int64_t k = 0; k < out.columns; ++k) to[k] = element(table, row, k);
  }
}

}  // namespace mummu::reference
