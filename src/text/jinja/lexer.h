#pragma once

// A template's source, cut into tokens as Jinja2 with trim_blocks and lstrip_blocks cuts it:
// newlines are "\n", one at the end is dropped, white space around tags is already gone from the
// text tokens.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "mummu/result.h"

namespace mummu::jinja {

enum class TokenKind : uint8_t {
  end,
  text,  // outside all tags
  value_begin,
  value_end,
  block_begin,
  block_end,
  name,
  string,  // with its quotes and escapes
  integer,
  real,
  symbol,  // an operator or a bracket
};

struct Token {
  TokenKind kind;
  int line;
  std::string_view text;  // of the source given to tokenize
};

// The source with its newlines made "\n" and the last one dropped.
std::string normalise_newlines(std::string_view source);

// Ends with a token of kind `end`. The tokens look into `source`.
//   requires  source has gone through normalise_newlines
//   errors    invalid (an unknown character, an open comment, string or bracket; with the line)
Result<std::vector<Token>> tokenize(std::string_view source);

// What a string token says: its quotes gone, its escapes (Python's) replaced.
//   errors   invalid (a broken escape, or one that names a lone surrogate), unsupported (\N{...})
Result<std::string> unescape(std::string_view token);

}  // namespace mummu::jinja
