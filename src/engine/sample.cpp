// From logits to tokens: what happens when all of a sequence's tokens have been computed.

#include <algorithm>

#include "base/fail.h"
#include "engine/engine_impl.h"
#include "engine/logits_hash.h"

namespace mummu {

std::span<const float> Engine::Impl::logits_row(int64_t wanted) const {
  return {logits_.get() + wanted * sizes_.columns, static_cast<size_t>(sizes_.columns)};
}

// The log-probabilities of the prompt's tokens that this step's rows tell.
void Engine::Impl::score_prompt(Sequence& sequence) {
  const RequestState& request = *sequence.request;
  if (!request.options().prompt_logprobs) return;
  std::vector<TokenLogprob>& told = sequence.completion.prompt_logprobs;
  for (int64_t i = 0; i < sequence.wanted; ++i) {
    if (sequence.prompt_scored + 1 >= request.prompt_tokens()) return;
    const auto row = logits_row(sequence.first_wanted + i);
    ++sequence.prompt_scored;
    if (!scan_.look(row, false)) return end_not_finite(sequence, sequence.prompt_scored);
    add_logprob(told, sequence, sequence.tokens[static_cast<size_t>(sequence.prompt_scored)], row);
  }
}

void Engine::Impl::end_not_finite(Sequence& sequence, int64_t position) {
  end(sequence, fail(Error::corrupt, "the logits of position {} are not finite numbers", position));
}

// All tokens of a sequence are cached: the next one is picked. The first choice shares its prompt
// with the others, and the logits too.
void Engine::Impl::complete(Sequence& sequence) {
  RequestState& request = *sequence.request;
  const auto row = logits_row(sequence.first_wanted + sequence.wanted - 1);
  if (!request.prompt_done) {
    request.prompt_done = true;
    for (const auto& other : request.choices)
      if (other->stage == Stage::waiting && !other->started) fork(sequence, *other);
    for (const auto& other : request.choices)
      if (other->stage == Stage::running && other.get() != &sequence) sample(*other, row);
  }
  sample(sequence, row);
}

void Engine::Impl::fork(const Sequence& leader, Sequence& sequence) {
  sequence.pages = leader.pages;
  for (int32_t page : sequence.pages) pages_.hold(page);
  sequence.cached = leader.cached;
  sequence.known_pages = leader.known_pages;
  sequence.last_step = leader.last_step;
  sequence.stage = Stage::running;
  sequence.started = true;
  sequence.prompt_scored = leader.prompt_scored;
  sequence.completion.prompt_logprobs = leader.completion.prompt_logprobs;
  sequence.completion.usage.cached_tokens = leader.completion.usage.cached_tokens;
  sequence.note.cached_tokens = leader.note.cached_tokens;
}

void Engine::Impl::sample(Sequence& sequence, std::span<const float> row) {
  if (sequence.request->options().max_tokens == 0) return end(sequence, Finish::length);
  if (!scan_.look(row, false)) return end_not_finite(sequence, sequence.total() - 1);
  sequence.completion.logits_hash = hash_logits(sequence.completion.logits_hash, row);
  const RequestOptions& options = sequence.request->options();
  const auto vocab = static_cast<size_t>(sizes_.vocab);
  const auto edited = editor_.apply(row, sizes_.vocab,
                                    {.options = &options,
                                     .counts = sequence.counts.empty() ? nullptr : &sequence.counts,
                                     .constraint = sequence.constraint.get(),
                                     .ends = end_ids_,
                                     .mask_ends = sequence.generated() < options.min_tokens});
  if ((editor_.changed() || vocab < row.size()) && !scan_.look(edited, true))
    return end(sequence, fail(Error::invalid, "logit_bias or penalties make a logit overflow"));
  const auto id = sampler_.pick(
      edited, scan_, options,
      {.seed = options.seed, .position = sequence.total(), .choice = sequence.choice});
  if (!id && sequence.constraint && sequence.constraint->is_complete())
    return end(sequence, Finish::stop);
  if (!id)
    return end(sequence,
               fail(Error::invalid, "no token is allowed at position {}", sequence.total()));
  accept(sequence, *id, row);
}

bool Engine::Impl::ends_answer(const Sequence& sequence, TokenId id) const {
  const auto among = [id](const std::vector<TokenId>& ids) {
    return std::find(ids.begin(), ids.end(), id) != ids.end();
  };
  const RequestOptions& options = sequence.request->options();
  return (!options.ignore_eos && among(end_ids_)) || among(options.stop_ids);
}

void Engine::Impl::accept(Sequence& sequence, TokenId id, std::span<const float> row) {
  if (ends_answer(sequence, id)) return end(sequence, Finish::stop);
  const RequestOptions& options = sequence.request->options();
  Completion& completion = sequence.completion;
  sequence.tokens.push_back(id);
  completion.ids.push_back(id);
  if (options.logprobs) add_logprob(completion.logprobs, sequence, id, row);
  if (!sequence.counts.empty()) sequence.counts.add_output(id);
  if (sequence.constraint) sequence.constraint->accept(id);
  sequence.cut = sequence.output.push(id, sequence.may_stop(), completion.text);
  if (sequence.cut) return end(sequence, Finish::stop);
  if (sequence.generated() == options.max_tokens) return end(sequence, Finish::length);
  if (sequence.total() == sizes_.context) return end(sequence, Finish::context);
  emit(sequence);
}

void Engine::Impl::add_logprob(std::vector<TokenLogprob>& to, Sequence& sequence, TokenId id,
                               std::span<const float> row) {
  TokenLogprob entry;
  if (!sequence.spare_logprobs.empty()) {
    entry = std::move(sequence.spare_logprobs.back());
    sequence.spare_logprobs.pop_back();
  }
  scan_.look(row, false);
  const RowLogprobs logprobs(row, scan_.highest());
  const int64_t top = std::min(sequence.request->options().top_logprobs, sizes_.vocab);
  if (top > 0) scan_.look(row.first(static_cast<size_t>(sizes_.vocab)), false);
  fill_logprob(entry, id, logprobs, scan_, top);
  to.push_back(std::move(entry));
}

}  // namespace mummu
