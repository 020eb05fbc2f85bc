#pragma once

// Where a checkpoint keeps its chat templates, and the tokens that they may name.

#include <optional>
#include <string>
#include <vector>

#include "mummu/chat.h"

namespace mummu {

class Gguf;

struct ChatTemplateSource {
  std::vector<ChatTemplate::Named> templates;  // empty: the model has none
  ChatTemplate::Tokens tokens;
};

// From a folder: chat_template.jinja (and additional_chat_templates/NAME.jinja) win over
// tokenizer_config.json's chat_template, a string or a list of {name, template}.
//   errors   corrupt, io, unsupported (only the old chat_template.json is there)
Result<ChatTemplateSource> find_chat_templates(const std::string& folder);

// From metadata: tokenizer.chat_template and tokenizer.chat_template.NAME.
//   errors   corrupt
Result<ChatTemplateSource> find_chat_templates(const Gguf& gguf);

}  // namespace mummu
