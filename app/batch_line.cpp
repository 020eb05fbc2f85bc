#include "batch_line.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "openai_fields.h"

namespace mummu::app {

namespace {

using Json = nlohmann::json;
using OrderedJson = nlohmann::ordered_json;

constexpr const char* kUrl = "/v1/chat/completions";
constexpr int kDeepest = 200;

// What is written of a value is written by recursion, so deep ones are refused before.
bool is_too_deep(std::string_view text) {
  int depth = 0;
  bool in_string = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '\\' && in_string) ++i;
    if (c == '"') in_string = !in_string;
    if (in_string) continue;
    if (c == '[' || c == '{') ++depth;
    if (c == ']' || c == '}') --depth;
    if (depth > kDeepest) return true;
  }
  return false;
}

Json parse_line(std::string_view text) {
  return is_too_deep(text) ? Json(Json::value_t::discarded) : Json::parse(text, nullptr, false);
}

std::optional<std::string> custom_id_of(const Json& line) {
  const auto found = line.is_object() ? line.find("custom_id") : line.end();
  if (!line.is_object() || found == line.end() || !found->is_string()) return std::nullopt;
  return found->get<std::string>();
}

Refusal broken_line(std::string_view text) {
  if (is_too_deep(text))
    return {400, fmt::format("the line is nested deeper than {}", kDeepest), "",
            "invalid_json_line"};
  std::string what = "a JSON object expected";
  try {
    if (Json::parse(text).is_object()) what.clear();
  } catch (const Json::exception& e) {
    const std::string_view told = e.what();
    what = told.substr(told.find("] ") + 2);
  }
  return {400, fmt::format("the line is not a JSON object: {}", what), "", "invalid_json_line"};
}

void only(Fields& fields, const char* name, const char* expected) {
  std::string text;
  if (!fields.read(name, text))
    fields.refuse(name, fmt::format("\"{}\" expected", expected));
  else if (text != expected)
    fields.refuse(name, fmt::format("\"{}\" expected, got {}", expected, shown(Json(text))));
}

OrderedJson line_frame(const BatchLine& line) {
  OrderedJson out;
  out["id"] = fmt::format("batch_req_{}", line.number);
  out["custom_id"] = nullptr;
  if (line.custom_id) out["custom_id"] = *line.custom_id;
  return out;
}

OrderedJson response(const BatchLine& line, int status, OrderedJson body) {
  OrderedJson out;
  out["status_code"] = status;
  out["request_id"] = fmt::format("req_{}", line.number);
  out["body"] = std::move(body);
  return out;
}

std::string written(const OrderedJson& line) {
  return line.dump(-1, ' ', false, OrderedJson::error_handler_t::replace);
}

}  // namespace

BatchLine read_batch_line(std::string_view text, int64_t number, const RequestOptions& defaults) {
  BatchLine line;
  line.number = number;
  const Json json = parse_line(text);
  if (!json.is_object()) {
    line.refusal = broken_line(text);
    return line;
  }
  line.custom_id = custom_id_of(json);
  Fields fields(json, "", line.refusal);
  std::string id;
  if (!fields.read("custom_id", id) || id.empty()) fields.refuse("custom_id", "a text expected");
  only(fields, "method", "POST");
  only(fields, "url", kUrl);
  const Json* body = fields.find("body");
  if (!body) fields.refuse("body", "an object expected");
  fields.refuse_others();
  if (line.refusal) return line;
  line.body = read_chat_body(*body, defaults, line.refusal);
  return line;
}

LineName read_line_name(std::string_view text) {
  const Json json = parse_line(text);
  LineName out{.good = json.is_object(), .custom_id = custom_id_of(json)};
  const auto model = Json::json_pointer("/response/body/model");
  if (out.good && json.contains(model) && json[model].is_string())
    out.model = json[model].get<std::string>();
  return out;
}

std::string answered_line(const BatchLine& line, const nlohmann::ordered_json& body) {
  OrderedJson out = line_frame(line);
  out["response"] = response(line, 200, body);
  out["error"] = nullptr;
  return written(out);
}

std::string refused_line(const BatchLine& line, const Refusal& refusal) {
  OrderedJson out = line_frame(line);
  out["response"] = response(line, refusal.status, error_body(refusal));
  out["error"] = {{"code", refusal.code}, {"message", refusal.message}};
  return written(out);
}

}  // namespace mummu::app
