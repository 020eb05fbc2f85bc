#pragma once

// Where the library says what a person may want to know while it works (which instruction set, what
// a file lacks). It has no log of its own: a host that wants the lines passes a sink in the options
// of what it opens.

#include <functional>
#include <string_view>

namespace mummu {

enum class LogLevel { debug, info, warning };

// Called on the thread that does the work, with one line without a newline; empty means silence.
using LogSink = std::function<void(LogLevel level, std::string_view line)>;

}  // namespace mummu
