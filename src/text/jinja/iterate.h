#pragma once

// What `for` and every builtin that reads many values can walk over, as Python's iter() does.

#include "text/jinja/value.h"

namespace mummu::jinja {

class Interpreter;

class Iterator {
 public:
  //   errors   invalid (a value that cannot be walked over)
  static Result<Iterator> over(Interpreter& in, const Value& value);

  // The next value; missing after the last.
  Result<Value> next();

 private:
  Iterator(Interpreter& in, Value value) : in_(&in), value_(std::move(value)) {}
  Result<Value> entry_part(const ViewObject& view);

  Interpreter* in_;
  Value value_;
  size_t at_ = 0;
};

bool is_iterable(const Value& value);

// All values of an iterable.
Result<std::vector<Value>> collect(Interpreter& in, const Value& value);

// len(value).
//   errors   invalid (a value without a length)
Result<int64_t> length_of(Interpreter& in, const Value& value);

// The i-th value of a range.
inline Value range_item(const RangeObject& range, int64_t i) {
  return Value::integer(range.start + i * range.step);
}

}  // namespace mummu::jinja
