#pragma once

// Arithmetic of Python: + - * / // % ** on numbers, texts and lists. Integers beyond 64 bits are
// refused.

#include "text/jinja/ast.h"
#include "text/jinja/value.h"

namespace mummu::jinja {

class Interpreter;

//   errors   invalid (kinds that do not go together, a division by zero, undefined), unsupported
//   (beyond 64 bits)
Result<Value> apply(Interpreter& in, BinaryOp op, const Value& a, const Value& b);
Result<Value> apply(Interpreter& in, UnaryOp op, const Value& value);

}  // namespace mummu::jinja
