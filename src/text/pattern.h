#pragma once

// Where to cut text. The patterns that public tokenizers use are our own code over our own Unicode
// table (known_pattern); a pattern of an unknown file is compiled by PCRE2. Immutable after it is
// built; any thread.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "mummu/result.h"
#include "text/utf8.h"

namespace mummu {

class Pattern {
 public:
  struct Match {
    size_t begin = 0, end = 0;  // bytes
  };

  Pattern() = default;
  Pattern(const Pattern&) = delete;
  Pattern& operator=(const Pattern&) = delete;
  virtual ~Pattern() = default;

  // The first match that begins at or after a byte. Of the patterns here only regular expressions
  // match empty text.
  //   requires  text valid UTF-8, from <= text.size() and at a border
  virtual std::optional<Match> find(std::string_view text, size_t from) const = 0;
};

// Calls found(begin, end) for every match in a text, one after the other. An empty match right
// behind the last one is none.
template <typename F>
void for_each_match(const Pattern& pattern, std::string_view text, const F& found) {
  size_t done = 0, from = 0;
  bool matched = false;
  while (const auto match = pattern.find(text, from)) {
    if (match->begin == match->end && match->end == done && matched) {
      if (done == text.size()) return;
      from = done + static_cast<size_t>(code_point_at(text, done).size);
      continue;
    }
    found(match->begin, match->end);
    done = from = match->end;
    matched = true;
  }
}

// A regular expression that is one of the known ones, to the letter; nullptr if it is not.
std::unique_ptr<const Pattern> known_pattern(std::string_view expression);

// Any regular expression in the syntax of Oniguruma, as far as PCRE2 reads it the same way. Where a
// match would take more than ten million steps, the rest of that text matches nothing.
//   errors   unsupported (quotes the expression and what is wrong)
Result<std::unique_ptr<const Pattern>> regex_pattern(std::string_view expression);

// A string to find as it is.
std::unique_ptr<const Pattern> literal_pattern(std::string text);

// Single code points of certain classes (flags of text/unicode.h).
std::unique_ptr<const Pattern> class_pattern(uint16_t flags);

// Words and runs of other characters, as the pre-tokenizer Whitespace sees them: \w+|[^\w\s]+
std::unique_ptr<const Pattern> word_pattern();

// The expression of ByteLevel: contractions, words, numbers and signs, each with the space before
// it.
inline constexpr std::string_view kGpt2Expression =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";
// GPT-4's and Llama 3's, numbers in threes.
inline constexpr std::string_view kLlama3Expression =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
// Qwen 2's, digits one by one.
inline constexpr std::string_view kQwen2Expression =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
// Qwen 3.5's, marks belong to words.
inline constexpr std::string_view kQwen35Expression =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";

}  // namespace mummu
