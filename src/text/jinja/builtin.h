#pragma once

// Filters, tests, methods and global functions: what a template can name. Each is a plain function
// with a line in a table that says its parameters, as Python spells them.

#include <span>
#include <string_view>
#include <vector>

#include "text/jinja/value.h"

namespace mummu::jinja {

class Interpreter;

struct NamedValue {
  Value name;  // a string
  Value value;
};

// Arguments as a call gives them.
struct Arguments {
  std::vector<Value> positional;
  std::vector<NamedValue> named;
};

// A call of a builtin, its arguments sorted into the declared parameters (missing where not given).
struct Call {
  Interpreter& in;
  Heap& heap;
  const Value& self;          // the filtered or tested value, the owner of a method
  std::span<const Value> at;  // one a declared parameter
  Arguments& more;            // what * and ** take
};

using Builtin = Result<Value> (*)(Call&);

struct BuiltinInfo {
  std::string_view name;
  // Names separated by blanks; `name?` may be left out; `*` takes more positional ones, `**` more
  // named ones.
  std::string_view parameters;
  Builtin run;
};

// A global: raise_exception, range, ...
struct FunctionInfo : BuiltinInfo {};

const BuiltinInfo* find_filter(std::string_view name);
const BuiltinInfo* find_test(std::string_view name);
// A method of Python's that values of this kind have; `run` is null for those that the sandbox
// forbids.
const BuiltinInfo* find_method(Kind kind, std::string_view name);
std::span<const FunctionInfo> functions();

// Calls a builtin.
//   errors   invalid (arguments that its parameters do not take), and its own
Result<Value> call_builtin(Interpreter& in, const BuiltinInfo& info, const Value& self,
                           Arguments& arguments);

// An argument as Python takes it.
//   errors   invalid (another kind, or undefined)
Result<int64_t> integer_argument(Interpreter& in, const Value& value, int64_t fallback);
Result<Value> string_argument(Interpreter& in, const Value& value);

}  // namespace mummu::jinja
