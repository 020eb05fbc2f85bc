#pragma once

// The filter tojson as transformers sets it up: json.dumps without HTML escapes. Keys and text keep
// their levels, escapes included; punctuation is the template's.

#include "text/jinja/value.h"

namespace mummu::jinja {

class Interpreter;

struct JsonStyle {
  bool ascii = false;  // escape everything beyond ASCII
  bool sort_keys = false;
  bool lines = false;    // an item a line
  Value indent;          // of one level, a string; with `lines`
  Value item_separator;  // strings
  Value key_separator;
};

//   errors   invalid (a value that JSON cannot hold, nested too deeply)
Result<void> write_json(Interpreter& in, TextBuilder& out, const Value& value,
                        const JsonStyle& style);

// The filter itself.
Result<Value> filter_tojson(struct Call& call);

}  // namespace mummu::jinja
