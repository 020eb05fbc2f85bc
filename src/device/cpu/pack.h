#pragma once

// How the CPU device lays out a weight: panels of 16 output rows, the last one padded with zeros,
// inside a panel k ascending. No value changes and nothing is widened; every instruction set reads
// the same bytes.
//   floats   (columns, 16) values
//   blocks   for each 32 columns: the weights in vectors of 64 bytes, four k of each of the 16 rows
//            (q8_0: vector j holds k = 4j..4j+3; nibbles: its low halves k = 4j..4j+3, its high
//            halves k = 16+4j..16+4j+3; fifth bits: bit j of one more vector those of k = 4j..4j+3;
//            bit pairs of q6_k: pair j of two more vectors those of k = 4j.. and of k = 16+4j..),
//            then f16 scales[16], then where the type has them f16 minima[16]
//   super-   for each 256 columns: f16 scales[16], q4_k and q5_k f16 scales[16] of the minima; then
//   blocks   for each 32 columns the weights as above and 32 bytes: q4_k, q5_k the scales[16] and
//            minima[16] (6 bits in a byte), q6_k the scales[16] of k < 16 and of the others

#include <cstdint>
#include <span>
#include <vector>

#include "base/dtype.h"
#include "device/cpu/memory.h"
#include "device/cpu/schedule.h"
#include "device/tensor.h"
#include "mummu/result.h"

namespace mummu::cpu {

// Whether this device computes with weights of a type.
bool can_pack(DType type);

// Bytes of one panel.
//   requires  can_pack(type), columns a multiple of its block
int64_t panel_bytes(DType type, int64_t columns);

// Bytes of all panels.
int64_t packed_bytes(DType type, int64_t rows, int64_t columns);

// Each thread of the schedule fills one large page of memory after another, by pieces of 64 KiB: it
// has the page, which the system clears when it is first written, in its cache for the most part.
//   errors   as Ops::pack_all
Result<std::vector<Weight>> pack_all(std::span<const WeightSource> sources, Arena& arena,
                                     Scratch& scratch, Schedule& schedule);

}  // namespace mummu::cpu
