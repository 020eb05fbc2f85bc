#pragma once

// Text to ids through the stages of a Tokenizer::Impl, without what the post-processor adds.

#include <string_view>
#include <vector>

#include "text/level_map.h"
#include "text/tokenizer_impl.h"

namespace mummu {

//   requires  text valid UTF-8, levels over all of it
std::vector<TokenId> encode_text(const Tokenizer::Impl& tokenizer, std::string_view text,
                                 const LevelMap& levels);

// The ids of prompt + text with what the post-processor adds. The prompt is the checkpoint's own,
// so its control tokens count; those that `text` spells stay text.
//   errors   as Tokenizer::encode
Result<std::vector<TokenId>> encode_behind(const Tokenizer& tokenizer, std::string_view prompt,
                                           std::string_view text, const EncodeOptions& options);

}  // namespace mummu
