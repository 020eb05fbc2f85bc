#include "openai_request.h"

#include <fmt/format.h>

#include <charconv>
#include <nlohmann/json.hpp>

#include "openai_fields.h"
#include "openai_message.h"

namespace mummu::app {

namespace {

using Json = nlohmann::json;

void read_lengths(Fields& fields, RequestOptions& options) {
  int64_t old_name = 0;
  const bool had_new = fields.read("max_completion_tokens", options.max_tokens);
  const bool had_old = fields.read("max_tokens", old_name);
  if (had_old && had_new && old_name != options.max_tokens)
    fields.refuse("max_tokens", fmt::format("{} contradicts max_completion_tokens, which is {}",
                                            old_name, options.max_tokens));
  if (had_old) options.max_tokens = old_name;
  fields.read("min_tokens", options.min_tokens);
}

void read_seed(Fields& fields, uint64_t& seed) {
  const Json* value = fields.find("seed");
  if (!value) return;
  if (!value->is_number_integer())
    return fields.refuse("seed", fmt::format("a whole number expected, got {}", shown(*value)));
  seed = value->is_number_unsigned() ? value->get<uint64_t>()
                                     : static_cast<uint64_t>(value->get<int64_t>());
}

void read_logit_bias(Fields& fields, std::map<TokenId, float>& bias) {
  const Json* value = fields.find("logit_bias");
  if (!value) return;
  if (!value->is_object())
    return fields.refuse("logit_bias", fmt::format("an object expected, got {}", shown(*value)));
  bias.clear();
  for (const auto& [key, amount] : value->items()) {
    TokenId id = -1;
    const char* end = key.data() + key.size();
    const auto read = std::from_chars(key.data(), end, id);
    if (read.ec != std::errc() || read.ptr != end || !amount.is_number())
      return fields.refuse(
          "logit_bias", fmt::format("token ids as text, each with a number, expected, got {}: {}",
                                    shown(Json(key)), shown(amount)));
    bias[id] = amount.get<float>();
  }
}

void read_sampling(Fields& fields, RequestOptions& options) {
  fields.read("temperature", options.temperature);
  fields.read("top_p", options.top_p);
  fields.read("min_p", options.min_p);
  fields.read("top_k", options.top_k);
  if (options.top_k == -1) options.top_k = 0;  // how others say "all"
  fields.read("repetition_penalty", options.repetition_penalty);
  fields.read("presence_penalty", options.presence_penalty);
  fields.read("frequency_penalty", options.frequency_penalty);
  read_seed(fields, options.seed);
  read_logit_bias(fields, options.logit_bias);
}

void read_stop_texts(Fields& fields, std::vector<std::string>& stop) {
  const Json* value = fields.find("stop");
  if (!value) return;
  const Json list = value->is_array() ? *value : Json::array({*value});
  stop.clear();
  for (const Json& text : list) {
    if (!text.is_string())
      return fields.refuse(
          "stop", fmt::format("a text or a list of texts expected, got {}", shown(*value)));
    stop.push_back(text.get<std::string>());
  }
}

void read_stop_ids(Fields& fields, std::vector<TokenId>& ids) {
  const Json* value = fields.find("stop_token_ids");
  if (!value) return;
  ids.clear();
  const auto is_id = [](const Json& id) {
    return id.is_number_unsigned() && id.get<uint64_t>() <= INT32_MAX;
  };
  for (const Json& id : *value) {
    if (!value->is_array() || !is_id(id)) break;
    ids.push_back(id.get<TokenId>());
  }
  if (!value->is_array() || ids.size() != value->size())
    fields.refuse("stop_token_ids",
                  fmt::format("a list of token ids expected, got {}", shown(*value)));
}

void read_stops(Fields& fields, RequestOptions& options) {
  read_stop_texts(fields, options.stop);
  read_stop_ids(fields, options.stop_ids);
  fields.read("ignore_eos", options.ignore_eos);
}

void read_told(Fields& fields, RequestOptions& options) {
  fields.read("n", options.n);
  fields.read("logprobs", options.logprobs);
  fields.read("top_logprobs", options.top_logprobs);
  fields.read("skip_special_tokens", options.skip_special);
}

void read_response_format(Fields& fields, std::optional<Refusal>& refusal, bool& json_object) {
  const Json* format = fields.find("response_format");
  if (!format) return;
  if (!format->is_object())
    return fields.refuse("response_format",
                         fmt::format("an object expected, got {}", shown(*format)));
  Fields inside(*format, "response_format.", refusal);
  std::string type;
  inside.read("type", type);
  inside.refuse_others();
  if (type != "text" && type != "json_object")
    inside.refuse("type",
                  fmt::format("\"text\" or \"json_object\" expected, got {}", shown(Json(type))));
  json_object = type == "json_object";
}

bool is_tool(const Json& tool) {
  if (!tool.is_object() || tool.value("type", Json()) != "function") return false;
  const auto function = tool.find("function");
  return function != tool.end() && function->is_object() && function->contains("name") &&
         function->at("name").is_string();
}

void read_tools(Fields& fields, ChatOptions& chat) {
  const Json* choice = fields.find("tool_choice");
  const bool none = choice && *choice == "none";
  if (choice && !none && *choice != "auto")
    fields.refuse("tool_choice",
                  fmt::format("\"auto\" or \"none\" expected, got {}", shown(*choice)));
  bool parallel = true;
  if (fields.read("parallel_tool_calls", parallel) && !parallel)
    fields.refuse("parallel_tool_calls",
                  "true expected: what the model says is not held to one call");
  const Json* tools = fields.find("tools");
  if (!tools) return;
  bool good = tools->is_array();
  for (size_t i = 0; good && i < tools->size(); ++i) good = is_tool((*tools)[i]);
  if (!good)
    return fields.refuse("tools",
                         R"(a list of {"type": "function", "function": {"name": ...}} expected)");
  if (!none && !tools->empty()) chat.tools = tools->dump();
}

void read_chat(Fields& fields, ChatOptions& chat) {
  read_tools(fields, chat);
  const Json* kwargs = fields.find("chat_template_kwargs");
  if (kwargs && !kwargs->is_object())
    fields.refuse("chat_template_kwargs",
                  fmt::format("an object expected, got {}", shown(*kwargs)));
  if (kwargs) chat.kwargs = kwargs->dump();
}

// Fields whose usual values ask for nothing.
void read_services(Fields& fields) {
  std::string text;
  fields.only_false("stream", "a whole answer is given");
  fields.only_false("store", "nothing is stored");
  for (const char* label : {"user", "safety_identifier", "prompt_cache_key"})
    fields.read(label, text);
  if (fields.read("service_tier", text) && text != "auto" && text != "default")
    fields.refuse("service_tier",
                  fmt::format("\"auto\" or \"default\" expected, got {}", shown(Json(text))));
  const Json* modalities = fields.find("modalities");
  if (modalities && *modalities != Json::array({"text"}))
    fields.refuse("modalities", fmt::format("[\"text\"] expected, got {}", shown(*modalities)));
}

std::vector<Message> without_tool_calls(const std::vector<Message>& messages) {
  std::vector<Message> out = messages;
  for (Message& message : out) {
    if (message.json.empty()) continue;
    Json json = Json::parse(message.json);
    if (json.erase("tool_calls") > 0 && json["content"].is_null()) json["content"] = "";
    message.json = json.dump();
  }
  return out;
}

// Whether the template makes the same of a conversation that says less.
bool reads_the_same(const ChatTemplate& chat_template, const ChatBody& body,
                    const std::vector<Message>& messages, const ChatOptions& chat) {
  const auto whole = chat_template.render(body.messages, body.chat);
  const auto less = chat_template.render(messages, chat);
  return whole && less && whole->text == less->text;
}

Result<void> check_tools_are_seen(const ChatTemplate& chat_template, const ChatBody& body) {
  ChatOptions chat = body.chat;
  chat.tools.clear();
  if (!body.chat.tools.empty() && reads_the_same(chat_template, body, body.messages, chat))
    return Error{Error::unsupported, "tools: the model's chat template does not show them to it"};
  const auto plain = without_tool_calls(body.messages);
  bool differs = false;
  for (size_t i = 0; i < plain.size(); ++i) differs |= plain[i].json != body.messages[i].json;
  if (differs && reads_the_same(chat_template, body, plain, body.chat))
    return Error{Error::unsupported,
                 "tool_calls: the model's chat template does not show them to it"};
  return {};
}

}  // namespace

ChatBody read_chat_body(const nlohmann::json& body, const RequestOptions& defaults,
                        std::optional<Refusal>& refusal) {
  ChatBody out;
  out.options = defaults;
  if (!body.is_object()) {
    refusal = {400, fmt::format("body: an object expected, got {}", shown(body)), "body",
               "invalid_value"};
    return out;
  }
  Fields fields(body, "", refusal);
  fields.read("model", out.model);
  const Json* messages = fields.find("messages");
  if (messages)
    out.messages = read_messages(*messages, refusal);
  else
    fields.refuse("messages", "a list of at least one object expected");
  read_lengths(fields, out.options);
  read_sampling(fields, out.options);
  read_stops(fields, out.options);
  read_told(fields, out.options);
  read_response_format(fields, refusal, out.json_object);
  read_chat(fields, out.chat);
  read_services(fields);
  fields.refuse_others();
  return out;
}

Result<ConstraintFactory> JsonModes::constraint() {
  if (!mode_) {
    MUMMU_TRY(JsonMode made, JsonMode::make(model_->tokenizer()));
    mode_.emplace(std::move(made));
  }
  return mode_->constraint();
}

Result<Request> make_request(const Model& model, const ChatBody& body, JsonModes& json) {
  RequestOptions options = body.options;
  if (body.json_object) {
    MUMMU_TRY(options.constraint, json.constraint());
  }
  if (const ChatTemplate* chat_template = model.chat_template())
    MUMMU_TRY(check_tools_are_seen(*chat_template, body));
  return chat(model, body.messages, std::move(options), body.chat);
}

}  // namespace mummu::app
