// What follows an operand: attributes, indices, slices, calls, filters and tests.

#include "text/jinja/parser_state.h"

namespace mummu::jinja {

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
    // A name, so that an error can say what was not there.
    if (const auto* key = std::get_if<ConstantLiteral>(&index->node); key && !key->big)
      out_.names.add(key->text);
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
