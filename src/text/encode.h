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

}  // namespace mummu
