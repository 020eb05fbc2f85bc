#pragma once

// From ids back to bytes. What each token becomes is worked out once, when the tokenizer is loaded,
// so that decoding a token is a look-up that allocates nothing. Immutable after it is built; any
// thread.
//   source   the decoder list of the tokenizer.json format

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "text/text_table.h"

namespace mummu {

// One step of a decoder, over one token.
struct DecoderStep {
  enum class Kind {
    byte_level,  // characters of text/byte_level.h to bytes; a token with any other character stays
    byte_fallback,  // <0x0A> to its byte
    replace,        // every `from` to `to`
    metaspace,      // every `from` to a space; in the first token dropped if `flag`
    word_piece,  // without the prefix `from`, or else a space before all but the first; tidied if
                 // `flag`
    join,        // a space before all but the first
    strip,       // up to `left` of the character `from` at the front, up to `right` at the back
  };
  Kind kind;
  std::string from{}, to{};
  bool flag = false;
  size_t left = 0, right = 0;
};

class TextDecoder {
 public:
  // What happens to the text of all tokens together: so many of a character dropped at its front.
  struct Front {
    std::string text;
    size_t count = 0;
  };

  TextDecoder() = default;
  TextDecoder(const TextTable& texts, const std::vector<DecoderStep>& steps, Front front);

  // The bytes of a token, which need not be whole code points.
  //   requires  0 <= id < the vocabulary's size
  std::string_view bytes(TokenId id, bool first) const {
    return (first && first_ ? *first_ : rest_)[id];
  }
  const Front& front() const { return front_; }
  size_t longest() const { return longest_; }  // bytes of one token at most

 private:
  TextTable rest_;
  std::optional<TextTable> first_;  // where tokens read otherwise at the beginning
  Front front_;
  size_t longest_ = 0;
};

}  // namespace mummu
