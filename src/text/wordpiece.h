#pragma once

// WordPiece: a word is the longest piece that it begins with, then the longest continuation, and so
// on; a word that does not come out even, or has over 100 characters, is one unknown token.
// Immutable; any thread.
//   source   BERT's tokenization.py, class WordpieceTokenizer

#include <string>

#include "text/model.h"
#include "text/text_table.h"

namespace mummu {

struct WordPieceOptions {
  TokenId unknown = -1;
  std::string prefix = "##";  // marks continuations
  size_t longest_word = 100;  // code points
};

class WordPiece final : public PieceModel {
 public:
  WordPiece(Pieces pieces, WordPieceOptions options);

  void encode(std::string_view piece, ModelScratch& scratch,
              std::vector<TokenId>& out) const override;

 private:
  // The longest piece that begins at a byte and where it ends; id -1 if there is none.
  struct Found {
    TokenId id;
    size_t end;
  };
  Found longest(std::string_view word, size_t at, std::string& buffer) const;

  Pieces pieces_;
  WordPieceOptions options_;
  size_t longest_ = 0;  // bytes of the longest piece
};

}  // namespace mummu
