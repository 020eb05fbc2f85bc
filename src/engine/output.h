#pragma once

// From ids to the text of an answer: decoding, and stop texts that are found wherever tokens are
// cut. Only a suffix that may still become a stop text is held back. StopTexts belongs to a
// request, Output to one of its choices.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "mummu/tokenizer.h"

namespace mummu {

// The stop texts of a request, prepared for a search that reads every byte once.
//   source   Knuth, Morris, Pratt: Fast Pattern Matching in Strings, SIAM J. Comput. 6 (1977)
class StopTexts {
 public:
  explicit StopTexts(const std::vector<std::string>& texts);

  size_t size() const { return texts_.size(); }
  size_t length(size_t which) const { return texts_[which].size(); }
  // How much of a text is matched after one more byte; `matched` < length(which).
  size_t advance(size_t which, size_t matched, char byte) const;

 private:
  std::vector<std::string> texts_;
  std::vector<std::vector<size_t>> borders_;  // [which][i]: longest border of the first i + 1 bytes
};

class Output {
 public:
  // Both must outlive it. Without a tokenizer there is no text.
  Output(const Tokenizer* tokenizer, bool skip_special, const StopTexts* stops);

  // Appends what an id says to `text`. Returns whether a stop text is complete; text then ends
  // before it. Of several the one that is complete first counts, of those the longest.
  bool push(TokenId id, bool look_for_stops, std::string& text);
  // The same for bytes that the decoder still holds when no more ids come.
  bool finish(bool look_for_stops, std::string& text);

  // Bytes at the end of the text that may still become a stop text.
  size_t held() const { return held_; }

 private:
  bool append(std::string_view piece, bool look_for_stops, std::string& text);

  std::optional<StreamDecoder> decoder_;
  const StopTexts* stops_;
  std::vector<size_t> matched_;  // bytes of each stop text that the text's end matches
  size_t held_ = 0;
};

}  // namespace mummu
