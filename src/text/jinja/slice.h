#pragma once

// Python's indices and slices over code points and items.

#include "text/jinja/value.h"

namespace mummu::jinja {

class Interpreter;

// The character with this index; missing if there is none.
Result<Value> character_at(Interpreter& in, const Value& string, int64_t index);

// owner[start:stop:step]; none for a bound that is not given.
//   errors   invalid (a step of 0, a bound that is no integer, an owner without slices)
Result<Value> slice_of(Interpreter& in, const Value& owner, const Value& start, const Value& stop,
                       const Value& step);

}  // namespace mummu::jinja
