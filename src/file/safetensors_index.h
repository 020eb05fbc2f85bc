#pragma once

#include <map>
#include <string>

#include "mummu/result.h"

namespace mummu {

// Reads the index of a sharded model: which shard (a plain file name) holds each tensor.
//   errors   not_found, corrupt (a shard's name that could leave the folder, ...), io
//   source   transformers' model.safetensors.index.json: {"metadata": {...}, "weight_map": {TENSOR:
//   SHARD}}
Result<std::map<std::string, std::string>> read_safetensors_index(const std::string& path);

}  // namespace mummu
