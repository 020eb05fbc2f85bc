#pragma once

// Tokens one after another, with the questions that a parser asks.

#include <string_view>
#include <utility>
#include <vector>

#include "base/fail.h"
#include "text/jinja/lexer.h"

namespace mummu::jinja {

class TokenStream {
 public:
  explicit TokenStream(std::vector<Token> tokens) : tokens_(std::move(tokens)) {}

  const Token& now() const { return tokens_[at_]; }
  const Token& ahead() const { return tokens_[at_ + 1 < tokens_.size() ? at_ + 1 : at_]; }
  Token take() {
    const Token token = now();
    if (at_ + 1 < tokens_.size()) ++at_;
    return token;
  }

  bool at(TokenKind kind) const { return now().kind == kind; }
  bool at_name(std::string_view text) const { return at(TokenKind::name) && now().text == text; }
  bool at_symbol(std::string_view text) const {
    return at(TokenKind::symbol) && now().text == text;
  }

  bool skip_name(std::string_view text) { return at_name(text) && (take(), true); }
  bool skip_symbol(std::string_view text) { return at_symbol(text) && (take(), true); }

  // The token here if it is of this kind.
  //   errors   invalid
  Result<Token> expect(TokenKind kind, std::string_view what) {
    if (!at(kind)) return unexpected(what);
    return take();
  }
  Result<void> expect_symbol(std::string_view text) {
    if (!skip_symbol(text)) return unexpected(text);
    return {};
  }
  Result<void> expect_name(std::string_view text) {
    if (!skip_name(text)) return unexpected(text);
    return {};
  }

  Error unexpected(std::string_view wanted) const {
    return fail(Error::invalid, "line {}: '{}' expected, {} found", now().line, wanted,
                describe(now()));
  }

  static std::string describe(const Token& token) {
    switch (token.kind) {
      case TokenKind::end:
        return "the end of the template";
      case TokenKind::block_end:
        return "the end of the tag";
      case TokenKind::value_end:
        return "the end of the expression";
      default:
        return fmt::format("'{}'", token.text);
    }
  }

 private:
  std::vector<Token> tokens_;
  size_t at_ = 0;
};

}  // namespace mummu::jinja
