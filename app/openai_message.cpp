#include "openai_message.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "openai_fields.h"

namespace mummu::app {

namespace {

using Json = nlohmann::json;

std::string read_part(const Json& part, const std::string& path, std::optional<Refusal>& refusal) {
  std::string type, text;
  if (!part.is_object()) {
    refusal = {400, fmt::format("{}: an object expected, got {}", path, shown(part)), path,
               "invalid_value"};
    return text;
  }
  Fields fields(part, path + ".", refusal);
  fields.read("type", type);
  if (type != "text")
    fields.refuse("type", fmt::format("\"text\" expected, got {}", shown(Json(type))));
  if (!fields.read("text", text)) fields.refuse("text", "a text expected");
  fields.refuse_others();
  return text;
}

// A text, or a list of text parts.
std::string read_content(const Json& content, const std::string& path,
                         std::optional<Refusal>& refusal) {
  if (content.is_string()) return content.get<std::string>();
  std::string text;
  for (size_t i = 0; i < content.size() && content.is_array() && !refusal; ++i)
    text += (i > 0 ? "\n" : "") + read_part(content[i], fmt::format("{}[{}]", path, i), refusal);
  if (!content.is_array() && !refusal)
    refusal = {400,
               fmt::format("{}: a text or a list of parts expected, got {}", path, shown(content)),
               path, "invalid_value"};
  return text;
}

// {"name", "arguments"}, the arguments as an object.
Json read_function(const Json& function, const std::string& path, std::optional<Refusal>& refusal) {
  std::string name, arguments;
  Fields fields(function, path + ".", refusal);
  if (!fields.read("name", name)) fields.refuse("name", "a text expected");
  if (!fields.read("arguments", arguments)) fields.refuse("arguments", "a text expected");
  fields.refuse_others();
  const Json parsed = Json::parse(arguments.empty() ? "{}" : arguments, nullptr, false);
  if (!parsed.is_object())
    fields.refuse("arguments",
                  fmt::format("a JSON object as text expected, got {}", shown(Json(arguments))));
  return {{"name", name}, {"arguments", parsed}};
}

Json read_tool_call(const Json& call, const std::string& path, std::optional<Refusal>& refusal) {
  Fields fields(call, path + ".", refusal);
  std::string id, type = "function";
  fields.read("id", id);
  fields.read("type", type);
  if (type != "function")
    fields.refuse("type", fmt::format("\"function\" expected, got {}", shown(Json(type))));
  const Json* function = fields.find("function");
  if (!function || !function->is_object()) fields.refuse("function", "an object expected");
  fields.refuse_others();
  Json out = {{"type", type}};
  if (!id.empty()) out["id"] = id;
  if (!refusal) out["function"] = read_function(*function, path + ".function", refusal);
  return out;
}

Json read_tool_calls(const Json& calls, const std::string& path, std::optional<Refusal>& refusal) {
  Json out = Json::array();
  for (size_t i = 0; i < calls.size() && !refusal; ++i)
    out.push_back(read_tool_call(calls[i], fmt::format("{}[{}]", path, i), refusal));
  return out;
}

bool is_list_of_objects(const Json& value) {
  if (!value.is_array() || value.empty()) return false;
  for (const Json& item : value)
    if (!item.is_object()) return false;
  return true;
}

std::string read_role(Fields& fields) {
  std::string role;
  fields.read("role", role);
  if (role == "developer") return "system";
  if (role != "system" && role != "user" && role != "assistant" && role != "tool")
    fields.refuse("role", fmt::format("system, developer, user, assistant or tool expected, got {}",
                                      shown(Json(role))));
  return role;
}

// What a message has besides role and content.
Json read_extras(Fields& fields, const std::string& role, const std::string& path,
                 std::optional<Refusal>& refusal) {
  Json extras = Json::object();
  std::string text;
  if (fields.read("name", text)) extras["name"] = text;
  if (role == "tool" && fields.read("tool_call_id", text)) extras["tool_call_id"] = text;
  if (role == "assistant" && fields.read("reasoning_content", text))
    extras["reasoning_content"] = text;
  const Json* calls = role == "assistant" ? fields.find("tool_calls") : nullptr;
  if (calls && !is_list_of_objects(*calls))
    fields.refuse("tool_calls", "a list of objects expected");
  else if (calls)
    extras["tool_calls"] = read_tool_calls(*calls, path + ".tool_calls", refusal);
  return extras;
}

Message read_message(const Json& message, const std::string& path,
                     std::optional<Refusal>& refusal) {
  Fields fields(message, path + ".", refusal);
  Message out;
  out.role = read_role(fields);
  Json extras = read_extras(fields, out.role, path, refusal);
  const Json* content = fields.find("content");
  fields.refuse_others();
  if (content)
    out.content = read_content(*content, path + ".content", refusal);
  else if (!extras.contains("tool_calls"))
    fields.refuse("content", "a text or a list of parts expected");
  if (refusal || extras.empty()) return out;
  extras["role"] = out.role;
  extras["content"] = out.content;  // empty where there is none: templates look into it
  out.json = extras.dump();
  return out;
}

}  // namespace

std::vector<Message> read_messages(const nlohmann::json& messages,
                                   std::optional<Refusal>& refusal) {
  std::vector<Message> out;
  if (!is_list_of_objects(messages)) {
    refusal = {400, "messages: a list of at least one object expected", "messages",
               "invalid_value"};
    return out;
  }
  for (size_t i = 0; i < messages.size() && !refusal; ++i)
    out.push_back(read_message(messages[i], fmt::format("messages[{}]", i), refusal));
  return out;
}

}  // namespace mummu::app
