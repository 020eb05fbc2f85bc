#include "openai_error.h"

#include <nlohmann/json.hpp>

namespace mummu::app {

namespace {

// Messages about a field of a request begin with its name.
std::string leading_name(const std::string& message) {
  const size_t end = message.find_first_not_of("abcdefghijklmnopqrstuvwxyz_");
  const std::string name = message.substr(0, end);
  return name.find('_') != std::string::npos || name == "temperature" || name == "stop" ||
                 name == "n" || name == "logprobs"
             ? name
             : "";
}

}  // namespace

Refusal refusal_of(const Error& error) {
  switch (error.code) {
    case Error::too_long:
      return {400, error.message, "messages", "context_length_exceeded"};
    case Error::invalid:
    case Error::unsupported:
      return {400, error.message, leading_name(error.message), "invalid_value"};
    case Error::no_memory:
    case Error::busy:
      return {503, error.message, "", code_name(error.code)};
    default:
      return {500, error.message, "", code_name(error.code)};
  }
}

nlohmann::ordered_json error_body(const Refusal& refusal) {
  nlohmann::ordered_json error;
  error["message"] = refusal.message;
  error["type"] = refusal.status < 500 ? "invalid_request_error" : "server_error";
  error["param"] = nullptr;
  if (!refusal.param.empty()) error["param"] = refusal.param;
  error["code"] = refusal.code;
  nlohmann::ordered_json body;
  body["error"] = std::move(error);
  return body;
}

}  // namespace mummu::app
