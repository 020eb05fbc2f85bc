#pragma once

// The parts of the parser (operators, operands, what follows an operand, statements) and what they
// share.

#include <string>
#include <vector>

#include "text/jinja/ast.h"
#include "text/jinja/token_stream.h"

namespace mummu::jinja {

class Parser {
 public:
  Parser(TokenStream tokens, Template& out) : tokens_(std::move(tokens)), out_(out) {}

  Result<Block> run();

 private:
  // A filter or test that nobody knows: an error, unless it stands where it may never be reached
  // (under a condition).
  struct Unknown {
    std::string what;
    int line;
  };
  // What the body of a macro reads beyond its parameters.
  struct MacroUse {
    bool caller = false, varargs = false, kwargs = false;
  };
  // One more level of nesting, for as long as it lives.
  class Nested {
   public:
    explicit Nested(Parser& parser) : parser_(parser) { ++parser_.nesting_; }
    ~Nested() { --parser_.nesting_; }
    Nested(const Nested&) = delete;
    Nested& operator=(const Nested&) = delete;

   private:
    Parser& parser_;
  };
  Result<void> check_nesting(int height = 0) const;
  Error unsupported(std::string_view what, int line) const;

  // parser_expression.cpp
  Result<ExprPtr> make(int line, Expr::Node node);
  Result<ExprPtr> expression(bool conditional = true);
  Result<ExprPtr> conditional();
  Result<ExprPtr> logic(bool conjunction);
  Result<ExprPtr> negation();
  Result<ExprPtr> comparison();
  Result<ExprPtr> sum();
  Result<ExprPtr> concat();
  Result<ExprPtr> product();
  Result<ExprPtr> power();
  Result<ExprPtr> unary(bool with_filter = true);

  // parser_operand.cpp
  Result<ExprPtr> primary();
  Result<ExprPtr> name_or_constant();
  Result<ExprPtr> string_literal();
  Result<ExprPtr> integer_literal(const Token& token);
  Result<ExprPtr> real_literal(const Token& token);
  // Several expressions with commas between them are a tuple.
  struct TupleRules {
    bool conditional = true;
    std::string_view end_name = {};  // a name that ends it, too
    bool in_brackets = false;        // may be empty
  };
  Result<ExprPtr> tuple(TupleRules rules);
  bool tuple_ends(std::string_view end_name) const;
  Result<ExprPtr> list_display();
  Result<ExprPtr> dict_display();

  // parser_postfix.cpp
  Result<ExprPtr> postfix(ExprPtr value);
  Result<ExprPtr> filters_and_tests(ExprPtr value);
  Result<ExprPtr> attribute(ExprPtr owner);
  Result<ExprPtr> subscript(ExprPtr owner);
  Result<ExprPtr> subscript_part(SliceOf& slice, bool& is_slice);
  Result<ExprPtr> call(ExprPtr callee);
  Result<CallArguments> arguments();
  Result<void> argument(CallArguments& out);
  Result<ExprPtr> filter(ExprPtr value);
  Result<ExprPtr> filter_chain(ExprPtr value, bool first_without_bar);
  Result<ExprPtr> test(ExprPtr value);
  Result<std::string> dotted_name();

  // parser_statement.cpp
  Result<Block> block(std::initializer_list<std::string_view> ends);
  Result<Block> body(std::initializer_list<std::string_view> ends);
  Result<Block> scoped_body(std::initializer_list<std::string_view> ends);
  Result<Stmt> statement();
  Result<Stmt> set_statement(int line);
  Result<Stmt> if_statement(int line);
  Result<Stmt> for_statement(int line);
  Result<Stmt> macro_statement(int line);
  Result<Stmt> call_statement(int line);
  Result<Stmt> filter_statement(int line);
  Result<Stmt> with_statement(int line);
  Result<Stmt> print_statement(int line);
  Result<Stmt> generation_statement(int line);
  Result<void> signature(std::vector<Parameter>& out);
  Result<void> macro_body(Macro& macro, std::string_view end);
  Result<Target> target(bool attributes, std::string_view end_name = {});
  Result<Target> single_target(bool attributes);

  TokenStream tokens_;
  Template& out_;
  int nesting_ = 0;
  int loops_ = 0;      // around the statement here, inside its macro
  bool soft_ = false;  // under a condition
  std::vector<Unknown> unknown_;
  std::vector<MacroUse> macros_;
};

}  // namespace mummu::jinja
