#pragma once

// The JSON in the head of a safetensors file.

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "file/tensor_info.h"
#include "mummu/result.h"

namespace mummu {

struct SafetensorsHeader {
  std::vector<TensorInfo> tensors;
  std::map<std::string, std::string, std::less<>> metadata;
};

// Checks everything that the text alone can tell; offset_bytes are from the start of the data.
// `where` is for messages.
//   errors   corrupt
Result<SafetensorsHeader> parse_safetensors_json(std::string_view text, std::string_view where,
                                                 int64_t max_tensors);

}  // namespace mummu
