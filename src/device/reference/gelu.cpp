#include "device/gelu.h"

#include "device/reference/reference_ops.h"
#include "device/reference/scalar.h"

namespace mummu::reference {

void ReferenceOps::gelu(View x, View out) {
  for (int64_t i = 0; i < x.rows * x.columns; ++i) {
    out.as<float>()[i] = reference::gelu(x.as<float>()[i]);
  }
}

}  // namespace mummu::reference
