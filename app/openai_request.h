#pragma once

// The body of POST /v1/chat/completions, turned into a Request. Every field is honoured or refused
// by name; what a body leaves out keeps the defaults of `mummu run`. Beyond the API: top_k, min_p,
// repetition_penalty, min_tokens, ignore_eos, stop_token_ids, skip_special_tokens,
// chat_template_kwargs.
//   source   the OpenAI API reference, "Create chat completion"

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "mummu/chat.h"
#include "mummu/json_mode.h"
#include "mummu/model.h"
#include "mummu/request.h"
#include "openai_error.h"

namespace mummu::app {

struct ChatBody {
  std::string model{};  // as the body names it; empty: it does not
  std::vector<Message> messages{};
  ChatOptions chat{};
  RequestOptions options{};
  bool json_object = false;  // response_format
};

ChatBody read_chat_body(const nlohmann::json& body, const RequestOptions& defaults,
                        std::optional<Refusal>& refusal);

// JSON mode for a model, made when it is first asked for.
class JsonModes {
 public:
  explicit JsonModes(const Model& model) : model_(&model) {}
  Result<ConstraintFactory> constraint();

 private:
  const Model* model_;
  std::optional<JsonMode> mode_;
};

// The request of a body.
//   errors   those of chat(); unsupported where the chat template does not show the model what the
//            body says about tools
Result<Request> make_request(const Model& model, const ChatBody& body, JsonModes& json);

}  // namespace mummu::app
