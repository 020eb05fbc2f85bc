#pragma once

// One line of a batch: {custom_id, method, url, body} in, {id, custom_id, response, error} out.
//   source   the OpenAI Batch API reference, "The request input object", "The request output
//   object"

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "mummu/request.h"
#include "openai_error.h"
#include "openai_request.h"

namespace mummu::app {

struct BatchLine {
  int64_t number = 0;                      // in the input, from 1, blank lines counted
  std::optional<std::string> custom_id{};  // empty: it has none that could be read
  ChatBody body{};
  std::optional<Refusal> refusal{};
};

BatchLine read_batch_line(std::string_view text, int64_t number, const RequestOptions& defaults);

// The custom_id of a line alone, of the input or the output; `good` says whether it is an object.
struct LineName {
  bool good = false;
  std::optional<std::string> custom_id{};
  std::string model{};  // that answered, in the output
};
LineName read_line_name(std::string_view text);

// A line of the output without its newline.
std::string answered_line(const BatchLine& line, const nlohmann::ordered_json& body);
std::string refused_line(const BatchLine& line, const Refusal& refusal);

}  // namespace mummu::app
