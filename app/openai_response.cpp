#include "openai_response.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "mummu/version.h"

namespace mummu::app {

namespace {

using Json = nlohmann::ordered_json;

Json token_entry(TokenId id, float logprob, const Tokenizer& tokenizer) {
  const std::string_view bytes = tokenizer.bytes(id);
  Json list = Json::array();
  for (const char byte : bytes) list.push_back(static_cast<unsigned char>(byte));
  return {{"token", bytes}, {"logprob", logprob}, {"bytes", std::move(list)}};
}

Json logprob_list(const Completion& done, const Tokenizer& tokenizer) {
  Json list = Json::array();
  for (const TokenLogprob& told : done.logprobs) {
    Json entry = token_entry(told.id, told.logprob, tokenizer);
    entry["top_logprobs"] = Json::array();
    for (const TopLogprob& top : told.top)
      entry["top_logprobs"].push_back(token_entry(top.id, top.logprob, tokenizer));
    list.push_back(std::move(entry));
  }
  return list;
}

Json choice_entry(size_t index, const Completion& done, const Tokenizer& tokenizer, bool logprobs) {
  Json choice;
  choice["index"] = index;
  choice["message"] = {{"role", "assistant"}, {"content", done.text}, {"refusal", nullptr}};
  choice["logprobs"] = nullptr;
  if (logprobs)
    choice["logprobs"] = {{"content", logprob_list(done, tokenizer)}, {"refusal", nullptr}};
  choice["finish_reason"] = done.finish == Finish::stop ? "stop" : "length";
  return choice;
}

Json usage_entry(const std::vector<Completion>& choices) {
  int64_t completion = 0;
  for (const Completion& done : choices) completion += done.usage.completion_tokens;
  const Usage& first = choices.front().usage;
  return {{"prompt_tokens", first.prompt_tokens},
          {"completion_tokens", completion},
          {"total_tokens", first.prompt_tokens + completion},
          {"prompt_tokens_details", {{"cached_tokens", first.cached_tokens}}}};
}

}  // namespace

nlohmann::ordered_json chat_completion(const std::vector<Completion>& choices,
                                       const Tokenizer& tokenizer, const AnswerFacts& facts) {
  Json body;
  body["id"] = facts.id;
  body["object"] = "chat.completion";
  body["created"] = facts.created;
  body["model"] = facts.model;
  body["choices"] = Json::array();
  for (size_t i = 0; i < choices.size(); ++i)
    body["choices"].push_back(choice_entry(i, choices[i], tokenizer, facts.logprobs));
  body["usage"] = usage_entry(choices);
  body["system_fingerprint"] = fmt::format("mummu {} {}", kVersion, kContract);
  return body;
}

}  // namespace mummu::app
