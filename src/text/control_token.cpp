#include "text/control_token.h"

#include <algorithm>

namespace mummu {
namespace {

bool between(std::string_view text, std::string_view front, std::string_view back) {
  return text.size() > front.size() + back.size() && text.starts_with(front) &&
         text.ends_with(back);
}

constexpr std::string_view kControl[] = {"<s>", "</s>", "<start_of_turn>", "<end_of_turn>"};

constexpr std::string_view kOutputMarks[] = {
    "<think>",
    "</think>",
    "<tool_call>",
    "</tool_call>",
    "<|tool_call_start|>",
    "<|tool_call_end|>",
    "<|python_tag|>",
    // Gemma 4
    "<|tool_call>",
    "<tool_call|>",
    "<|tool_response>",
    "<tool_response|>",
    "<|\"|>",
    "<|channel>",
    "<channel|>",
};

}  // namespace

bool looks_like_control(std::string_view text) {
  return between(text, "<|", "|>") || between(text, "<\uff5c", "\uff5c>") ||
         between(text, "<unused", ">") || std::ranges::find(kControl, text) != std::end(kControl);
}

bool is_vocabulary_padding(std::string_view text) {
  if (!between(text, "[PAD", "]")) return false;
  const std::string_view number = text.substr(4, text.size() - 5);
  return std::ranges::all_of(number, [](char c) { return c >= '0' && c <= '9'; });
}

bool is_output_mark(std::string_view text) {
  return std::ranges::find(kOutputMarks, text) != std::end(kOutputMarks);
}

uint8_t allowed_levels(const AddedToken& token) {
  uint8_t allowed = level_bit(Level::templ);
  if (!token.control || is_output_mark(token.text)) allowed |= level_bit(Level::model);
  if (token.control) return allowed;
  allowed |= level_bit(Level::content);
  const char first = token.text.empty() ? '\0' : token.text.front();
  if (first != '<' && first != '[' && first != ']') allowed |= level_bit(Level::tool);
  return allowed;
}

}  // namespace mummu
