#include <algorithm>
#include <charconv>

#include "text/jinja/number.h"
#include "text/jinja/parser_state.h"

namespace mummu::jinja {

namespace {

int height_of(const ExprPtr& expr) { return expr ? expr->height : 0; }

int height_of(const CallArguments& arguments) {
  int out = std::max(height_of(arguments.more_positional), height_of(arguments.more_keywords));
  for (const ExprPtr& value : arguments.positional) out = std::max(out, height_of(value));
  for (const Keyword& keyword : arguments.keywords) out = std::max(out, height_of(keyword.value));
  return out;
}

// The height of the highest child of a node.
struct ChildHeight {
  template <typename Leaf>
  int operator()(const Leaf&) const {
    return 0;
  }
  int operator()(const ListDisplay& n) const { return of(n.items); }
  int operator()(const DictDisplay& n) const {
    int out = 0;
    for (const auto& [key, value] : n.entries)
      out = std::max({out, height_of(key), height_of(value)});
    return out;
  }
  int operator()(const Attribute& n) const { return height_of(n.owner); }
  int operator()(const Subscript& n) const {
    return std::max(height_of(n.owner), height_of(n.index));
  }
  int operator()(const SliceOf& n) const {
    return std::max({height_of(n.owner), height_of(n.start), height_of(n.stop), height_of(n.step)});
  }
  int operator()(const CallOf& n) const {
    return std::max(height_of(n.callee), height_of(n.arguments));
  }
  int operator()(const FilterOf& n) const {
    return std::max(height_of(n.value), height_of(n.arguments));
  }
  int operator()(const TestOf& n) const {
    return std::max(height_of(n.value), height_of(n.arguments));
  }
  int operator()(const Unary& n) const { return height_of(n.value); }
  int operator()(const Binary& n) const { return chain(n); }
  int operator()(const Compare& n) const { return chain(n); }
  int operator()(const Concat& n) const { return of(n.parts); }
  int operator()(const Logic& n) const { return of(n.operands); }
  int operator()(const Conditional& n) const {
    return std::max({height_of(n.test), height_of(n.yes), height_of(n.no)});
  }

  static int of(const std::vector<ExprPtr>& children) {
    int out = 0;
    for (const ExprPtr& child : children) out = std::max(out, height_of(child));
    return out;
  }
  template <typename Chain>
  static int chain(const Chain& n) {
    int out = height_of(n.first);
    for (const auto& [op, value] : n.rest) out = std::max(out, height_of(value));
    return out;
  }
};

}  // namespace

Result<void> Parser::check_nesting(int height) const {
  if (nesting_ > kMaxNesting || height > kMaxNesting) {
    return fail(Error::invalid, "line {}: nested more than {} deep", tokens_.now().line,
                kMaxNesting);
  }
  return {};
}

Error Parser::unsupported(std::string_view what, int line) const {
  return fail(Error::unsupported, "line {}: {} is unsupported", line, what);
}

Result<ExprPtr> Parser::make(int line, Expr::Node node) {
  const int height = 1 + std::visit(ChildHeight{}, node);
  MUMMU_TRY(check_nesting(height));
  return ExprPtr(std::make_unique<const Expr>(Expr{line, height, std::move(node)}));
}

Result<ExprPtr> Parser::expression(bool with_conditional) {
  const Nested nested(*this);
  MUMMU_TRY(check_nesting());
  return with_conditional ? conditional() : logic(false);
}

Result<ExprPtr> Parser::conditional() {
  const size_t unknown = unknown_.size();
  const int line = tokens_.now().line;
  MUMMU_TRY(ExprPtr value, logic(false));
  while (tokens_.skip_name("if")) {
    Conditional node;
    node.yes = std::move(value);
    MUMMU_TRY(node.test, logic(false));
    if (tokens_.skip_name("else")) {
      const Nested nested(*this);
      MUMMU_TRY(check_nesting());
      MUMMU_TRY(node.no, conditional());
    }
    unknown_.resize(unknown);
    MUMMU_TRY(value, make(line, std::move(node)));
  }
  return value;
}

Result<ExprPtr> Parser::logic(bool conjunction) {
  const int line = tokens_.now().line;
  const std::string_view word = conjunction ? "and" : "or";
  const auto operand = [&] { return conjunction ? negation() : logic(true); };
  MUMMU_TRY(ExprPtr first, operand());
  if (!tokens_.at_name(word)) return first;
  Logic node{conjunction, {}};
  node.operands.push_back(std::move(first));
  while (tokens_.skip_name(word)) {
    MUMMU_TRY(ExprPtr next, operand());
    node.operands.push_back(std::move(next));
  }
  return make(line, std::move(node));
}

Result<ExprPtr> Parser::negation() {
  if (!tokens_.at_name("not")) return comparison();
  const Nested nested(*this);
  MUMMU_TRY(check_nesting());
  const int line = tokens_.take().line;
  MUMMU_TRY(ExprPtr value, negation());
  return make(line, Unary{UnaryOp::negation, std::move(value)});
}

Result<ExprPtr> Parser::comparison() {
  constexpr std::pair<std::string_view, CompareOp> kOps[] = {
      {"==", CompareOp::equal},      {"!=", CompareOp::unequal}, {"<", CompareOp::less},
      {"<=", CompareOp::less_equal}, {">", CompareOp::greater},  {">=", CompareOp::greater_equal}};
  const int line = tokens_.now().line;
  Compare node;
  MUMMU_TRY(node.first, sum());
  while (true) {
    const auto* found = std::find_if(std::begin(kOps), std::end(kOps),
                                     [&](const auto& op) { return tokens_.at_symbol(op.first); });
    CompareOp op = CompareOp::in;
    if (found != std::end(kOps)) {
      tokens_.take();
      op = found->second;
    } else if (tokens_.at_name("not") && tokens_.ahead().kind == TokenKind::name &&
               tokens_.ahead().text == "in") {
      tokens_.take();
      tokens_.take();
      op = CompareOp::not_in;
    } else if (!tokens_.skip_name("in")) {
      break;
    }
    MUMMU_TRY(ExprPtr value, sum());
    node.rest.emplace_back(op, std::move(value));
  }
  if (node.rest.empty()) return std::move(node.first);
  return make(line, std::move(node));
}

Result<ExprPtr> Parser::sum() {
  const int line = tokens_.now().line;
  Binary node;
  MUMMU_TRY(node.first, concat());
  while (tokens_.at_symbol("+") || tokens_.at_symbol("-")) {
    const BinaryOp op = tokens_.take().text == "+" ? BinaryOp::add : BinaryOp::subtract;
    MUMMU_TRY(ExprPtr value, concat());
    node.rest.emplace_back(op, std::move(value));
  }
  if (node.rest.empty()) return std::move(node.first);
  return make(line, std::move(node));
}

Result<ExprPtr> Parser::concat() {
  const int line = tokens_.now().line;
  MUMMU_TRY(ExprPtr first, product());
  if (!tokens_.at_symbol("~")) return first;
  Concat node;
  node.parts.push_back(std::move(first));
  while (tokens_.skip_symbol("~")) {
    MUMMU_TRY(ExprPtr part, product());
    node.parts.push_back(std::move(part));
  }
  return make(line, std::move(node));
}

Result<ExprPtr> Parser::product() {
  constexpr std::pair<std::string_view, BinaryOp> kOps[] = {{"*", BinaryOp::multiply},
                                                            {"/", BinaryOp::divide},
                                                            {"//", BinaryOp::floor_divide},
                                                            {"%", BinaryOp::modulo}};
  const int line = tokens_.now().line;
  Binary node;
  MUMMU_TRY(node.first, power());
  while (true) {
    const auto* found = std::find_if(std::begin(kOps), std::end(kOps),
                                     [&](const auto& op) { return tokens_.at_symbol(op.first); });
    if (found == std::end(kOps)) break;
    tokens_.take();
    MUMMU_TRY(ExprPtr value, power());
    node.rest.emplace_back(found->second, std::move(value));
  }
  if (node.rest.empty()) return std::move(node.first);
  return make(line, std::move(node));
}

Result<ExprPtr> Parser::power() {
  const int line = tokens_.now().line;
  Binary node;
  MUMMU_TRY(node.first, unary());
  while (tokens_.skip_symbol("**")) {
    MUMMU_TRY(ExprPtr value, unary());
    node.rest.emplace_back(BinaryOp::power, std::move(value));
  }
  if (node.rest.empty()) return std::move(node.first);
  return make(line, std::move(node));
}

Result<ExprPtr> Parser::unary(bool with_filter) {
  const int line = tokens_.now().line;
  ExprPtr value;
  if (tokens_.at_symbol("-") || tokens_.at_symbol("+")) {
    const Nested nested(*this);
    MUMMU_TRY(check_nesting());
    const UnaryOp op = tokens_.take().text == "-" ? UnaryOp::minus : UnaryOp::plus;
    MUMMU_TRY(ExprPtr inner, unary(false));
    MUMMU_TRY(value, make(line, Unary{op, std::move(inner)}));
  } else {
    MUMMU_TRY(value, primary());
  }
  MUMMU_TRY(value, postfix(std::move(value)));
  return with_filter ? filters_and_tests(std::move(value)) : std::move(value);
}

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

Result<ExprPtr> Parser::postfix(ExprPtr value) {
  while (true) {
    if (tokens_.at_symbol(".")) {
      MUMMU_TRY(value, attribute(std::move(value)));
    } else if (tokens_.at_symbol("[")) {
      MUMMU_TRY(value, subscript(std::move(value)));
    } else if (tokens_.at_symbol("(")) {
      MUMMU_TRY(value, call(std::move(value)));
    } else {
      return value;
    }
  }
}

Result<ExprPtr> Parser::filters_and_tests(ExprPtr value) {
  while (true) {
    if (tokens_.at_symbol("|")) {
      MUMMU_TRY(value, filter_chain(std::move(value), false));
    } else if (tokens_.at_name("is")) {
      MUMMU_TRY(value, test(std::move(value)));
    } else if (tokens_.at_symbol("(")) {
      MUMMU_TRY(value, call(std::move(value)));
    } else {
      return value;
    }
  }
}

Result<ExprPtr> Parser::attribute(ExprPtr owner) {
  const int line = tokens_.take().line;
  if (tokens_.at(TokenKind::name)) {
    return make(line, Attribute{std::move(owner), out_.names.add(tokens_.take().text)});
  }
  if (!tokens_.at(TokenKind::integer)) return tokens_.unexpected("a name or a number");
  MUMMU_TRY(ExprPtr index, integer_literal(tokens_.take()));
  return make(line, Subscript{std::move(owner), std::move(index)});
}

// One index, or one slice (whose parts go to `slice`, and null comes back).
Result<ExprPtr> Parser::subscript_part(SliceOf& slice, bool& is_slice) {
  const auto part_ends = [&] {
    return tokens_.at_symbol(":") || tokens_.at_symbol("]") || tokens_.at_symbol(",");
  };
  ExprPtr first;
  if (!tokens_.at_symbol(":")) {
    MUMMU_TRY(first, expression());
    if (!tokens_.at_symbol(":")) return first;
  }
  is_slice = true;
  slice.start = std::move(first);
  tokens_.take();
  if (!part_ends()) {
    MUMMU_TRY(slice.stop, expression());
  }
  if (tokens_.skip_symbol(":") && !part_ends()) {
    MUMMU_TRY(slice.step, expression());
  }
  return ExprPtr();
}

Result<ExprPtr> Parser::subscript(ExprPtr owner) {
  const int line = tokens_.take().line;
  ListDisplay several{{}, true};
  SliceOf slice;
  bool is_slice = false;
  while (!tokens_.at_symbol("]")) {
    MUMMU_TRY(ExprPtr index, subscript_part(slice, is_slice));
    if (is_slice && !tokens_.at_symbol("]"))
      return unsupported("a slice among several indices", line);
    several.items.push_back(std::move(index));
    if (!tokens_.skip_symbol(",")) break;
    if (tokens_.at_symbol("]")) return tokens_.unexpected("an expression");
  }
  MUMMU_TRY(tokens_.expect_symbol("]"));
  if (is_slice) {
    if (several.items.size() > 1) return unsupported("a slice among several indices", line);
    slice.owner = std::move(owner);
    return make(line, std::move(slice));
  }
  ExprPtr index;
  if (several.items.size() == 1) {
    index = std::move(several.items.front());
  } else {
    MUMMU_TRY(index, make(line, std::move(several)));
  }
  return make(line, Subscript{std::move(owner), std::move(index)});
}

Result<ExprPtr> Parser::call(ExprPtr callee) {
  const int line = tokens_.now().line;
  MUMMU_TRY(CallArguments given, arguments());
  return make(line, CallOf{std::move(callee), std::move(given)});
}

Result<CallArguments> Parser::arguments() {
  tokens_.take();
  CallArguments out;
  while (!tokens_.at_symbol(")")) {
    MUMMU_TRY(argument(out));
    if (!tokens_.skip_symbol(",")) break;
  }
  MUMMU_TRY(tokens_.expect_symbol(")"));
  return out;
}

Result<void> Parser::argument(CallArguments& out) {
  const auto wrong = [&] {
    return fail(Error::invalid, "line {}: wrong order of the arguments of a call",
                tokens_.now().line);
  };
  if (tokens_.skip_symbol("*")) {
    if (out.more_positional || out.more_keywords) return wrong();
    MUMMU_TRY(out.more_positional, expression());
    return {};
  }
  if (tokens_.skip_symbol("**")) {
    if (out.more_keywords) return wrong();
    MUMMU_TRY(out.more_keywords, expression());
    return {};
  }
  const bool named = tokens_.at(TokenKind::name) && tokens_.ahead().kind == TokenKind::symbol &&
                     tokens_.ahead().text == "=";
  if (out.more_keywords || (!named && (out.more_positional || !out.keywords.empty())))
    return wrong();
  if (named) {
    const int32_t name = out_.names.add(tokens_.take().text);
    for (const Keyword& keyword : out.keywords) {
      if (keyword.name == name)
        return fail(Error::invalid, "line {}: a keyword argument repeated", tokens_.now().line);
    }
    tokens_.take();
    MUMMU_TRY(ExprPtr value, expression());
    out.keywords.push_back({name, std::move(value)});
    return {};
  }
  MUMMU_TRY(ExprPtr value, expression());
  out.positional.push_back(std::move(value));
  return {};
}

Result<std::string> Parser::dotted_name() {
  MUMMU_TRY(const Token first, tokens_.expect(TokenKind::name, "a name"));
  std::string name(first.text);
  while (tokens_.skip_symbol(".")) {
    MUMMU_TRY(const Token next, tokens_.expect(TokenKind::name, "a name"));
    name += '.';
    name += next.text;
  }
  return name;
}

Result<ExprPtr> Parser::filter_chain(ExprPtr value, bool first_without_bar) {
  while (first_without_bar || tokens_.skip_symbol("|")) {
    first_without_bar = false;
    MUMMU_TRY(value, filter(std::move(value)));
  }
  return value;
}

Result<ExprPtr> Parser::filter(ExprPtr value) {
  const int line = tokens_.now().line;
  FilterOf node;
  node.value = std::move(value);
  MUMMU_TRY(node.name, dotted_name());
  node.filter = find_filter(node.name);
  if (!node.filter && !soft_) unknown_.push_back({fmt::format("the filter '{}'", node.name), line});
  if (tokens_.at_symbol("(")) {
    MUMMU_TRY(node.arguments, arguments());
  }
  return make(line, std::move(node));
}

Result<ExprPtr> Parser::test(ExprPtr value) {
  const int line = tokens_.take().line;
  const bool negated = tokens_.skip_name("not");
  TestOf node;
  node.value = std::move(value);
  MUMMU_TRY(node.name, dotted_name());
  node.test = find_test(node.name);
  if (!node.test && !soft_) unknown_.push_back({fmt::format("the test '{}'", node.name), line});
  const TokenKind next = tokens_.now().kind;
  const bool operand = next == TokenKind::string || next == TokenKind::integer ||
                       next == TokenKind::real || tokens_.at_symbol("[") ||
                       tokens_.at_symbol("{") ||
                       (next == TokenKind::name && !tokens_.at_name("else") &&
                        !tokens_.at_name("or") && !tokens_.at_name("and"));
  if (tokens_.at_symbol("(")) {
    MUMMU_TRY(node.arguments, arguments());
  } else if (operand) {
    if (tokens_.at_name("is")) return fail(Error::invalid, "line {}: tests in a chain", line);
    MUMMU_TRY(ExprPtr argument, primary());
    MUMMU_TRY(argument, postfix(std::move(argument)));
    node.arguments.positional.push_back(std::move(argument));
  }
  MUMMU_TRY(ExprPtr out, make(line, std::move(node)));
  return negated ? make(line, Unary{UnaryOp::negation, std::move(out)}) : std::move(out);
}

}  // namespace mummu::jinja
