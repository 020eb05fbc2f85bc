#pragma once

// The messages of a chat completion's body as the library takes them.

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <vector>

#include "mummu/chat.h"
#include "openai_error.h"

namespace mummu::app {

// Text parts are joined by a newline, `developer` is `system`, and the arguments of a tool call,
// which come as text, become the object that templates expect.
std::vector<Message> read_messages(const nlohmann::json& messages, std::optional<Refusal>& refusal);

}  // namespace mummu::app
