#pragma once

// One GGUF file, parsed and checked; a split model has several.

#include <cstdint>
#include <vector>

#include "file/gguf_metadata.h"
#include "file/reader.h"
#include "file/tensor_table.h"
#include "mummu/result.h"

namespace mummu {

// What the heads of all files of one model may take together: they bound memory and time, whatever
// the files say.
struct GgufBudget {
  int64_t header_bytes = 256 << 20;  // the largest known vocabularies take about 20 MB
  int64_t tensors = kMaxTensors;
};

struct GgufPart {
  int32_t version = 0;
  GgufMetadata metadata;
  std::vector<TensorInfo> tensors;
};

// Reads everything before the tensors' data, and takes what it used from the budget.
//   errors   corrupt, unsupported (a version, byte order or dropped tensor type), io
Result<GgufPart> read_gguf_part(const FileReader& file, GgufBudget& budget);

}  // namespace mummu
