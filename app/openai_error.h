#pragma once

// What an OpenAI client is told instead of an answer.

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "mummu/result.h"

namespace mummu::app {

struct Refusal {
  int status = 400;       // of HTTP
  std::string message{};  // one line
  std::string param{};    // the field that is to blame; empty: none
  std::string code{};     // for programs: "invalid_value", "context_length_exceeded", ...
};

// An error of the library as a refusal.
Refusal refusal_of(const Error& error);

// {"error": {"message", "type", "param", "code"}}
//   source   the error object of the OpenAI API reference
nlohmann::ordered_json error_body(const Refusal& refusal);

}  // namespace mummu::app
