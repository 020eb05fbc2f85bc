#pragma once

// The metadata of a GGUF file: the keys that all families share, under the architecture's name.
//   source   https://github.com/ggml-org/ggml/blob/master/docs/gguf.md

#include <string>
#include <string_view>

#include "file/gguf.h"
#include "model/config.h"
#include "mummu/result.h"

namespace mummu {

//   errors   corrupt (missing, mistyped or contradictory values), unsupported (names what would
//            change the result: rope kind, attention window, experts where the family has none)
Result<ModelConfig> read_config_gguf(const Gguf& file, std::string_view eps_key);

// "llama.block_count": a key of this file's architecture.
Result<std::string> architecture_key(const Gguf& file, std::string_view key);

// A value that may be one number for all layers or an array of one a layer.
//   errors   corrupt (absent, or an array of another length)
Result<std::vector<int64_t>> read_by_layer(const Gguf& file, const std::string& key,
                                           int64_t layers);

}  // namespace mummu
