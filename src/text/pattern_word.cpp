#include "text/pattern_word.h"

#include <array>

#include "text/unicode.h"
#include "text/utf8.h"

namespace mummu {
namespace {

enum Kind : uint8_t { kOther, kLetter, kNumber, kSpace, kMark };

Kind wide_kind(char32_t code) {
  const uint16_t flags = unicode_flags(code);
  if (flags & unicode::kLetter) return kLetter;
  if (flags & unicode::kNumber) return kNumber;
  if (flags & unicode::kSpace) return kSpace;
  return flags & unicode::kMark ? kMark : kOther;
}

constexpr uint8_t kWide = 0xff;  // not ASCII: look at the whole code point

constexpr std::array<uint8_t, 256> make_kinds() {
  std::array<uint8_t, 256> kinds{};
  for (size_t c = 0; c < 256; ++c) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    const bool space = c == ' ' || (c >= '\t' && c <= '\r');
    const bool number = c >= '0' && c <= '9';
    const Kind kind = letter ? kLetter : number ? kNumber : space ? kSpace : kOther;
    kinds[c] = c >= 0x80 ? kWide : static_cast<uint8_t>(kind);
  }
  return kinds;
}
constexpr auto kKinds = make_kinds();

struct Char {
  Kind kind;
  size_t size;  // bytes; 0 behind the end
};

// What the parts of the expressions match, on one text.
class Scanner {
 public:
  Scanner(std::string_view text, const WordStyle& style) : text_(text), style_(style) {}

  Char at(size_t i) const {
    if (i >= text_.size()) return {kSpace, 0};
    const uint8_t kind = kKinds[static_cast<unsigned char>(text_[i])];
    if (kind != kWide) return {static_cast<Kind>(kind), 1};
    const CodePoint code = code_point_at(text_, i);
    Kind wide = wide_kind(code.value);
    if (wide == kMark && !style_.cased) wide = style_.marks ? kLetter : kOther;
    return {wide, static_cast<size_t>(code.size)};
  }

  // The end of a run of one kind.
  size_t run(Kind kind, size_t i) const {
    for (;;) {
      while (i < text_.size() && kKinds[static_cast<unsigned char>(text_[i])] == kind) ++i;
      const Char next = at(i);
      if (next.size == 0 || next.kind != kind) return i;
      i += next.size;
    }
  }

  size_t numbers(size_t i, int most) const {
    for (int count = 0; count < most; ++count) {
      const Char next = at(i);
      if (next.size == 0 || next.kind != kNumber) break;
      i += next.size;
    }
    return i;
  }

  // The end of 's 't 're 've 'm 'll 'd, or i if none begins there. The long s is a case of s.
  size_t contraction(size_t i, bool any_case) const {
    if (i + 1 >= text_.size() || text_[i] != '\'') return i;
    const auto letter = [&](size_t j) -> char {
      if (j >= text_.size()) return 0;
      const char c = text_[j];
      return any_case && c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
    };
    const char first = letter(i + 1), second = letter(i + 2);
    if (first == 's' || first == 't' || first == 'm' || first == 'd') return i + 2;
    const bool pair = (first == 'r' && second == 'e') || (first == 'v' && second == 'e') ||
                      (first == 'l' && second == 'l');
    if (pair) return i + 3;
    return any_case && text_.substr(i + 1, 2) == "\xc5\xbf" ? i + 3 : i;
  }

  // The end of white space that begins at i: all of it at the end of the text, else without its
  // last character, which belongs to what follows; a single one is itself.
  size_t white(size_t i) const {
    const size_t end = run(kSpace, i);
    if (end == text_.size()) return end;
    const size_t last = code_point_before(text_, end);
    return last > i ? last : end;
  }

  // The end of the last line end in the white space that begins at i, or i if there is none.
  size_t last_line_end(size_t i) const {
    const size_t end = run(kSpace, i);
    const size_t last = text_.substr(i, end - i).find_last_of("\r\n");
    return last == std::string_view::npos ? i : i + last + 1;
  }

  bool is_line_end(size_t i) const {
    return i < text_.size() && (text_[i] == '\r' || text_[i] == '\n');
  }
  bool is_slash(size_t i) const { return style_.slash && i < text_.size() && text_[i] == '/'; }

  std::string_view text() const { return text_; }

 private:
  std::string_view text_;
  const WordStyle& style_;
};

// 's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
size_t gpt2_end(const Scanner& scan, size_t at) {
  if (const size_t end = scan.contraction(at, false); end > at) return end;
  size_t begin = at;
  Char first = scan.at(at);
  if (scan.text()[at] == ' ') {
    const Char next = scan.at(at + 1);
    if (next.size > 0 && next.kind != kSpace) {
      first = next;
      begin = at + 1;
    }
  }
  return first.kind == kSpace ? scan.white(at) : scan.run(first.kind, begin + first.size);
}

// The letters of one word in o200k's form: upper case then lower case, or upper case alone. Letters
// without case and marks are both; where lower case is wanted and none follows, the last of those
// in the run ends the word.
size_t cased_word(std::string_view text, size_t begin) {
  constexpr uint16_t kAny = unicode::kLetter | unicode::kMark;
  size_t at = begin, both_end = begin;  // both_end: behind the last that counts as lower case too
  while (at < text.size()) {
    const CodePoint code = code_point_at(text, at);
    const uint16_t flags = unicode_flags(code.value);
    if (!(flags & kAny) || (flags & unicode::kLower)) break;
    at += static_cast<size_t>(code.size);
    if (!(flags & unicode::kUpper)) both_end = at;
  }
  const size_t upper_end = at;
  while (at < text.size()) {
    const CodePoint code = code_point_at(text, at);
    const uint16_t flags = unicode_flags(code.value);
    if (!(flags & kAny) || (flags & unicode::kUpper)) break;
    at += static_cast<size_t>(code.size);
  }
  if (at > upper_end) return at;
  return both_end > begin ? both_end : upper_end;
}

// [^\r\n\p{L}\p{N}]?\p{L}+, or i if no word begins there
size_t word_end(const Scanner& scan, const WordStyle& style, size_t at, Char first) {
  const auto in_word = [](Char c) { return c.kind == kLetter || c.kind == kMark; };
  size_t letters = at;
  if (!in_word(first)) {
    if (first.kind == kNumber || scan.is_line_end(at)) return at;
    letters = at + first.size;
    if (!in_word(scan.at(letters))) return at;
  }
  if (!style.cased) return scan.run(kLetter, letters);
  const size_t end = cased_word(scan.text(), letters);
  return scan.contraction(end, true);
}

size_t signs_end(const Scanner& scan, size_t at) {
  for (size_t before = at; (at = scan.run(kMark, scan.run(kOther, at))) > before;) before = at;
  while (scan.is_line_end(at) || scan.is_slash(at)) ++at;
  return at;
}

// (?i:'s|…)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+
size_t gpt4_end(const Scanner& scan, const WordStyle& style, size_t at) {
  if (!style.cased)
    if (const size_t end = scan.contraction(at, true); end > at) return end;
  const Char first = scan.at(at);
  if (const size_t end = word_end(scan, style, at, first); end > at) return end;
  if (first.kind == kNumber) return scan.numbers(at, style.digits);
  if (first.kind == kOther) return signs_end(scan, at);
  if (scan.text()[at] == ' ') {
    const Char next = scan.at(at + 1);
    if (next.size > 0 && next.kind == kOther) return signs_end(scan, at + 1);
  }
  if (const size_t end = scan.last_line_end(at); end > at) return end;
  return scan.white(at);
}

class WordStylePattern final : public Pattern {
 public:
  explicit WordStylePattern(const WordStyle& style) : style_(style) {}
  std::optional<Match> find(std::string_view text, size_t from) const override {
    if (from >= text.size()) return std::nullopt;
    const Scanner scan(text, style_);
    return Match{from, style_.gpt2 ? gpt2_end(scan, from) : gpt4_end(scan, style_, from)};
  }

 private:
  WordStyle style_;
};

}  // namespace

std::unique_ptr<const Pattern> word_style_pattern(const WordStyle& style) {
  return std::make_unique<WordStylePattern>(style);
}

}  // namespace mummu
