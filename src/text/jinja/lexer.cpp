#include "text/jinja/lexer.h"

#include <algorithm>
#include <array>

#include "base/fail.h"
#include "text/jinja/character.h"
#include "text/jinja/utf8.h"

namespace mummu::jinja {

std::string normalise_newlines(std::string_view source) {
  std::string out;
  out.reserve(source.size());
  for (size_t i = 0; i < source.size(); ++i) {
    if (source[i] != '\r') {
      out += source[i];
      continue;
    }
    out += '\n';
    if (i + 1 < source.size() && source[i + 1] == '\n') ++i;
  }
  if (!out.empty() && out.back() == '\n') out.pop_back();
  return out;
}

namespace {

constexpr std::array<std::string_view, 26> kSymbols = {
    "//", "**", "==", "!=", ">=", "<=", "+", "-", "/", "*", "%", "~", "[",
    "]",  "(",  ")",  "{",  "}",  ">",  "<", "=", ".", ":", "|", ",", ";"};

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// The value of a digit, 36 for anything else.
int digit_value(char c) {
  if (is_digit(c)) return c - '0';
  if (c >= 'a' && c <= 'z') return c - 'a' + 10;
  if (c >= 'A' && c <= 'Z') return c - 'A' + 10;
  return 36;
}

class Lexer {
 public:
  explicit Lexer(std::string_view source) : source_(source) {}

  Result<std::vector<Token>> run() {
    while (at_ < source_.size()) {
      const size_t tag = find_tag(at_);
      if (tag == source_.size()) {
        push(TokenKind::text, source_.size());
        break;
      }
      MUMMU_TRY(tag_at(tag));
    }
    tokens_.push_back({TokenKind::end, line_, {}});
    return std::move(tokens_);
  }

 private:
  char peek(size_t offset = 0) const {
    return at_ + offset < source_.size() ? source_[at_ + offset] : '\0';
  }
  bool starts(std::string_view text) const { return source_.substr(at_).starts_with(text); }

  // Moves to `to`, counting lines.
  void move(size_t to) {
    line_ += static_cast<int>(std::count(source_.begin() + static_cast<std::ptrdiff_t>(at_),
                                         source_.begin() + static_cast<std::ptrdiff_t>(to), '\n'));
    at_ = to;
  }
  void push(TokenKind kind, size_t end) {
    if (end > at_ || kind != TokenKind::text) {
      tokens_.push_back({kind, line_, source_.substr(at_, end - at_)});
    }
    move(end);
  }

  size_t skip_space(size_t at) const {
    while (at < source_.size()) {
      size_t next = at;
      if (!is_space(next_point(source_, next))) break;
      at = next;
    }
    return at;
  }

  size_t find_tag(size_t from) const {
    for (size_t at = from; (at = source_.find('{', at)) != std::string_view::npos; ++at) {
      const char c = at + 1 < source_.size() ? source_[at + 1] : '\0';
      if (c == '{' || c == '%' || c == '#') return at;
    }
    return source_.size();
  }

  // The end of the text before a tag, white space stripped as the tag's sign and lstrip_blocks say.
  size_t text_end(size_t tag, char sign, bool is_value) const {
    if (sign == '-') return at_ + strip_right(source_.substr(at_, tag - at_)).size();
    if (sign == '+' || is_value) return tag;
    const std::string_view text = source_.substr(at_, tag - at_);
    const size_t newline = text.rfind('\n');
    const size_t line_start = newline == std::string_view::npos ? 0 : newline + 1;
    const bool at_line_start = line_start > 0 || line_starts_;
    return at_line_start && is_all_space(text.substr(line_start)) ? at_ + line_start : tag;
  }

  char sign_at(size_t at) const {
    const char c = at < source_.size() ? source_[at] : '\0';
    return c == '-' || c == '+' ? c : '\0';
  }

  Result<void> tag_at(size_t tag) {
    const char kind = source_[tag + 1];
    const char sign = sign_at(tag + 2);
    const size_t inside = tag + 2 + (sign ? 1 : 0);
    if (kind == '%') {
      const size_t raw = raw_begin(inside);
      if (raw > 0) return raw_block(tag, sign, raw);
    }
    push(TokenKind::text, text_end(tag, sign, kind == '{'));
    move(tag);
    if (kind == '#') {
      move(inside);
      return comment();
    }
    push(kind == '{' ? TokenKind::value_begin : TokenKind::block_begin, inside);
    return code(kind == '{');
  }

  // Behind the end of a tag: `-` strips white space, a block or comment takes one newline.
  void end_tag(size_t end, char sign, bool trims) {
    if (sign == '-') end = skip_space(end);
    if (sign == '\0' && trims && end < source_.size() && source_[end] == '\n') ++end;
    move(end);
    line_starts_ = source_[end - 1] == '\n';
  }

  Result<void> comment() {
    const size_t end = source_.find("#}", at_);
    if (end == std::string_view::npos) {
      return fail(Error::invalid, "line {}: a comment without its end", line_);
    }
    const char sign = end > at_ ? sign_at(end - 1) : '\0';
    end_tag(end + 2, sign, true);
    return {};
  }

  // Where the text of a raw block starts if one is opened here; else 0.
  size_t raw_begin(size_t inside) const {
    size_t at = skip_space(inside);
    if (!source_.substr(at).starts_with("raw")) return 0;
    at = skip_space(at + 3);
    if (source_.substr(at).starts_with("-%}")) return skip_space(at + 3);
    return source_.substr(at).starts_with("%}") ? at + 2 : 0;
  }

  Result<void> raw_block(size_t tag, char sign, size_t begin) {
    push(TokenKind::text, text_end(tag, sign, false));
    move(begin);
    line_starts_ = source_[begin - 1] == '\n';
    for (size_t end = source_.find("{%", at_); end != std::string_view::npos;
         end = source_.find("{%", end + 1)) {
      const char end_sign = sign_at(end + 2);
      size_t at = skip_space(end + 2 + (end_sign ? 1 : 0));
      if (!source_.substr(at).starts_with("endraw")) continue;
      at = skip_space(at + 6);
      const char close_sign = sign_at(at);
      if (close_sign) ++at;
      if (!source_.substr(at).starts_with("%}")) continue;
      push(TokenKind::text, text_end(end, end_sign, false));
      end_tag(at + 2, close_sign, true);
      return {};
    }
    return fail(Error::invalid, "line {}: a raw block without its end", line_);
  }

  // The tokens of a tag, up to its end.
  Result<void> code(bool is_value) {
    const std::string_view close = is_value ? "}}" : "%}";
    std::string brackets;
    while (true) {
      move(skip_space(at_));
      if (at_ >= source_.size()) return {};
      const char sign = peek() == '-' || (peek() == '+' && !is_value) ? peek() : '\0';
      if (brackets.empty() && source_.substr(at_ + (sign ? 1 : 0)).starts_with(close)) {
        const size_t end = at_ + (sign ? 3 : 2);
        tokens_.push_back({is_value ? TokenKind::value_end : TokenKind::block_end, line_, {}});
        end_tag(end, sign, !is_value);
        return {};
      }
      MUMMU_TRY(token(brackets));
    }
  }

  Result<void> token(std::string& brackets) {
    const char c = peek();
    if (is_digit(c)) return number();
    if (c == '\'' || c == '"') return string(c);
    if (const size_t end = name_end(); end > at_) {
      push(TokenKind::name, end);
      return {};
    }
    for (std::string_view symbol : kSymbols) {
      if (starts(symbol)) return this->symbol(symbol, brackets);
    }
    size_t next = at_;
    next_point(source_, next);
    return fail(Error::invalid, "line {}: unexpected character '{}'", line_,
                source_.substr(at_, next - at_));
  }

  Result<void> symbol(std::string_view symbol, std::string& brackets) {
    const char c = symbol.front();
    if (c == '(' || c == '[' || c == '{') brackets += c == '(' ? ')' : c == '[' ? ']' : '}';
    if (c == ')' || c == ']' || c == '}') {
      if (brackets.empty() || brackets.back() != c) {
        return fail(Error::invalid, "line {}: unexpected '{}'", line_, symbol);
      }
      brackets.pop_back();
    }
    push(TokenKind::symbol, at_ + symbol.size());
    return {};
  }

  size_t name_end() const {
    size_t at = at_;
    while (at < source_.size()) {
      size_t next = at;
      const char32_t point = next_point(source_, next);
      if (!(at == at_ ? is_name_start(point) : is_name_part(point))) break;
      at = next;
    }
    return at;
  }

  Result<void> string(char quote) {
    for (size_t at = at_ + 1; at < source_.size(); ++at) {
      if (source_[at] == '\\') {
        ++at;
      } else if (source_[at] == quote) {
        push(TokenKind::string, at + 1);
        return {};
      }
    }
    return fail(Error::invalid, "line {}: a string without its end", line_);
  }

  // Digits of a base, single underscores between them; from `at`, which must be one.
  size_t digits_end(size_t at, int base) const {
    const auto is_one = [&](size_t i) {
      return i < source_.size() && digit_value(source_[i]) < base;
    };
    if (!is_one(at)) return at;
    while (is_one(at) || (at < source_.size() && source_[at] == '_' && is_one(at + 1))) ++at;
    return at;
  }

  // The end of a fraction and an exponent behind the digits that end at `at`; `at` if there is
  // neither.
  size_t real_end(size_t at) const {
    size_t end = at;
    if (end < source_.size() && source_[end] == '.') {
      const size_t fraction = digits_end(end + 1, 10);
      if (fraction > end + 1) end = fraction;
    }
    if (end < source_.size() && (source_[end] == 'e' || source_[end] == 'E')) {
      size_t exponent = end + 1;
      if (sign_at(exponent)) ++exponent;
      const size_t last = digits_end(exponent, 10);
      if (last > exponent) end = last;
    }
    return end;
  }

  Result<void> number() {
    const size_t whole = digits_end(at_, 10);
    const bool after_dot = at_ > 0 && source_[at_ - 1] == '.';
    const size_t real = after_dot ? whole : real_end(whole);
    if (real > whole) {
      push(TokenKind::real, real);
      return {};
    }
    const char mark = static_cast<char>(peek(1) | 0x20);
    const int base = mark == 'x' ? 16 : mark == 'o' ? 8 : mark == 'b' ? 2 : 10;
    if (peek() == '0' && base != 10) {
      const size_t digits = at_ + (peek(2) == '_' ? 3 : 2);
      if (const size_t end = digits_end(digits, base); end > digits) {
        push(TokenKind::integer, end);
        return {};
      }
    }
    size_t end = whole;
    if (peek() == '0') {  // a zero is a number of its own
      end = at_ + 1;
      while (end < whole &&
             (source_[end] == '0' || (source_[end] == '_' && source_[end + 1] == '0')))
        ++end;
    }
    push(TokenKind::integer, end);
    return {};
  }

  std::string_view source_;
  size_t at_ = 0;
  int line_ = 1;
  bool line_starts_ = true;  // whether the text at at_ starts a line
  std::vector<Token> tokens_;
};

}  // namespace

Result<std::vector<Token>> tokenize(std::string_view source) { return Lexer(source).run(); }

namespace {

// Reads up to `count` digits of a base.
char32_t read_digits(std::string_view text, size_t& at, int count, int base) {
  char32_t value = 0;
  for (; count > 0 && at < text.size() && digit_value(text[at]) < base; --count, ++at) {
    value = value * static_cast<char32_t>(base) + static_cast<char32_t>(digit_value(text[at]));
  }
  return value;
}

Result<void> append_hex(std::string& out, std::string_view text, size_t& at, int count) {
  const size_t start = at;
  const char32_t point = read_digits(text, at, count, 16);
  if (at - start != static_cast<size_t>(count))
    return fail(Error::invalid, "a truncated escape in a string");
  if (point > 0x10FFFF || (point >= 0xD800 && point < 0xE000)) {
    return fail(Error::invalid, "an escape in a string that is no character");
  }
  append_utf8(out, point);
  return {};
}

// One escape; `at` stands behind the backslash.
//   source   The Python Language Reference, 2.4.1
Result<void> append_escape(std::string& out, std::string_view text, size_t& at) {
  constexpr std::string_view kLetters = "abfnrtv\\'\"", kValues = "\a\b\f\n\r\t\v\\'\"";
  const char c = text[at];
  if (const size_t simple = kLetters.find(c); simple != std::string_view::npos) {
    out += kValues[simple];
    return ++at, Result<void>();
  }
  if (c == '\n') return ++at, Result<void>();
  if (c == 'x') return append_hex(out, text, ++at, 2);
  if (c == 'u') return append_hex(out, text, ++at, 4);
  if (c == 'U') return append_hex(out, text, ++at, 8);
  if (c == 'N') return fail(Error::unsupported, "the escape \\N in a string is unsupported");
  if (digit_value(c) < 8) {
    append_utf8(out, read_digits(text, at, 3, 8));
    return {};
  }
  out += '\\';
  return {};
}

}  // namespace

Result<std::string> unescape(std::string_view token) {
  const std::string_view text = token.substr(1, token.size() - 2);
  std::string out;
  out.reserve(text.size());
  for (size_t at = 0; at < text.size();) {
    if (text[at] != '\\' || at + 1 == text.size()) {
      out += text[at++];
      continue;
    }
    MUMMU_TRY(append_escape(out, text, ++at));
  }
  return out;
}

}  // namespace mummu::jinja
