#pragma once

// Rows of a weight in the layout of its file: their elements, and their products with a row of x.

#include <cstdint>

#include "device/reference/quantise.h"
#include "device/tensor.h"

namespace mummu::reference {

// One element, widened as `embedding` of device/ops.h states.
float element(const Weight& weight, int64_t row, int64_t column);

inline constexpr int64_t kRowsAtOnce = 4;

// Rows beside each other times x, in the order that `matmul` of device/ops.h states, without bias.
//   shapes  x (weight.columns): read for float weights; quantised (weight.columns): for blocks
struct Products {
  int64_t count = 0;  // kRowsAtOnce, or what is left of the rows
  float y[kRowsAtOnce];
};
Products products(const Weight& weight, int64_t first_row, const float* x, QuantisedRow quantised);

}  // namespace mummu::reference
