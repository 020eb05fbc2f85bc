#pragma once

// The tree of a parsed template. It is never changed after parse and shared by all threads that
// render. Nothing in it is nested deeper than kMaxNesting, so a recursive walk needs little stack.

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "text/jinja/builtin.h"

namespace mummu::jinja {

constexpr int kMaxNesting =
    100;  // blocks in blocks, brackets in brackets, operators in a chain of one operand

// Names as small numbers, so that a scope compares numbers.
class Names {
 public:
  int32_t add(std::string_view name);
  int32_t find(std::string_view name) const;  // -1: not in this template
  std::string_view text(int32_t name) const { return *texts_[static_cast<size_t>(name)]; }
  size_t size() const { return texts_.size(); }

 private:
  std::unordered_map<std::string, int32_t> numbers_;
  std::vector<const std::string*> texts_;
};

struct Expr;
using ExprPtr = std::unique_ptr<const Expr>;

struct Keyword {
  int32_t name;
  ExprPtr value;
};

// What stands between the brackets of a call, a filter or a test.
struct CallArguments {
  std::vector<ExprPtr> positional;
  std::vector<Keyword> keywords;
  ExprPtr more_positional;  // *args, or null
  ExprPtr more_keywords;    // **kwargs, or null
};

struct NoneLiteral {};
struct BoolLiteral {
  bool value;
};
struct IntegerLiteral {
  int64_t value;
};
struct RealLiteral {
  double value;
};
struct ConstantLiteral {  // a string, or an integer beyond 64 bits (digits)
  std::string text;
  bool big;
  size_t index;  // of the rendering's copy
};
struct NameLoad {
  int32_t name;
};
struct ListDisplay {
  std::vector<ExprPtr> items;
  bool tuple;
};
struct DictDisplay {
  std::vector<std::pair<ExprPtr, ExprPtr>> entries;
};
struct Attribute {  // a.name
  ExprPtr owner;
  int32_t name;
};
struct Subscript {  // a[index]
  ExprPtr owner;
  ExprPtr index;
};
struct SliceOf {  // a[start:stop:step]
  ExprPtr owner;
  ExprPtr start, stop, step;  // any may be null
};
struct CallOf {
  ExprPtr callee;
  CallArguments arguments;
};
struct FilterOf {
  ExprPtr value;  // null in `filter` blocks and `set` blocks: the text of the block
  std::string name;
  const BuiltinInfo* filter;  // null: unknown, refused when it is reached
  CallArguments arguments;
};
struct TestOf {
  ExprPtr value;
  std::string name;
  const BuiltinInfo* test;
  CallArguments arguments;
};
enum class UnaryOp : uint8_t { minus, plus, negation };
struct Unary {
  UnaryOp op;
  ExprPtr value;
};
enum class BinaryOp : uint8_t { add, subtract, multiply, divide, floor_divide, modulo, power };
struct Binary {  // first op value op value ..., from the left
  ExprPtr first;
  std::vector<std::pair<BinaryOp, ExprPtr>> rest;
};
struct Concat {  // a ~ b ~ ...
  std::vector<ExprPtr> parts;
};
enum class CompareOp : uint8_t {
  equal,
  unequal,
  less,
  less_equal,
  greater,
  greater_equal,
  in,
  not_in
};
struct Compare {
  ExprPtr first;
  std::vector<std::pair<CompareOp, ExprPtr>> rest;
};
struct Logic {  // a and b and ..., or a or b or ...
  bool conjunction;
  std::vector<ExprPtr> operands;
};
struct Conditional {  // yes if test else no
  ExprPtr test, yes;
  ExprPtr no;  // null: undefined
};

struct Expr {
  using Node =
      std::variant<NoneLiteral, BoolLiteral, IntegerLiteral, RealLiteral, ConstantLiteral, NameLoad,
                   ListDisplay, DictDisplay, Attribute, Subscript, SliceOf, CallOf, FilterOf,
                   TestOf, Unary, Binary, Concat, Compare, Logic, Conditional>;
  int line;
  int height;  // of the tree below, itself included
  Node node;
};

// Where a value is put: a name, an attribute of a namespace, or several targets that share a
// sequence.
struct Target {
  int line = 0;
  int32_t name = -1;
  int32_t attribute = -1;  // >= 0: name.attribute
  std::vector<Target> parts;
  bool tuple = false;
};

struct Stmt;
using Block = std::vector<Stmt>;

struct Parameter {
  int32_t name;
  ExprPtr fallback;  // null: none
};

struct OutputText {
  std::string text;
};
struct OutputValue {
  ExprPtr value;
};
struct Print {  // {% print a, b %}
  std::vector<ExprPtr> values;
};
struct SetValue {
  Target target;
  ExprPtr value;
};
struct SetBlock {
  Target target;
  ExprPtr filter;  // a chain of FilterOf over the block's text, or null
  Block body;
};
struct IfBranch {
  ExprPtr test;  // null: else
  Block body;
};
struct If {
  std::vector<IfBranch> branches;
};
struct For {
  Target target;
  ExprPtr items;
  ExprPtr filter;  // null: all
  bool recursive;
  Block body, otherwise;
};
struct Macro {
  int32_t name;  // -1: the body of a call block
  std::vector<Parameter> parameters;
  Block body;
  bool uses_caller = false, uses_varargs = false, uses_kwargs = false;
};
struct CallBlock {
  ExprPtr call;  // a CallOf
  std::unique_ptr<const Macro> caller;
};
struct FilterBlock {
  ExprPtr filter;
  Block body;
};
struct With {
  std::vector<std::pair<Target, ExprPtr>> values;
  Block body;
};
struct Scoped {  // generation: a scope of its own and nothing else
  Block body;
};
struct Break {};
struct Continue {};

struct Stmt {
  using Node = std::variant<OutputText, OutputValue, Print, SetValue, SetBlock, If, For, Macro,
                            CallBlock, FilterBlock, With, Scoped, Break, Continue>;
  int line;
  Node node;
};

struct Template {
  Names names;
  Block body;
  size_t constants = 0;  // of ConstantLiteral
};

}  // namespace mummu::jinja
