#pragma once

// What a checkpoint says of how a text becomes one vector: sentence-transformers' files, or GGUF's
// pooling_type. What would change a vector and is not known is refused by name.
//   source   sentence-transformers: modules.json, its Transformer, Pooling and Normalize modules

#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "device/ops.h"
#include "file/gguf.h"
#include "mummu/embed.h"
#include "mummu/result.h"

namespace mummu {

struct EmbedConfig {
  std::string checkpoint;  // where the weights lie: the path that was asked for, or a folder below
  Pool pool = Pool::mean;
  int64_t columns = 0;  // of a token's vector, as the pooling states it; 0: not stated
  bool normalises = false;
  int64_t max_tokens = 0;  // of a text, as the files state it; 0: they do not, and the lesser of
                           // the model's positions and this holds:
  int64_t tokenizer_tokens = std::numeric_limits<int64_t>::max();
  bool lower_case = false;          // the tokenizer has to make texts lower case
  std::optional<bool> cuts_left{};  // the tokenizer has to cut at the front, or not there
  std::vector<EmbedPrompt> prompts;
  std::string default_prompt;
};

// `path` is a folder, or a file in one.
//   errors   not_found (no modules.json), corrupt, unsupported, io
Result<EmbedConfig> read_embed_folder(const std::string& path);

//   errors   not_found (no pooling_type), corrupt, unsupported
Result<EmbedConfig> read_embed_gguf(const Gguf& file);

// The reference's word for a way of pooling.
std::string_view name(Pool how);

}  // namespace mummu
