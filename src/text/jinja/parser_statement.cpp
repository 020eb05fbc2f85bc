#include <algorithm>
#include <utility>

#include "text/jinja/parser.h"
#include "text/jinja/parser_state.h"
#include "text/utf8.h"

namespace mummu::jinja {

namespace {

constexpr std::string_view kUnsupportedTags[] = {"autoescape", "block",  "extends",
                                                 "from",       "import", "include"};

bool is_reserved(std::string_view name) {
  return name == "true" || name == "True" || name == "false" || name == "False" || name == "none" ||
         name == "None";
}

}  // namespace

Result<Block> Parser::run() {
  MUMMU_TRY(Block out, block({}));
  if (!unknown_.empty()) return unsupported(unknown_.front().what, unknown_.front().line);
  return out;
}

// Statements and text up to a tag that starts with one of these names, which is left to the caller.
Result<Block> Parser::block(std::initializer_list<std::string_view> ends) {
  const Nested nested(*this);
  MUMMU_TRY(check_nesting());
  Block out;
  while (!tokens_.at(TokenKind::end)) {
    const Token token = tokens_.take();
    if (token.kind == TokenKind::text) {
      out.push_back({token.line, OutputText{std::string(token.text)}});
      continue;
    }
    if (token.kind == TokenKind::value_begin) {
      MUMMU_TRY(ExprPtr value, tuple({}));
      MUMMU_TRY(tokens_.expect(TokenKind::value_end, "}}"));
      out.push_back({token.line, OutputValue{std::move(value)}});
      continue;
    }
    if (std::any_of(ends.begin(), ends.end(), [&](auto end) { return tokens_.at_name(end); }))
      return out;
    MUMMU_TRY(Stmt next, statement());
    MUMMU_TRY(tokens_.expect(TokenKind::block_end, "%}"));
    out.push_back(std::move(next));
  }
  if (ends.size() == 0) return out;
  return fail(Error::invalid, "line {}: the template ends before '{}'", tokens_.now().line,
              *(ends.end() - 1));
}

// The end of a tag, then a block.
Result<Block> Parser::body(std::initializer_list<std::string_view> ends) {
  tokens_.skip_symbol(":");
  MUMMU_TRY(tokens_.expect(TokenKind::block_end, "%}"));
  return block(ends);
}

// A body with names of its own, where an unknown filter is refused although a condition may stand
// around it.
Result<Block> Parser::scoped_body(std::initializer_list<std::string_view> ends) {
  const bool soft = std::exchange(soft_, false);
  auto out = body(ends);
  soft_ = soft;
  return out;
}

Result<Stmt> Parser::statement() {
  MUMMU_TRY(const Token tag, tokens_.expect(TokenKind::name, "a tag's name"));
  if (tag.text == "set") return set_statement(tag.line);
  if (tag.text == "if") return if_statement(tag.line);
  if (tag.text == "for") return for_statement(tag.line);
  if (tag.text == "macro") return macro_statement(tag.line);
  if (tag.text == "call") return call_statement(tag.line);
  if (tag.text == "filter") return filter_statement(tag.line);
  if (tag.text == "with") return with_statement(tag.line);
  if (tag.text == "print") return print_statement(tag.line);
  if (tag.text == "generation") return generation_statement(tag.line);
  if (tag.text == "break" || tag.text == "continue") {
    if (loops_ == 0)
      return fail(Error::invalid, "line {}: '{}' outside a loop", tag.line, tag.text);
    return tag.text == "break" ? Stmt{tag.line, Break{}} : Stmt{tag.line, Continue{}};
  }
  const auto* known = std::find(std::begin(kUnsupportedTags), std::end(kUnsupportedTags), tag.text);
  if (known != std::end(kUnsupportedTags))
    return unsupported(fmt::format("the tag '{}'", tag.text), tag.line);
  return fail(Error::invalid, "line {}: unknown tag '{}'", tag.line, tag.text);
}

Result<Stmt> Parser::set_statement(int line) {
  MUMMU_TRY(Target to, target(true));
  if (tokens_.skip_symbol("=")) {
    MUMMU_TRY(ExprPtr value, tuple({}));
    return Stmt{line, SetValue{std::move(to), std::move(value)}};
  }
  SetBlock node;
  node.target = std::move(to);
  MUMMU_TRY(node.filter, filter_chain(nullptr, false));
  MUMMU_TRY(node.body, scoped_body({"endset"}));
  tokens_.take();
  return Stmt{line, std::move(node)};
}

Result<Stmt> Parser::if_statement(int line) {
  const bool soft = std::exchange(soft_, true);
  If node;
  std::string_view end = "elif";
  while (end == "elif") {
    IfBranch branch;
    MUMMU_TRY(branch.test, tuple({.conditional = false}));
    MUMMU_TRY(branch.body, body({"elif", "else", "endif"}));
    node.branches.push_back(std::move(branch));
    end = tokens_.take().text;
  }
  if (end == "else") {
    IfBranch branch;
    MUMMU_TRY(branch.body, body({"endif"}));
    node.branches.push_back(std::move(branch));
    tokens_.take();
  }
  soft_ = soft;
  return Stmt{line, std::move(node)};
}

Result<Stmt> Parser::for_statement(int line) {
  For node;
  MUMMU_TRY(node.target, target(false, "in"));
  MUMMU_TRY(tokens_.expect_name("in"));
  MUMMU_TRY(node.items, tuple({.conditional = false, .end_name = "recursive"}));
  if (tokens_.skip_name("if")) {
    MUMMU_TRY(node.filter, expression());
  }
  node.recursive = tokens_.skip_name("recursive");
  ++loops_;
  MUMMU_TRY(node.body, scoped_body({"endfor", "else"}));
  --loops_;
  if (tokens_.take().text == "else") {
    MUMMU_TRY(node.otherwise, scoped_body({"endfor"}));
    tokens_.take();
  }
  return Stmt{line, std::move(node)};
}

Result<void> Parser::signature(std::vector<Parameter>& out) {
  MUMMU_TRY(tokens_.expect_symbol("("));
  while (!tokens_.at_symbol(")")) {
    MUMMU_TRY(const Token name, tokens_.expect(TokenKind::name, "a parameter"));
    if (is_reserved(name.text))
      return fail(Error::invalid, "line {}: '{}' as a name", name.line, name.text);
    Parameter parameter{out_.names.add(name.text), nullptr};
    if (tokens_.skip_symbol("=")) {
      MUMMU_TRY(parameter.fallback, expression());
    } else if (!out.empty() && out.back().fallback) {
      return fail(Error::invalid,
                  "line {}: a parameter without a default behind one with a default", name.line);
    }
    out.push_back(std::move(parameter));
    if (!tokens_.skip_symbol(",")) break;
  }
  return tokens_.expect_symbol(")");
}

Result<void> Parser::macro_body(Macro& macro, std::string_view end) {
  const int loops = std::exchange(loops_, 0);
  macros_.emplace_back();
  MUMMU_TRY(macro.body, scoped_body({end}));
  macro.uses_caller = macros_.back().caller;
  macro.uses_varargs = macros_.back().varargs;
  macro.uses_kwargs = macros_.back().kwargs;
  macros_.pop_back();
  loops_ = loops;
  tokens_.take();
  return {};
}

Result<Stmt> Parser::macro_statement(int line) {
  MUMMU_TRY(const Token name, tokens_.expect(TokenKind::name, "the macro's name"));
  if (is_reserved(name.text))
    return fail(Error::invalid, "line {}: '{}' as a name", name.line, name.text);
  Macro node;
  node.name = out_.names.add(name.text);
  MUMMU_TRY(signature(node.parameters));
  MUMMU_TRY(macro_body(node, "endmacro"));
  return Stmt{line, std::move(node)};
}

Result<Stmt> Parser::call_statement(int line) {
  auto caller = std::make_unique<Macro>();
  caller->name = -1;
  if (tokens_.at_symbol("(")) MUMMU_TRY(signature(caller->parameters));
  CallBlock node;
  MUMMU_TRY(node.call, expression());
  if (!std::holds_alternative<CallOf>(node.call->node)) {
    return fail(Error::invalid, "line {}: a call expected in 'call'", line);
  }
  MUMMU_TRY(macro_body(*caller, "endcall"));
  node.caller = std::move(caller);
  return Stmt{line, std::move(node)};
}

Result<Stmt> Parser::filter_statement(int line) {
  FilterBlock node;
  MUMMU_TRY(node.filter, filter_chain(nullptr, true));
  MUMMU_TRY(node.body, scoped_body({"endfilter"}));
  tokens_.take();
  return Stmt{line, std::move(node)};
}

Result<Stmt> Parser::with_statement(int line) {
  With node;
  while (!tokens_.at(TokenKind::block_end)) {
    if (!node.values.empty()) MUMMU_TRY(tokens_.expect_symbol(","));
    MUMMU_TRY(Target to, target(false));
    MUMMU_TRY(tokens_.expect_symbol("="));
    MUMMU_TRY(ExprPtr value, expression());
    node.values.emplace_back(std::move(to), std::move(value));
  }
  MUMMU_TRY(node.body, scoped_body({"endwith"}));
  tokens_.take();
  return Stmt{line, std::move(node)};
}

Result<Stmt> Parser::print_statement(int line) {
  Print node;
  while (!tokens_.at(TokenKind::block_end)) {
    if (!node.values.empty()) MUMMU_TRY(tokens_.expect_symbol(","));
    MUMMU_TRY(ExprPtr value, expression());
    node.values.push_back(std::move(value));
  }
  return Stmt{line, std::move(node)};
}

Result<Stmt> Parser::generation_statement(int line) {
  Scoped node;
  MUMMU_TRY(node.body, scoped_body({"endgeneration"}));
  tokens_.take();
  return Stmt{line, std::move(node)};
}

// A name, an attribute of a name, or targets in brackets.
Result<Target> Parser::single_target(bool attributes) {
  const Nested nested(*this);
  MUMMU_TRY(check_nesting());
  if (tokens_.skip_symbol("(")) {
    MUMMU_TRY(Target out, target(attributes));
    MUMMU_TRY(tokens_.expect_symbol(")"));
    return out;
  }
  MUMMU_TRY(const Token name, tokens_.expect(TokenKind::name, "a name to set"));
  if (is_reserved(name.text))
    return fail(Error::invalid, "line {}: '{}' cannot be set", name.line, name.text);
  Target out;
  out.line = name.line;
  out.name = out_.names.add(name.text);
  if (attributes && tokens_.skip_symbol(".")) {
    MUMMU_TRY(const Token attribute, tokens_.expect(TokenKind::name, "an attribute"));
    out.attribute = out_.names.add(attribute.text);
  }
  return out;
}

Result<Target> Parser::target(bool attributes, std::string_view end_name) {
  MUMMU_TRY(Target first, single_target(attributes));
  if (!tokens_.at_symbol(",")) return first;
  Target out;
  out.line = first.line;
  out.tuple = true;
  out.parts.push_back(std::move(first));
  while (tokens_.skip_symbol(",") && !tuple_ends(end_name)) {
    MUMMU_TRY(Target next, single_target(attributes));
    out.parts.push_back(std::move(next));
  }
  return out;
}

int32_t Names::add(std::string_view name) {
  const auto [entry, is_new] =
      numbers_.try_emplace(std::string(name), static_cast<int32_t>(texts_.size()));
  if (is_new) texts_.push_back(&entry->first);
  return entry->second;
}

int32_t Names::find(std::string_view name) const {
  const auto found = numbers_.find(std::string(name));
  return found == numbers_.end() ? -1 : found->second;
}

Result<Template> parse_template(std::string_view source) {
  if (source.size() > kMaxSource) {
    return fail(Error::invalid, "a template of {} bytes; the limit is {}", source.size(),
                kMaxSource);
  }
  if (const auto at = find_invalid_utf8(source)) {
    return fail(Error::invalid, "the template is not UTF-8 at byte {}", *at);
  }
  const std::string text = normalise_newlines(source);
  MUMMU_TRY(auto tokens, tokenize(text));
  Template out;
  MUMMU_TRY(out.body, Parser(TokenStream(std::move(tokens)), out).run());
  return out;
}

}  // namespace mummu::jinja
