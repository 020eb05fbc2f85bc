#pragma once

// JSON to values: what a conversation, tools, documents and kwargs are to a template. Keys keep
// their order; of equal keys the first place and the last value stay, as in Python. Every string
// gets one level, which the caller may raise or lower for a whole message later.

#include <string_view>

#include "text/jinja/value.h"

namespace mummu::jinja {

constexpr int kMaxJsonDepth = 100;

//   what     names the text in messages: "messages", "tools"
//   errors   invalid (not JSON, nested too deeply, not UTF-8)
Result<Value> read_json(Heap& heap, std::string_view json, std::string_view what, Level level);

}  // namespace mummu::jinja
