#pragma once

// One download with what a person sees of it: a question, a bar, or JSON lines.

#include <string>

#include "mummu/hub.h"

namespace mummu::app {

// Whether to ask, on a terminal, before the first large byte.
enum class Ask { never, large, always };

// Fails like a command. The bar goes to stderr and only to a terminal, JSON lines go to stdout.
Downloaded pull_model(const std::string& name, Ask ask, bool json);

}  // namespace mummu::app
