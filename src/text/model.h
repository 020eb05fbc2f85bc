#pragma once

// What turns one piece of text (a word, as the pre-tokenizer cut it) into ids: Bpe, WordPiece,
// Unigram. A model is immutable after it is built, so any number of threads may encode with it;
// what a call needs to work lies in its ModelScratch, which belongs to one thread.

#include <cstdint>
#include <string_view>
#include <vector>

#include "mummu/tokenizer.h"

namespace mummu {

// Memory that a model reuses from piece to piece.
struct ModelScratch {
  struct Symbol {
    TokenId id;
    int32_t previous, next;  // positions, -1 at the ends
  };
  struct Candidate {
    uint32_t rank;
    int32_t at;  // the position of its left symbol
    TokenId result;
  };
  struct Step {
    double score;
    TokenId id;
    int32_t from;  // bytes; -1: not reached
  };
  std::vector<TokenId> ids;
  std::vector<Symbol> symbols;
  std::vector<Candidate> heap;
  std::vector<Step> steps;
};

class PieceModel {
 public:
  PieceModel() = default;
  PieceModel(const PieceModel&) = delete;
  PieceModel& operator=(const PieceModel&) = delete;
  virtual ~PieceModel() = default;

  // Appends the ids of a piece.
  //   requires  piece valid UTF-8, or the raw bytes of it for a byte-level model
  virtual void encode(std::string_view piece, ModelScratch& scratch,
                      std::vector<TokenId>& out) const = 0;
};

}  // namespace mummu
