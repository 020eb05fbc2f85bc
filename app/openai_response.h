#pragma once

// Answers as the body of a chat.completion object.
//   source   the OpenAI API reference, "The chat completion object"

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "mummu/request.h"
#include "mummu/tokenizer.h"

namespace mummu::app {

struct AnswerFacts {
  std::string id{};
  std::string model{};  // that answered
  int64_t created = 0;  // seconds since 1970
  bool logprobs = false;
};

//   requires  no choice ended in an error
nlohmann::ordered_json chat_completion(const std::vector<Completion>& choices,
                                       const Tokenizer& tokenizer, const AnswerFacts& facts);

}  // namespace mummu::app
