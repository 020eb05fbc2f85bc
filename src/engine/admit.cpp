// Admission: what is checked once, and everything that is allocated once.

#include <algorithm>
#include <chrono>
#include <cmath>

#include "base/fail.h"
#include "engine/check_request.h"
#include "engine/engine_impl.h"

namespace mummu {
namespace {

constexpr int64_t kMostRows = 512;          // of a step, where step_tokens does not say
constexpr int64_t kLeastWanted = 16;        // rows with logits, for prompt log-probabilities
constexpr int64_t kReservedTokens = 4096;   // of an answer; what is longer grows by doubling
constexpr int64_t kReservedTextBytes = 16;  // of a token
constexpr int64_t kMostPages = int64_t{1} << 30;

double steady_ms() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double, std::milli>(now).count();
}

Result<void> check_options(const EngineOptions& options, int64_t model_context) {
  const auto at_least = [](std::string_view name, int64_t value, int64_t low) -> Result<void> {
    if (value >= low) return {};
    return fail(Error::invalid, "{} must be at least {}, it is {}", name, low, value);
  };
  MUMMU_TRY(at_least("context", options.context, 0));
  MUMMU_TRY(at_least("kv_tokens", options.kv_tokens, 0));
  MUMMU_TRY(at_least("max_sequences", options.max_sequences, 1));
  MUMMU_TRY(at_least("max_waiting", options.max_waiting, 1));
  MUMMU_TRY(at_least("max_pending", options.max_pending, 1));
  MUMMU_TRY(at_least("step_tokens", options.step_tokens, 0));
  if (!std::isfinite(options.step_ms) || options.step_ms <= 0)
    return fail(Error::invalid, "step_ms must be positive, it is {}", options.step_ms);
  if (options.context > model_context)
    return fail(Error::invalid,
                "context must be at most {}, what the checkpoint was made for; it is {}",
                model_context, options.context);
  return {};
}

}  // namespace

Engine::Impl::Impl(EngineParts parts, EngineOptions options)
    : options_(std::move(options)),
      tokenizer_(parts.tokenizer),
      model_(parts.model),
      end_ids_(std::move(parts.end_ids)),
      forward_(std::move(parts.forward)),
      now_ms_(parts.now_ms ? std::move(parts.now_ms) : steady_ms),
      budget_(0, 1, 1) {}

Result<Engine::Impl::Sizes> Engine::Impl::sizes() const {
  MUMMU_TRY(check_options(options_, forward_->context()));
  Sizes out;
  out.context = options_.context ? options_.context : forward_->context();
  out.columns = forward_->vocab();
  out.vocab = tokenizer_ ? std::min(out.columns, tokenizer_->vocab()) : out.columns;
  const int64_t kv_tokens = options_.kv_tokens ? options_.kv_tokens : out.context;
  out.pages = kv_tokens / kPageTokens + (kv_tokens % kPageTokens != 0);
  if (out.pages > kMostPages)
    return fail(Error::no_memory, "kv_tokens is {}, at most {} are possible", kv_tokens,
                kMostPages * kPageTokens);
  const int64_t most =
      options_.step_tokens ? options_.step_tokens : std::max(kMostRows, options_.max_sequences);
  out.limits.rows = std::min(most, out.pages * kPageTokens);
  out.limits.sequences = options_.max_sequences;
  out.limits.wanted = std::min(out.limits.rows, std::max(options_.max_sequences, kLeastWanted));
  out.limits.pending = options_.max_pending;
  out.limits.prefix_cache = options_.prefix_cache;
  return out;
}

Result<void> Engine::Impl::prepare() {
  if (scheduler_) return {};
  MUMMU_TRY(sizes_, sizes());
  const StepLimits& limits = sizes_.limits;
  const int64_t pages = sizes_.pages;
  MUMMU_TRY(forward_->reserve(pages, limits.rows, limits.wanted));
  pages_.reset(pages);
  std::erase_if(end_ids_, [&](TokenId id) { return id < 0 || id >= sizes_.vocab; });
  budget_ = StepBudget(options_.step_tokens, options_.step_ms, limits.rows);
  scan_.reserve(sizes_.columns);
  editor_.reserve(sizes_.columns);
  sampler_.reserve(sizes_.columns);
  ids_.reserve(static_cast<size_t>(limits.rows));
  positions_.reserve(static_cast<size_t>(limits.rows));
  segments_.reserve(static_cast<size_t>(limits.rows));
  wanted_.reserve(static_cast<size_t>(limits.wanted));
  logits_.reset(new float[static_cast<size_t>(limits.wanted * sizes_.columns)]);
  scheduler_.emplace(pages_, *forward_, limits);
  if (options_.log)
    options_.log(
        LogLevel::info,
        fmt::format("engine: {} pages of {} tokens, {} MB of keys and values, steps of up "
                    "to {} tokens",
                    pages, kPageTokens, pages * forward_->page_bytes() >> 20, limits.rows));
  return {};
}

// What can never be served is refused at once.
Result<void> Engine::Impl::check_fits(const Request& request) const {
  const auto prompt = static_cast<int64_t>(request.prompt.size());
  const int64_t context = sizes_.context;
  const int64_t max_tokens = request.options.max_tokens;
  if (prompt + std::min<int64_t>(1, max_tokens) > context)
    return fail(Error::too_long, "the prompt has {} tokens, the context holds {}{}", prompt,
                context, prompt == context ? ", which leaves no room for an answer" : "");
  const int64_t total = prompt + std::min(max_tokens, context - prompt);
  const int64_t room = sizes_.pages * kPageTokens;
  if (total > room)
    return fail(Error::no_memory,
                "the prompt has {} tokens and max_tokens is {}: {} tokens of keys and values are "
                "needed, the engine has memory for {}",
                prompt, max_tokens, total, room);
  return {};
}

Result<void> Engine::Impl::check_waiting(int64_t choices) const {
  if (waiting() + choices <= options_.max_waiting) return {};
  return fail(Error::busy, "{} choices are waiting, at most {} may", waiting(),
              options_.max_waiting);
}

Result<void> Engine::Impl::check(const Request& request) const {
  if (request.model != model_)
    return fail(Error::invalid, "the request was not made for the engine's model");
  MUMMU_TRY(check_request(request, sizes_.vocab));
  return check_fits(request);
}

int64_t Engine::Impl::waiting() const {
  return std::count_if(live_.begin(), live_.end(),
                       [](const Sequence* sequence) { return !sequence->started; });
}

Result<RequestId> Engine::Impl::admit(Request request) {
  MUMMU_TRY(prepare());
  MUMMU_TRY(check(request));
  MUMMU_TRY(check_waiting(request.options.n));
  MUMMU_TRY(auto state, make_request(std::move(request)));
  reserve_live(state->choices.size());
  RequestState& admitted = *state;
  requests_.emplace(admitted.id.value, std::move(state));
  const auto first = admitted.choices.front().get();
  auto at = std::upper_bound(live_.begin(), live_.end(), first,
                             [](const Sequence* a, const Sequence* b) { return outranks(*a, *b); });
  for (const auto& choice : admitted.choices) at = live_.insert(at, choice.get()) + 1;
  return admitted.id;
}

Result<std::unique_ptr<RequestState>> Engine::Impl::make_request(Request request) {
  auto state = std::make_unique<RequestState>(RequestId{++last_id_}, std::move(request));
  const RequestOptions& options = state->options();
  state->limit = state->prompt_tokens() +
                 std::min(options.max_tokens, sizes_.context - state->prompt_tokens());
  if (options.deadline_ms)
    state->deadline_ms = now_ms_() + static_cast<double>(*options.deadline_ms);
  for (int choice = 0; choice < options.n; ++choice) {
    MUMMU_TRY(auto sequence, make_sequence(*state, choice));
    state->choices.push_back(std::move(sequence));
  }
  if (options.cancel.stop_possible()) state->cancel.emplace(options.cancel, watched_);
  return state;
}

// Reserves what the steps of a choice write, so that they need not allocate.
Result<std::unique_ptr<Sequence>> Engine::Impl::make_sequence(RequestState& request, int choice) {
  const RequestOptions& options = request.options();
  const auto prompt = request.request.prompt.size();
  auto sequence = std::make_unique<Sequence>(
      request, choice, Output(tokenizer_, options.skip_special, &request.stops));
  const auto limit = static_cast<size_t>(request.limit);
  const auto answer = std::min(limit - prompt, static_cast<size_t>(kReservedTokens));
  sequence->tokens.reserve(prompt + answer);
  sequence->tokens = request.request.prompt;
  sequence->pages.reserve((limit + kPageTokens - 1) / kPageTokens);
  sequence->events.reserve(options_.max_pending);
  Completion& completion = sequence->completion;
  completion.ids.reserve(answer);
  completion.text.reserve(answer * kReservedTextBytes);
  if (options.echo)
    for (TokenId id : request.request.prompt) sequence->output.push(id, false, completion.text);
  if (options.logprobs) completion.logprobs.reserve(answer);
  if (options.logprobs && options.top_logprobs > 0) {
    sequence->spare_logprobs.resize(answer);
    for (TokenLogprob& spare : sequence->spare_logprobs)
      spare.top.reserve(static_cast<size_t>(options.top_logprobs));
  }
  if (options.repetition_penalty != 1 || options.presence_penalty != 0 ||
      options.frequency_penalty != 0) {
    sequence->counts.reserve(std::min(sizes_.vocab, request.limit));
    for (TokenId id : request.request.prompt) sequence->counts.add_prompt(id);
  }
  if (options.constraint) {
    if (!tokenizer_) return fail(Error::unsupported, "a constraint needs a tokenizer");
    MUMMU_TRY(sequence->constraint, options.constraint(*tokenizer_));
    if (!sequence->constraint) return fail(Error::invalid, "the constraint's factory made none");
  }
  return sequence;
}

// Room in everything that has a place per live sequence.
void Engine::Impl::reserve_live(size_t more) {
  const size_t needed = live_.size() + more;
  if (needed > live_.capacity()) live_.reserve(std::max(needed, 2 * live_.capacity()));
  report_choices_.reserve(live_.capacity());
  scheduler_->reserve(static_cast<int64_t>(live_.capacity()));
}

}  // namespace mummu
