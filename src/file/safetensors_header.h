#pragma once

// The head of one safetensors file, parsed and checked.

#include <cstdint>

#include "file/reader.h"
#include "file/safetensors_json.h"
#include "file/tensor_table.h"
#include "mummu/result.h"

namespace mummu {

// What the heads of all files of one model may take together.
struct SafetensorsBudget {
  int64_t header_bytes = 256 << 20;
  int64_t tensors = kMaxTensors;
};

// Takes what it used from the budget.
//   errors   corrupt, io
Result<SafetensorsHeader> read_safetensors_header(const FileReader& file,
                                                  SafetensorsBudget& budget);

}  // namespace mummu
