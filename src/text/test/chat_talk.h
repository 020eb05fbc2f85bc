#pragma once

// What the tests of injection share: conversations, public templates, and every string in them.

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "mummu/chat.h"

namespace mummu::test {

struct Talk {
  std::string name;
  std::string messages, tools, documents, kwargs;  // JSON; empty: none
};

// Those of golden/jinja/conversations, the ones with tool calls also with tools.
std::vector<Talk> talks();

Result<Rendered> render(const ChatTemplate& chat, const Talk& talk);

// A string of a conversation.
struct Field {
  std::string key;  // that it stands under
  bool is_models;   // in a message of the assistant
};

// Calls change for every string of a conversation: messages, tools, documents.
void for_strings(Talk& talk, const std::function<void(const Field&, std::string&)>& change);

// A public chat template.
struct Source {
  std::string name, text;
};
std::vector<Source> sources();

// What looks like a token in a template's source.
std::set<std::string> inventory(const std::string& source);

}  // namespace mummu::test
