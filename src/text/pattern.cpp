#include "text/pattern.h"

#include <array>
#include <utility>

#include "text/pattern_word.h"
#include "text/unicode.h"
#include "text/utf8.h"

namespace mummu {
namespace {

class LiteralPattern final : public Pattern {
 public:
  explicit LiteralPattern(std::string text) : text_(std::move(text)) {}
  std::optional<Match> find(std::string_view text, size_t from) const override {
    if (text_.empty()) return std::nullopt;
    const size_t at = text.find(text_, from);
    if (at == std::string_view::npos) return std::nullopt;
    return Match{at, at + text_.size()};
  }

 private:
  std::string text_;
};

// Code points of some classes: at most so many in a row, or exactly so many, with one white space
// before them or not.
struct RunStyle {
  uint16_t flags = 0;
  size_t most = 1;
  bool exactly = false;
  bool space_before = false;
  bool ascii_digits = false;  // 0-9 instead of the flags
  bool line_ends = false;     // \r and \n instead of the flags
};

class RunPattern final : public Pattern {
 public:
  explicit RunPattern(const RunStyle& style) : style_(style) {}

  std::optional<Match> find(std::string_view text, size_t from) const override {
    for (size_t at = from; at < text.size();) {
      if (const size_t end = end_of(text, at); end > at) return Match{at, end};
      at += static_cast<size_t>(code_point_at(text, at).size);
    }
    return std::nullopt;
  }

 private:
  // The end of a match that begins at a byte, or that byte.
  size_t end_of(std::string_view text, size_t at) const {
    const CodePoint first = code_point_at(text, at);
    if (style_.space_before && unicode_is(first.value, unicode::kSpace)) {
      const size_t begin = at + static_cast<size_t>(first.size);
      const size_t end = run(text, begin);
      return end > begin ? end : at;
    }
    return run(text, at);
  }
  size_t run(std::string_view text, size_t begin) const {
    size_t at = begin, count = 0;
    for (; count < style_.most && at < text.size(); ++count) {
      const CodePoint code = code_point_at(text, at);
      if (!holds(code.value)) break;
      at += static_cast<size_t>(code.size);
    }
    return style_.exactly && count < style_.most ? begin : at;
  }
  bool holds(char32_t code) const {
    if (style_.ascii_digits) return code >= '0' && code <= '9';
    if (style_.line_ends) return code == '\r' || code == '\n';
    return unicode_is(code, style_.flags);
  }

  RunStyle style_;
};

// \w+|[^\w\s]+
class WordPattern final : public Pattern {
 public:
  std::optional<Match> find(std::string_view text, size_t from) const override {
    size_t begin = from;
    while (begin < text.size() && kind(text, begin).first == kBlank)
      begin += kind(text, begin).second;
    if (begin == text.size()) return std::nullopt;
    const Kind first = kind(text, begin).first;
    size_t end = begin;
    while (end < text.size() && kind(text, end).first == first) end += kind(text, end).second;
    return Match{begin, end};
  }

 private:
  enum Kind { kBlank, kInWord, kSign };
  static std::pair<Kind, size_t> kind(std::string_view text, size_t at) {
    const CodePoint code = code_point_at(text, at);
    const uint16_t flags = unicode_flags(code.value);
    const Kind kind = flags & unicode::kWord ? kInWord : flags & unicode::kSpace ? kBlank : kSign;
    return {kind, static_cast<size_t>(code.size)};
  }
};

constexpr size_t kAnyNumber = ~size_t{0};

struct KnownRun {
  std::string_view expression;
  RunStyle style;
};
constexpr KnownRun kRuns[] = {
    {R"([\r\n])", {.line_ends = true}},
    {R"(\s?\p{L}+)", {.flags = unicode::kLetter, .most = kAnyNumber, .space_before = true}},
    {R"(\s?\p{P}+)", {.flags = unicode::kPunctuation, .most = kAnyNumber, .space_before = true}},
    {R"(\p{N})", {.flags = unicode::kNumber}},
    {R"(\p{N}{1,3})", {.flags = unicode::kNumber, .most = 3}},
    {R"(\p{N}+)", {.flags = unicode::kNumber, .most = kAnyNumber}},
    {R"([0-9])", {.ascii_digits = true}},
    {R"([0-9][0-9][0-9])", {.most = 3, .exactly = true, .ascii_digits = true}},
    {R"(\s+)", {.flags = unicode::kSpace, .most = kAnyNumber}},
};

struct KnownWord {
  std::string_view expression;
  WordStyle style;
};
constexpr KnownWord kWords[] = {
    {kGpt2Expression, {.gpt2 = true}},
    {kLlama3Expression, {}},
    {kQwen2Expression, {.digits = 1}},
    {kQwen35Expression, {.marks = true, .digits = 1}},
    // The same in the spelling of tiktoken (possessive, one line end instead of several: the match
    // is the same).
    {R"('(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]++[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+)",
     {}},
    {R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+)",
     {}},
    {R"('(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s)",
     {}},
    {R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)",
     {.cased = true, .slash = true}},
};

}  // namespace

std::unique_ptr<const Pattern> known_pattern(std::string_view expression) {
  for (const KnownWord& known : kWords)
    if (known.expression == expression) return word_style_pattern(known.style);
  for (const KnownRun& known : kRuns)
    if (known.expression == expression) return std::make_unique<RunPattern>(known.style);
  return nullptr;
}

std::unique_ptr<const Pattern> literal_pattern(std::string text) {
  return std::make_unique<LiteralPattern>(std::move(text));
}

std::unique_ptr<const Pattern> class_pattern(uint16_t flags) {
  return std::make_unique<RunPattern>(RunStyle{.flags = flags});
}

std::unique_ptr<const Pattern> word_pattern() { return std::make_unique<WordPattern>(); }

}  // namespace mummu
