#pragma once

// Unigram: of all ways to write a piece as a row of tokens, the one with the highest sum of scores.
// Time is linear in the length of a piece times the longest token. Immutable; any thread.
//   source   arXiv 1804.10959; SentencePiece's unigram_model.cc, EncodeOptimized

#include <array>
#include <vector>

#include "text/byte_trie.h"
#include "text/model.h"
#include "text/text_table.h"

namespace mummu {

struct UnigramOptions {
  TokenId unknown = -1;        // -1: what is no token is left out
  bool byte_fallback = false;  // a character that is no token becomes its bytes, <0x0A>
};

class Unigram final : public PieceModel {
 public:
  //   scores   by id; ids behind its end are hidden in pieces
  Unigram(const Pieces& pieces, std::vector<double> scores, const UnigramOptions& options);

  void encode(std::string_view piece, ModelScratch& scratch,
              std::vector<TokenId>& out) const override;

 private:
  void search(std::string_view piece, std::vector<ModelScratch::Step>& steps) const;
  void append_unknown(std::string_view text, std::vector<TokenId>& out) const;

  ByteTrie trie_;
  std::vector<double> scores_;
  double unknown_score_ = 0;
  UnigramOptions options_;
  std::array<TokenId, 256> byte_ids_{};
};

}  // namespace mummu
