#pragma once

// Finds added tokens in text: at each place the longest that may stand there, from left to right.
// Whether one may depends on the highest level among the bytes it covers. Immutable after it is
// built; any thread.
//   source   tokenizers' AddedVocabulary (leftmost-longest; the flags single_word, lstrip, rstrip)

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "mummu/tokenizer.h"
#include "text/byte_trie.h"
#include "text/level_map.h"

namespace mummu {

class AddedMatcher {
 public:
  struct Entry {
    std::string text;  // not empty; of two with the same text the first counts
    TokenId id = -1;
    uint8_t allowed = 0;  // text/control_token.h
    bool single_word = false, lstrip = false, rstrip = false;
  };
  struct Match {
    size_t begin = 0, end = 0;  // bytes, with the white space that the token swallows
    size_t resume = 0;          // where to look for the next one: the end of the token itself
    TokenId id = -1;
  };

  AddedMatcher() = default;
  explicit AddedMatcher(std::vector<Entry> entries);

  bool empty() const { return entries_.empty(); }

  // The first match at or after `from`, id -1 if there is none. White space before `taken` belongs
  // to an earlier token.
  //   levels   of text, whose first byte is byte `offset` of the map
  Match find(std::string_view text, size_t from, size_t taken, const LevelMap& levels,
             size_t offset) const;

 private:
  int32_t longest_at(std::string_view text, size_t at, const LevelMap& levels, size_t offset) const;

  std::vector<Entry> entries_;
  ByteTrie trie_;
  std::array<bool, 256> begins_{};  // whether an entry begins with a byte
};

}  // namespace mummu
