#include <algorithm>

#include "device/reference/reference_ops.h"

namespace mummu::reference {

void ReferenceOps::gather(View x, View from, View out) {
  for (int64_t i = 0; i < out.rows; ++i) {
    const float* row = x.slice(from.as<int32_t>()[i], 1).as<float>();
    std::copy_n(row, x.columns, out.slice(i, 1).as<float>());
  }
}

}  // namespace mummu::reference
