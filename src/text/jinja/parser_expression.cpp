// Operators, from the loosest to the tightest.

#include <algorithm>

#include "text/jinja/expression_height.h"
#include "text/jinja/parser_state.h"

namespace mummu::jinja {

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
  const int height = height_of_node(node);
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

}  // namespace mummu::jinja
