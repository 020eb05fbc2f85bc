#pragma once

// Python's truth, equality and order. None of them sees levels.

#include "text/jinja/value.h"

namespace mummu::jinja {

class Interpreter;

bool is_true(const Value& value);

// Below 0, 0 or above 0 as a is less than, equal to or greater than b; a NaN counts as greater than
// all else.
//   requires  both boolean, integer or real
int number_order(const Value& a, const Value& b);

//   errors   invalid (nested too deeply, a bound of the heap)
Result<bool> equal(Interpreter& in, const Value& a, const Value& b);

// a < b.
//   errors   invalid (kinds that Python cannot order, undefined)
Result<bool> less(Interpreter& in, const Value& a, const Value& b);
// The same for <=, which differs from "not b < a" for NaN.
Result<bool> less_or_equal(Interpreter& in, const Value& a, const Value& b);

// item in container.
//   errors   invalid (a container that holds nothing)
Result<bool> contains(Interpreter& in, const Value& container, const Value& item);

// Sorts by keys, one each value; equal ones keep their order.
//   errors   invalid (keys that Python cannot order)
Result<std::vector<size_t>> sorted_order(Interpreter& in, const std::vector<Value>& keys,
                                         bool reverse);

}  // namespace mummu::jinja
