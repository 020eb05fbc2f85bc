#pragma once

// A conversation as the variables of a template, each string with the level of where it comes from.

#include <string_view>
#include <vector>

#include "mummu/chat.h"
#include "text/jinja/value.h"

namespace mummu {

struct ChatContext {
  jinja::Value messages, tools, documents;  // lists; tools and documents may be None
  jinja::Value kwargs;                      // a dict
};

//   errors   invalid (not JSON, not UTF-8, of the wrong type, or a name that is not the caller's to
//   set)
Result<ChatContext> make_context(jinja::Heap& heap, const std::vector<Message>& messages,
                                 const ChatOptions& options);
Result<ChatContext> make_context(jinja::Heap& heap, std::string_view messages,
                                 const ChatOptions& options);

}  // namespace mummu
