#pragma once

// What a Tokenizer is made of: the stages through which text becomes ids. Filled by one of the
// loaders (gguf_vocabulary.h, tokenizer_json.h), constant afterwards.

#include <memory>
#include <optional>
#include <vector>

#include "mummu/tokenizer.h"
#include "text/added_matcher.h"
#include "text/decoder.h"
#include "text/model.h"
#include "text/normalizer.h"
#include "text/pre_tokenizer.h"
#include "text/text_table.h"

namespace mummu {

struct Truncation {
  int64_t max_tokens = 0;
  bool left = false;  // cut at the front
};

struct Padding {
  TokenId id = 0;
  bool left = false;
  int64_t fixed = 0;  // always to this many; 0: as many as the longest of a batch
};

struct Tokenizer::Impl {
  // The vocabulary as it stands in the file.
  TextTable texts;
  TextIndex index;
  std::vector<AddedToken> added;

  // text → ids
  AddedMatcher raw_matcher;         // over the text as it comes
  AddedMatcher normalized_matcher;  // over what the normalizer makes of it
  Normalizers normalizers;
  PreTokenizers pre_tokenizers;
  std::unique_ptr<const PieceModel> model;
  std::vector<TokenId> front, back;  // what the post-processor puts around the ids
  std::optional<Truncation> truncation;
  std::optional<Padding> padding;

  // ids → text
  TextDecoder decoder;
  std::vector<uint8_t> special;  // by id

  std::optional<TokenId> bos, eos;
  std::vector<TokenId> end_ids;
};

}  // namespace mummu
