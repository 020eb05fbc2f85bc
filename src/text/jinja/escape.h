#pragma once

// HTML escaping, for strings that the filter `safe` or `escape` has marked. An escape has the level
// of its character.

#include "text/jinja/value.h"

namespace mummu::jinja {

class Interpreter;

// Adds str(value), its & < > ' " replaced if `escape`.
Result<void> add_escaped(Interpreter& in, TextBuilder& out, const Value& value, bool escape);

// escape(value): a marked string stays itself.
Result<Value> escaped(Interpreter& in, const Value& value);

}  // namespace mummu::jinja
