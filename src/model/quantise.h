#pragma once

// Rows of floats to blocks of 32, for a load that shall take less memory than its file: the bytes
// that PyPI's gguf package gives, so that a model quantised here equals one quantised there.
//   source   gguf package 0.19, quants.py: Q8_0, Q4_0

#include <cstddef>
#include <span>

#include "base/dtype.h"

namespace mummu {

// One row as q8_0 or q4_0 holds it; false if a value is not finite, or so large that its block's
// scale is none as f16.
//   q8_0     d = amax / 127, q = x / d rounded half away from zero
//   q4_0     d = m / -8, where m is the first of the largest magnitude; q = x / d + 8 rounded half
//            up, at most 15
//   both     x / d as x * (1 / d), in f32; q are taken from d before it is rounded to f16. A block
//            whose 1 / d is not finite (all |x| below 2^-121) becomes zeros.
//   shapes   values: a multiple of 32   out: row_bytes(type, values.size())
bool quantise_row(DType type, std::span<const float> values, std::span<std::byte> out);

}  // namespace mummu
