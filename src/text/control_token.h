#pragma once

// Which tokens of a vocabulary steer a conversation, and in whose text they may be recognised. What
// a file declares is not enough: one model's folder and GGUF file differ, and some files declare
// turn marks as plain tokens. Pure functions.

#include <cstdint>
#include <string_view>

#include "mummu/chat.h"
#include "mummu/tokenizer.h"

namespace mummu {

// True for texts that are control tokens whatever their file says: <|…|>, <｜…｜>, <s>, </s>,
// <start_of_turn>, <end_of_turn>, <unused…>.
bool looks_like_control(std::string_view text);

// True for padding of the vocabulary ([PAD123]), which no text ever becomes.
bool is_vocabulary_padding(std::string_view text);

// True for what a model writes around its thoughts and tool calls. Its own earlier turns may hold
// these as tokens.
bool is_output_mark(std::string_view text);

// One bit a level (1 << level): where the token may be recognised.
//   level 0 (template)  every token
//   level 1 (model)     those that do not control, and output marks
//   level 2 (content)   those that do not control
//   level 3 (tool)      of these the ones that do not look like markup (begin with < [ or ])
uint8_t allowed_levels(const AddedToken& token);

constexpr uint8_t level_bit(Level level) {
  return static_cast<uint8_t>(1u << static_cast<unsigned>(level));
}

}  // namespace mummu
