#pragma once

// What both loaders do when the vocabulary and its added tokens are known. Load time only.

#include <string>
#include <string_view>
#include <vector>

#include "mummu/result.h"
#include "text/bpe.h"
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

// The pieces that text may become, those of a byte-level vocabulary as the bytes they stand for.
// Hidden ones are empty.
Pieces make_pieces(const Tokenizer::Impl& impl, const std::vector<bool>& hidden, bool bytes);

// Merges in the order of a file, the first one most wanted.
class MergeList {
 public:
  //   prefix   so many bytes at the front of a right part are not part of what the two become
  MergeList(const Tokenizer::Impl& impl, const Pieces& pieces, size_t count, size_t prefix = 0);

  //   errors   corrupt (a part, or what they become, is not in the vocabulary)
  Result<void> add(std::string_view left, std::string_view right, std::string_view where);
  // "left right"
  Result<void> add(std::string_view both, std::string_view where);

  MergeTable take() { return std::move(merges_); }

 private:
  const Tokenizer::Impl& impl_;
  const Pieces& pieces_;
  size_t prefix_;
  uint32_t rank_ = 0;
  std::string joined_;
  MergeTable merges_;
};

// Adds ids after which generation is over: those given, and the well-known marks of a turn's or
// text's end among the control tokens.
void finish_end_ids(Tokenizer::Impl& impl, const std::vector<TokenId>& given);

}  // namespace mummu
