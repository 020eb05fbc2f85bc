#pragma once

// The head of one safetensors file, parsed and checked.

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "file/reader.h"
#include "file/tensor_table.h"
#include "mummu/result.h"

namespace mummu {

// What the heads of all files of one model may take together.
struct SafetensorsBudget {
  int64_t header_bytes = 256 << 20;
  int64_t tensors = kMaxTensors;
};

struct SafetensorsHeader {
  std::vector<TensorInfo> tensors;
  std::map<std::string, std::string, std::less<>> metadata;
};

// Takes what it used from the budget.
//   errors   corrupt, io
Result<SafetensorsHeader> read_safetensors_header(const FileReader& file,
                                                  SafetensorsBudget& budget);

}  // namespace mummu
