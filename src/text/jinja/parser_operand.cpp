// What operators stand between: names, constants, and displays of lists, tuples and dicts.

#include <algorithm>
#include <charconv>

#include "text/jinja/number.h"
#include "text/jinja/parser_state.h"

namespace mummu::jinja {

Result<ExprPtr> Parser::primary() {
  const Token token = tokens_.now();
  switch (token.kind) {
    case TokenKind::name:
      return name_or_constant();
    case TokenKind::string:
      return string_literal();
    case TokenKind::integer:
      return integer_literal(tokens_.take());
    case TokenKind::real:
      return real_literal(tokens_.take());
    default:
      break;
  }
  if (tokens_.at_symbol("[")) return list_display();
  if (tokens_.at_symbol("{")) return dict_display();
  if (!tokens_.skip_symbol("(")) {
    return fail(Error::invalid, "line {}: an expression expected, {} found", token.line,
                TokenStream::describe(token));
  }
  MUMMU_TRY(ExprPtr value, tuple({.in_brackets = true}));
  MUMMU_TRY(tokens_.expect_symbol(")"));
  return value;
}

Result<ExprPtr> Parser::name_or_constant() {
  const Token token = tokens_.take();
  const std::string_view name = token.text;
  if (name == "true" || name == "True") return make(token.line, BoolLiteral{true});
  if (name == "false" || name == "False") return make(token.line, BoolLiteral{false});
  if (name == "none" || name == "None") return make(token.line, NoneLiteral{});
  for (MacroUse& use : macros_) {
    use.caller |= name == "caller";
    use.varargs |= name == "varargs";
    use.kwargs |= name == "kwargs";
  }
  return make(token.line, NameLoad{out_.names.add(name)});
}

Result<ExprPtr> Parser::string_literal() {
  const int line = tokens_.now().line;
  std::string text;
  while (tokens_.at(TokenKind::string)) {
    auto part = unescape(tokens_.take().text);
    if (!part) return fail(part.error().code, "line {}: {}", line, part.error().message);
    text += *part;
  }
  return make(line, ConstantLiteral{std::move(text), false, out_.constants++});
}

Result<ExprPtr> Parser::integer_literal(const Token& token) {
  std::string digits;
  std::copy_if(token.text.begin(), token.text.end(), std::back_inserter(digits),
               [](char c) { return c != '_'; });
  const char mark = digits.size() > 1 ? static_cast<char>(digits[1] | 0x20) : '0';
  const int base = mark == 'x' ? 16 : mark == 'o' ? 8 : mark == 'b' ? 2 : 10;
  const char* first = digits.data() + (base == 10 ? 0 : 2);
  const char* last = digits.data() + digits.size();
  int64_t value = 0;
  if (std::from_chars(first, last, value, base).ec == std::errc())
    return make(token.line, IntegerLiteral{value});
  if (base != 10)
    return fail(Error::unsupported, "line {}: an integer beyond 64 bits is unsupported",
                token.line);
  MUMMU_TRY(check_big_digits(digits));
  return make(token.line, ConstantLiteral{std::move(digits), true, out_.constants++});
}

Result<ExprPtr> Parser::real_literal(const Token& token) {
  std::string digits;
  std::copy_if(token.text.begin(), token.text.end(), std::back_inserter(digits),
               [](char c) { return c != '_'; });
  double value = 0;
  parse_real(digits, value);
  return make(token.line, RealLiteral{value});
}

bool Parser::tuple_ends(std::string_view end_name) const {
  return tokens_.at(TokenKind::value_end) || tokens_.at(TokenKind::block_end) ||
         tokens_.at_symbol(")") || (!end_name.empty() && tokens_.at_name(end_name));
}

Result<ExprPtr> Parser::tuple(TupleRules rules) {
  const int line = tokens_.now().line;
  ListDisplay node{{}, true};
  bool is_tuple = false;
  while (!tuple_ends(rules.end_name)) {
    MUMMU_TRY(ExprPtr item, expression(rules.conditional));
    node.items.push_back(std::move(item));
    if (!tokens_.skip_symbol(",")) break;
    is_tuple = true;
  }
  if (!is_tuple && node.items.size() == 1) return std::move(node.items.front());
  if (!is_tuple && !rules.in_brackets) {
    return fail(Error::invalid, "line {}: an expression expected, {} found", line,
                TokenStream::describe(tokens_.now()));
  }
  return make(line, std::move(node));
}

Result<ExprPtr> Parser::list_display() {
  const int line = tokens_.take().line;
  ListDisplay node{{}, false};
  while (!tokens_.at_symbol("]")) {
    MUMMU_TRY(ExprPtr item, expression());
    node.items.push_back(std::move(item));
    if (!tokens_.skip_symbol(",")) break;
  }
  MUMMU_TRY(tokens_.expect_symbol("]"));
  return make(line, std::move(node));
}

Result<ExprPtr> Parser::dict_display() {
  const int line = tokens_.take().line;
  DictDisplay node;
  while (!tokens_.at_symbol("}")) {
    MUMMU_TRY(ExprPtr key, expression());
    MUMMU_TRY(tokens_.expect_symbol(":"));
    MUMMU_TRY(ExprPtr value, expression());
    node.entries.emplace_back(std::move(key), std::move(value));
    if (!tokens_.skip_symbol(",")) break;
  }
  MUMMU_TRY(tokens_.expect_symbol("}"));
  return make(line, std::move(node));
}

}  // namespace mummu::jinja
