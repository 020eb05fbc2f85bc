#pragma once

// What both loaders do when the vocabulary and its added tokens are known. Load time only.

#include <string_view>

#include "mummu/result.h"
#include "text/tokenizer_impl.h"

namespace mummu {

// Puts all texts of the vocabulary into its index.
//   errors   corrupt (two ids with one text)
Result<void> index_texts(Tokenizer::Impl& impl, std::string_view where);

// Makes the matchers, and the table of hidden ids, from impl.added and impl.normalizers.
//   errors   unsupported (an added token longer than 1,024 bytes), corrupt (its id is not in the
//   vocabulary)
Result<void> finish_added(Tokenizer::Impl& impl, std::string_view where);

// One bit an id, true for those that the model must never produce from text: tokens that are not
// allowed at every level.
std::vector<bool> hidden_from_model(const Tokenizer::Impl& impl);

// Adds ids after which generation is over: those given, and the well-known marks of a turn's or
// text's end among the control tokens.
void finish_end_ids(Tokenizer::Impl& impl, const std::vector<TokenId>& given);

}  // namespace mummu
