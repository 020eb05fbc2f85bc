#include "engine/check_request.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace mummu::test {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
const float kNan = std::nanf("");

struct Bad {
  std::string field;    // named by the message
  std::string got;      // and shown
  std::string allowed;  // and said to be right
  RequestOptions options;
};

TEST(CheckRequest, every_wrong_value_is_told_by_name_with_what_is_allowed) {
  const std::vector<std::string> many(17, "x");
  const Bad cases[] = {
      {"max_tokens", "0", "at least 1", {.max_tokens = 0}},
      {"max_tokens", "-1", "at least 0", {.max_tokens = -1}},
      {"min_tokens", "-1", "at least 0", {.min_tokens = -1}},
      {"min_tokens", "9", "at most max_tokens (8)", {.max_tokens = 8, .min_tokens = 9}},
      {"temperature", "-1", "positive", {.temperature = -1}},
      {"temperature", "nan", "finite", {.temperature = kNan}},
      {"temperature", "inf", "finite", {.temperature = kInfinity}},
      {"top_k", "-1", "at least 0", {.top_k = -1}},
      {"top_p", "0", "above 0", {.top_p = 0}},
      {"top_p", "1.5", "at most 1", {.top_p = 1.5f}},
      {"top_p", "nan", "at most 1", {.top_p = kNan}},
      {"min_p", "-0.5", "at least 0", {.min_p = -0.5f}},
      {"min_p", "1", "below 1", {.min_p = 1}},
      {"min_p", "nan", "below 1", {.min_p = kNan}},
      {"repetition_penalty", "0", "positive", {.repetition_penalty = 0}},
      {"repetition_penalty", "inf", "finite", {.repetition_penalty = kInfinity}},
      {"repetition_penalty", "nan", "finite", {.repetition_penalty = kNan}},
      {"presence_penalty", "2.5", "-2 to 2", {.presence_penalty = 2.5f}},
      {"presence_penalty", "nan", "-2 to 2", {.presence_penalty = kNan}},
      {"frequency_penalty", "-2.5", "-2 to 2", {.frequency_penalty = -2.5f}},
      {"frequency_penalty", "nan", "-2 to 2", {.frequency_penalty = kNan}},
      {"logit_bias", "100", "0 to 99", {.logit_bias = {{100, 1.0f}}}},
      {"logit_bias", "-1", "0 to 99", {.logit_bias = {{-1, 1.0f}}}},
      {"logit_bias", "inf", "finite", {.logit_bias = {{5, kInfinity}}}},
      {"logit_bias", "nan", "finite", {.logit_bias = {{5, kNan}}}},
      {"stop", "17", "at most 16", {.stop = many}},
      {"stop[1]", "empty", "at least 1 byte", {.stop = {"a", ""}}},
      {"stop[0]", "65537", "65536", {.stop = {std::string(65537, 'x')}}},
      {"stop[0]", "byte 1", "UTF-8", {.stop = {"a\xff"}}},
      {"stop_ids", "100", "0 to 99", {.stop_ids = {100}}},
      {"n", "0", "1 to 64", {.n = 0}},
      {"n", "65", "1 to 64", {.n = 65}},
      {"top_logprobs", "-1", "0 to 20", {.logprobs = true, .top_logprobs = -1}},
      {"top_logprobs", "21", "0 to 20", {.logprobs = true, .top_logprobs = 21}},
      {"top_logprobs", "1", "logprobs", {.top_logprobs = 1}},
      {"deadline_ms", "-1", "at least 0", {.deadline_ms = -1}},
  };
  for (const Bad& bad : cases) {
    const auto checked = check_request({nullptr, {1, 2}, bad.options}, 100);
    ASSERT_FALSE(checked) << bad.field << " " << bad.got;
    EXPECT_EQ(checked.error().code, Error::invalid);
    const std::string& message = checked.error().message;
    EXPECT_TRUE(message.starts_with(bad.field)) << message;
    for (const std::string& text : {bad.got, bad.allowed})
      EXPECT_NE(message.find(text), std::string::npos) << text << " in: " << message;
  }
}

TEST(CheckRequest, the_prompt_is_checked_too) {
  for (const std::vector<TokenId>& prompt :
       {std::vector<TokenId>{}, std::vector<TokenId>{1, 100}, std::vector<TokenId>{-1}}) {
    const auto checked = check_request({nullptr, prompt, {}}, 100);
    ASSERT_FALSE(checked);
    EXPECT_TRUE(checked.error().message.starts_with("prompt")) << checked.error().message;
  }
}

TEST(CheckRequest, what_is_at_the_edge_is_allowed) {
  const RequestOptions cases[] = {
      {},
      {.max_tokens = 0, .prompt_logprobs = true},
      {.max_tokens = 8, .min_tokens = 8},
      {.temperature = 1e-30f, .top_k = INT64_MAX, .top_p = 1e-30f, .min_p = 0.99f},
      {.repetition_penalty = 1e-3f, .presence_penalty = -2, .frequency_penalty = 2},
      {.logit_bias = {{0, -kInfinity}, {99, 100.0f}}},
      {.stop = std::vector<std::string>(16, std::string(65536, 'x')), .stop_ids = {0, 99}},
      {.n = 64, .logprobs = true, .top_logprobs = 20},
      {.top_logprobs = 20, .prompt_logprobs = true},
      {.deadline_ms = 0},
  };
  for (const RequestOptions& options : cases) {
    const auto checked = check_request({nullptr, {0, 99}, options}, 100);
    EXPECT_TRUE(checked) << checked.error().message;
  }
}

}  // namespace
}  // namespace mummu::test
