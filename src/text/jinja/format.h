#pragma once

// Python's three ways to put values into a text: '%s' % x, '{}'.format(x), and the specs of both.
// Plain insertions keep the levels of what is inserted; anything padded, cut or otherwise formatted
// has the highest level among all inputs.

#include "text/jinja/builtin.h"

namespace mummu::jinja {

// template % values.
Result<Value> format_percent(Interpreter& in, const Value& format, const Value& values);

// template.format(*positional, **named).
Result<Value> format_braces(Interpreter& in, const Value& format, const Arguments& arguments);

// format(value, spec).
//   errors   invalid (a spec that the kind does not take)
Result<std::string> format_with_spec(Interpreter& in, const Value& value, std::string_view spec);

// The highest level of any text inside a value.
//   errors   invalid (nested too deeply)
Result<Level> highest_level(Interpreter& in, const Value& value);

// What a numeric format asks for.
struct NumberFormat {
  char type = 'd';  // d x X o b c e E f F g G n %, or '\0'
  char sign = '-';  // -, + or space
  bool alternate = false;
  int precision = -1;
  char grouping = '\0';  // , or _
};
// The sign (if any) and digits of a number.
Result<std::string> format_number(const Value& value, const NumberFormat& format);

constexpr int64_t kMaxPrecision = 1000;  // digits that a format may ask for

}  // namespace mummu::jinja
