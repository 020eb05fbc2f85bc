#pragma once

// A Request: what to generate from, and how. It is a plain value, made by chat() or complete(),
// checked once as a whole by Engine::admit (and by submit, later) before anything is computed.
// Every default leaves the answer alone: greedy, no penalties, no stops but the checkpoint's own
// end ids. It may be copied, kept and used many times, on any thread.

#include <cstdint>
#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "mummu/chat.h"
#include "mummu/constraint.h"
#include "mummu/export.h"
#include "mummu/model.h"
#include "mummu/result.h"
#include "mummu/tokenizer.h"

namespace mummu {

// Order of work on the logits of one position: logit bias, penalties, min_tokens and stop mask,
// constraint, temperature, top_k, top_p, min_p. Probabilities are f64, over logits descending, ties
// to the lower id.
struct RequestOptions {
  // length
  int64_t max_tokens = 256;  // generated tokens at most; >= 1, or 0 with prompt_logprobs
  int64_t min_tokens = 0;    // end ids and stops are out of reach before that many

  // sampling
  float temperature = 0;  // 0: greedy; else finite and > 0
  int64_t top_k = 0;      // 0: off
  float top_p = 1;        // (0, 1]
  float min_p = 0;        // [0, 1): drops tokens less likely than min_p times the likeliest
  uint64_t seed = 0;      // the same seed gives the same answer, whatever runs beside it
  float repetition_penalty =
      1;  // > 0; over prompt and output: positive logits are divided, negative multiplied
  float presence_penalty = 0;   // [-2, 2]; subtracted once for each token that the output holds
  float frequency_penalty = 0;  // [-2, 2]; subtracted for every occurrence in the output
  std::map<TokenId, float> logit_bias{};  // added; finite or -infinity (never that token)

  // stopping
  std::vector<std::string>
      stop{};  // texts (at most 16, none empty); matched across tokens, not part of the answer
  std::vector<TokenId> stop_ids{};  // further ids that end it; not part of the answer
  bool ignore_eos = false;          // the checkpoint's end ids are ordinary tokens

  // what is told
  int64_t n =
      1;  // independent answers to one prompt, 1 to 64; choice 0 equals the answer with n = 1
  bool logprobs = false;         // log-probability of each token, from the raw logits
  int64_t top_logprobs = 0;      // 0 to 20 likeliest alternatives of each token; needs logprobs
  bool prompt_logprobs = false;  // also of the prompt's own tokens
  bool echo = false;             // the answer's text begins with the prompt's
  bool skip_special = true;      // control tokens have no text

  // constraint
  ConstraintFactory constraint = {};  // empty: none

  // scheduling; never changes an answer
  int priority = 0;                      // higher first
  std::optional<int64_t> deadline_ms{};  // from admit; not started by then: Error::busy ends it
  std::stop_token cancel{};              // looked at before every step
};

struct Request {
  const Model::Impl* model = nullptr;  // whose ids these are (a Model may move; this does not)
  std::vector<TokenId> prompt{};       // at least one
  RequestOptions options;
};

// Renders a conversation by the checkpoint's own template, tokenises it, and makes a Request.
//   errors   unsupported (the checkpoint has no chat template), invalid (the template refuses, or a
//   text is not UTF-8)
MUMMU_API Result<Request> chat(const Model& model, const std::vector<Message>& messages,
                               RequestOptions options = {}, const ChatOptions& chat_options = {});

// Continues a text as it stands.
//   errors   invalid (empty, or not UTF-8)
MUMMU_API Result<Request> complete(const Model& model, std::string_view text,
                                   RequestOptions options = {});

// Continues token ids as they stand.
MUMMU_API Result<Request> complete(const Model& model, std::vector<TokenId> ids,
                                   RequestOptions options = {});

// Everything that can be wrong with a Request by itself; Engine::admit calls it and adds what
// depends on the engine.
//   errors   invalid (names the field, what is allowed and what was given)
MUMMU_API Result<void> check(const Request& request);

// How a choice ended.
enum class Finish {
  none,       // it has not
  stop,       // an end id, a stop text or a stop id
  length,     // max_tokens
  context,    // the context is full
  cancelled,  // by the caller, its callback or its stop_token
  error,      // Completion::error says which
};
MUMMU_API std::string_view finish_name(Finish finish);

struct TopLogprob {
  TokenId id = -1;
  float logprob = 0;
};

struct TokenLogprob {
  TokenId id = -1;
  float logprob = 0;
  std::vector<TopLogprob> top{};  // likeliest first
};

struct Usage {
  int64_t prompt_tokens = 0;
  int64_t cached_tokens = 0;  // of the prompt, found in the prefix cache
  int64_t completion_tokens = 0;
};

// What one choice came to.
struct Completion {
  std::string text{};
  std::vector<TokenId> ids{};  // generated, without the end id
  Finish finish = Finish::none;
  Error error{};                                // if finish is error
  std::vector<TokenLogprob> logprobs{};         // one per id, if asked
  std::vector<TokenLogprob> prompt_logprobs{};  // one per prompt token but the first, if asked
  Usage usage{};
  uint64_t logits_hash = 0;  // over the bits of every logits row that was sampled from; equal
                             // answers have equal hashes
};

}  // namespace mummu
