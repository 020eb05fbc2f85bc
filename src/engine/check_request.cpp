#include "engine/check_request.h"

#include <cmath>
#include <limits>
#include <string_view>

#include "base/fail.h"
#include "text/utf8.h"

namespace mummu {
namespace {

constexpr int64_t kMostStops = 16;
constexpr int64_t kMostStopBytes = 64 << 10;
constexpr int64_t kMostChoices = 64;
constexpr int64_t kMostTopLogprobs = 20;
constexpr float kMostPenalty = 2;

Result<void> check_range(std::string_view name, int64_t value, int64_t low, int64_t high) {
  if (value >= low && value <= high) return {};
  if (high == std::numeric_limits<int64_t>::max())
    return fail(Error::invalid, "{} must be at least {}, it is {}", name, low, value);
  return fail(Error::invalid, "{} must be from {} to {}, it is {}", name, low, high, value);
}

Result<void> check_id(std::string_view name, TokenId id, int64_t vocab) {
  if (id >= 0 && id < vocab) return {};
  return fail(Error::invalid, "{}: a token id must be from 0 to {}, it is {}", name, vocab - 1, id);
}

Result<void> check_length(const RequestOptions& options) {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  if (options.max_tokens == 0 && !options.prompt_logprobs)
    return fail(Error::invalid,
                "max_tokens must be at least 1 (0 only with prompt_logprobs), it is 0");
  MUMMU_TRY(check_range("max_tokens", options.max_tokens, 0, kMost));
  MUMMU_TRY(check_range("min_tokens", options.min_tokens, 0, kMost));
  if (options.min_tokens > options.max_tokens)
    return fail(Error::invalid, "min_tokens must be at most max_tokens ({}), it is {}",
                options.max_tokens, options.min_tokens);
  return {};
}

Result<void> check_sampling(const RequestOptions& options, int64_t vocab) {
  const auto finite = [](float value) { return std::isfinite(value); };
  if (!finite(options.temperature) || options.temperature < 0)
    return fail(Error::invalid, "temperature must be 0 (greedy) or positive and finite, it is {}",
                options.temperature);
  MUMMU_TRY(check_range("top_k", options.top_k, 0, std::numeric_limits<int64_t>::max()));
  if (!(options.top_p > 0 && options.top_p <= 1))
    return fail(Error::invalid, "top_p must be above 0 and at most 1, it is {}", options.top_p);
  if (!(options.min_p >= 0 && options.min_p < 1))
    return fail(Error::invalid, "min_p must be at least 0 and below 1, it is {}", options.min_p);
  if (!finite(options.repetition_penalty) || options.repetition_penalty <= 0)
    return fail(Error::invalid, "repetition_penalty must be positive and finite, it is {}",
                options.repetition_penalty);
  if (!(std::fabs(options.presence_penalty) <= kMostPenalty))
    return fail(Error::invalid, "presence_penalty must be from -2 to 2, it is {}",
                options.presence_penalty);
  if (!(std::fabs(options.frequency_penalty) <= kMostPenalty))
    return fail(Error::invalid, "frequency_penalty must be from -2 to 2, it is {}",
                options.frequency_penalty);
  for (const auto& [id, bias] : options.logit_bias) {
    MUMMU_TRY(check_id("logit_bias", id, vocab));
    if (!finite(bias) && bias != -std::numeric_limits<float>::infinity())
      return fail(Error::invalid, "logit_bias of token id {} must be finite or -infinity, it is {}",
                  id, bias);
  }
  return {};
}

Result<void> check_stops(const RequestOptions& options, int64_t vocab) {
  const auto count = static_cast<int64_t>(options.stop.size());
  if (count > kMostStops)
    return fail(Error::invalid, "stop must hold at most {} texts, it holds {}", kMostStops, count);
  for (size_t i = 0; i < options.stop.size(); ++i) {
    const std::string& text = options.stop[i];
    const auto bytes = static_cast<int64_t>(text.size());
    if (bytes == 0)
      return fail(Error::invalid, "stop[{}] must have at least 1 byte, it is empty", i);
    if (bytes > kMostStopBytes)
      return fail(Error::invalid, "stop[{}] must have at most {} bytes, it has {}", i,
                  kMostStopBytes, bytes);
    if (const auto at = find_invalid_utf8(text))
      return fail(Error::invalid, "stop[{}] must be UTF-8, byte {} is not", i, *at);
  }
  for (TokenId id : options.stop_ids) MUMMU_TRY(check_id("stop_ids", id, vocab));
  return {};
}

Result<void> check_told(const RequestOptions& options) {
  MUMMU_TRY(check_range("n", options.n, 1, kMostChoices));
  MUMMU_TRY(check_range("top_logprobs", options.top_logprobs, 0, kMostTopLogprobs));
  if (options.top_logprobs > 0 && !options.logprobs && !options.prompt_logprobs)
    return fail(Error::invalid,
                "top_logprobs must be 0 without logprobs or prompt_logprobs, it is {}",
                options.top_logprobs);
  if (options.deadline_ms && *options.deadline_ms < 0)
    return fail(Error::invalid, "deadline_ms must be at least 0, it is {}", *options.deadline_ms);
  return {};
}

}  // namespace

Result<void> check_request(const Request& request, int64_t vocab) {
  if (request.prompt.empty())
    return fail(Error::invalid, "prompt must have at least 1 token, it is empty");
  for (TokenId id : request.prompt) MUMMU_TRY(check_id("prompt", id, vocab));
  MUMMU_TRY(check_length(request.options));
  MUMMU_TRY(check_sampling(request.options, vocab));
  MUMMU_TRY(check_stops(request.options, vocab));
  return check_told(request.options);
}

}  // namespace mummu
