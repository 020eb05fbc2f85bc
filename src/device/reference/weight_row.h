#pragma once

// One row of a weight in the layout of its file: its elements, and its product with a row of x.

#include <cstdint>

#include "device/reference/quantise.h"
#include "device/tensor.h"

namespace mummu::reference {

// One element, widened as `embedding` of device/ops.h states.
float element(const Weight& weight, int64_t row, int64_t column);

// The row times x, in the order that `matmul` of device/ops.h states, without bias.
//   shapes  x (weight.columns): read for float weights; quantised (weight.columns): for blocks
float product(const Weight& weight, int64_t row, const float* x, QuantisedRow quantised);

}  // namespace mummu::reference
