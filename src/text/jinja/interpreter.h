#pragma once

// Walks a template's tree over one set of variables. One Interpreter renders once, in one thread;
// it refuses where Python would raise, and keeps the bounds of its Heap and of depth. After an
// error, line() is where it happened.

#include <string_view>

#include "text/jinja/ast.h"
#include "text/jinja/scope.h"

namespace mummu::jinja {

class Interpreter {
 public:
  static constexpr int kMaxCalls = 100;  // macros and recursive loops inside one another
  static constexpr int kMaxDepth =
      1500;  // statements and expressions inside one another, over all calls

  //   now  seconds since 1970, for strftime_now
  Interpreter(const Template& source, Heap& heap, int64_t now);

  // Gives the template a variable.
  void define(std::string_view name, Value value);

  //   errors   invalid, unsupported: without the line
  Result<void> run(TextBuilder& out);

  int line() const { return line_; }

  // For builtins.
  Heap& heap() { return heap_; }
  const Names& names() const { return template_.names; }
  int64_t now() const { return now_; }
  Error undefined_error(const Value& undefined) const;
  std::string_view macro_name(const Value& macro) const;
  Result<Value> call(const Value& callee, Arguments& arguments);
  // owner.name and owner[index], by Jinja's rules.
  Result<Value> attribute(const Value& owner, std::string_view name, int32_t number);
  Result<Value> item(const Value& owner, const Value& index);
  Result<int64_t> loop_length(const Value& loop);
  Result<void> print_loop(TextBuilder& out, const Value& loop);
  Result<Value> loop_attribute(const Value& loop, std::string_view name, bool& found);

 private:
  enum class Flow : uint8_t { next, break_loop, continue_loop };

  // interpreter_expression.cpp
  Result<Value> eval(const Expr& expr);
  Result<Value> eval(const NoneLiteral&) { return Value::none(); }
  Result<Value> eval(const BoolLiteral& node) { return Value::boolean(node.value); }
  Result<Value> eval(const IntegerLiteral& node) { return Value::integer(node.value); }
  Result<Value> eval(const RealLiteral& node) { return Value::real(node.value); }
  Result<Value> eval(const ConstantLiteral& node);
  Result<Value> eval(const NameLoad& node);
  Result<Value> eval(const ListDisplay& node);
  Result<Value> eval(const DictDisplay& node);
  Result<Value> eval(const Attribute& node);
  Result<Value> eval(const Subscript& node);
  Result<Value> eval(const SliceOf& node);
  Result<Value> eval(const CallOf& node);
  Result<Value> eval(const FilterOf& node);
  Result<Value> eval(const TestOf& node);
  Result<Value> eval(const Unary& node);
  Result<Value> eval(const Binary& node);
  Result<Value> eval(const Concat& node);
  Result<Value> eval(const Compare& node);
  Result<Value> eval(const Logic& node);
  Result<Value> eval(const Conditional& node);
  Result<bool> compare(CompareOp op, const Value& a, const Value& b);
  Result<Value> optional(const ExprPtr& expr);  // None if there is none
  Result<Arguments> arguments(const CallArguments& given);
  Result<Value> filtered(const FilterOf& node, const Value& value);
  Result<Value> filter_text(const ExprPtr& filter, Value text);

  // interpreter_statement.cpp
  Result<Flow> exec(const Block& block, TextBuilder& out);
  Result<Flow> exec(const OutputText& node, TextBuilder& out);
  Result<Flow> exec(const OutputValue& node, TextBuilder& out);
  Result<Flow> exec(const Print& node, TextBuilder& out);
  Result<Flow> exec(const SetValue& node, TextBuilder& out);
  Result<Flow> exec(const SetBlock& node, TextBuilder& out);
  Result<Flow> exec(const If& node, TextBuilder& out);
  Result<Flow> exec(const For& node, TextBuilder& out);
  Result<Flow> exec(const Macro& node, TextBuilder& out);
  Result<Flow> exec(const CallBlock& node, TextBuilder& out);
  Result<Flow> exec(const FilterBlock& node, TextBuilder& out);
  Result<Flow> exec(const With& node, TextBuilder& out);
  Result<Flow> exec(const Scoped& node, TextBuilder& out);
  Result<Flow> exec(const Break&, TextBuilder&) { return Flow::break_loop; }
  Result<Flow> exec(const Continue&, TextBuilder&) { return Flow::continue_loop; }
  Result<void> assign(const Target& target, Value value);
  Result<void> assign_parts(const Target& target, const Value& value);
  Result<void> assign_attribute(const Target& target, Value value);
  Result<Flow> in_scope(const Block& block, Ref<Scope> scope, TextBuilder& out);
  Ref<Scope> inner_scope();
  // The block's text as a value.
  Result<Value> block_text(const Block& block);

  // interpreter_loop.cpp
  Result<void> loop(const For& node, const Value& items, int depth, Ref<Scope> outer,
                    TextBuilder& out);
  Result<Value> advance(LoopObject& loop);
  Result<Value> pull(LoopObject& loop);
  Result<bool> peek(LoopObject& loop);
  Result<Value> call_loop(const Value& loop, Arguments& arguments);

  // interpreter_call.cpp
  Result<Value> call_macro(const Value& macro, Arguments& arguments);
  Result<void> bind_parameters(const MacroObject& macro, Arguments& arguments, Scope& scope);
  Result<void> bind_rest(const MacroObject& macro, Arguments& arguments, size_t taken,
                         Scope& scope);

  const Template& template_;
  Heap& heap_;
  const int64_t now_;
  Ref<Scope> root_, scope_;
  std::vector<Value> constants_;
  int line_ = 0;
  int depth_ = 0;
  int calls_ = 0;
};

}  // namespace mummu::jinja
