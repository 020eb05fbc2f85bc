#pragma once

// A value as text: what {{ value }} writes (Python's str) and what stands inside a printed list
// (repr). Punctuation, numbers, True, None are the template's own; text keeps its levels, escapes
// included.

#include "text/jinja/value.h"

namespace mummu::jinja {

class Interpreter;

std::string_view type_name(const Value& value);

//   errors   invalid (undefined in a container is fine; a generator, function or method has no
//   stable text)
Result<void> print(Interpreter& in, TextBuilder& out, const Value& value);
Result<void> print_repr(Interpreter& in, TextBuilder& out, const Value& value);

// str(value) as a value; a string stays itself.
Result<Value> to_string(Interpreter& in, const Value& value);

// str(value), borrowed from the value where it is a string.
class AsText {
 public:
  static Result<AsText> of(Interpreter& in, const Value& value);
  const Text& text() const { return value_.text(); }
  std::string_view view() const { return value_.view(); }
  const Value& value() const { return value_; }
  bool safe() const { return value_.string().safe; }

 private:
  explicit AsText(Value value) : value_(std::move(value)) {}
  Value value_;
};

// repr of a text, as it stands in messages.
std::string quoted(std::string_view text);

}  // namespace mummu::jinja
