// One step: schedule, forward, sample, retire.

#include "engine/engine_impl.h"

namespace mummu {

bool Engine::Impl::has_work() const {
  if (!scheduler_) return false;
  for (const Sequence* sequence : live_)
    if (!is_paused(*sequence, sizes_.limits)) return true;
  return false;
}

Result<const StepReport*> Engine::Impl::step() {
  const double started_ms = now_ms_();
  begin_report();
  if (!scheduler_) return end_report(started_ms);
  sweep();
  scheduler_->plan(live_, budget_.tokens(), ++step_);
  make_batch();
  if (!ids_.empty()) {
    MUMMU_TRY(const bool computed, run_forward());
    if (computed) {
      retire_step();
      budget_.learn(report_.tokens, now_ms_() - started_ms);
    } else {
      for (Sequence* sequence : live_) scheduler_->rewind(*sequence);
      sweep();
    }
  }
  return end_report(started_ms);
}

void Engine::Impl::begin_report() {
  report_ = {};
  report_choices_.clear();
  for (Sequence* sequence : live_) {
    sequence->note = {};
    sequence->note.request = sequence->request->id;
    sequence->note.choice = sequence->choice;
    sequence->noted = false;
    sequence->note_text = sequence->completion.text.size() - sequence->output.held();
    sequence->note_ids = sequence->completion.ids.size();
    if (sequence->generated() == 0) sequence->note_text = 0;  // the prompt's text, if it is echoed
  }
}

// Ends what was cancelled from outside, and what has waited too long.
void Engine::Impl::sweep() {
  double now = -1;
  for (Sequence* sequence : live_) {
    const RequestState& request = *sequence->request;
    if (sequence->stage == Stage::ended) continue;
    if (request.cancel && request.cancel->cancelled()) {
      end(*sequence, Finish::cancelled);
    } else if (!request.choices.front()->started && request.deadline_ms >= 0) {
      if (now < 0) now = now_ms_();
      if (now > request.deadline_ms)
        end(*sequence, Error{Error::busy, "not started before its deadline"});
    }
  }
}

void Engine::Impl::make_batch() {
  ids_.clear();
  positions_.clear();
  segments_.clear();
  wanted_.clear();
  for (Sequence* sequence : live_)
    if (sequence->scheduled > 0) add_rows(*sequence);
}

void Engine::Impl::add_rows(Sequence& sequence) {
  const int64_t end = sequence.cached + sequence.scheduled;
  const bool scores = sequence.request->options().prompt_logprobs;
  const int64_t last_scored = sequence.request->prompt_tokens() - 1;
  sequence.first_wanted = static_cast<int64_t>(wanted_.size());
  segments_.push_back({.first_row = static_cast<int64_t>(ids_.size()),
                       .tokens = sequence.scheduled,
                       .position = sequence.cached,
                       .pages = sequence.pages});
  for (int64_t position = sequence.cached; position < end; ++position) {
    const bool scored = scores && position >= sequence.prompt_scored && position < last_scored;
    if (scored || position + 1 == sequence.total())
      wanted_.push_back(static_cast<int32_t>(ids_.size()));
    ids_.push_back(sequence.tokens[static_cast<size_t>(position)]);
    positions_.push_back(static_cast<int32_t>(position));
  }
  sequence.wanted = static_cast<int64_t>(wanted_.size()) - sequence.first_wanted;
  sequence.last_step = step_;
  ++report_.sequences;
}

// Runs the batch; false where everybody in it was cancelled meanwhile.
Result<bool> Engine::Impl::run_forward() {
  watched_.stop.store(false);
  watched_.requests.store(1);
  for (Sequence* sequence : live_) {
    RequestState& request = *sequence->request;
    if (sequence->scheduled == 0 || request.entered_step == step_) continue;
    request.entered_step = step_;
    if (request.cancel)
      request.cancel->enter_step(watched_);
    else
      watched_.requests.fetch_add(1);
  }
  if (watched_.requests.fetch_sub(1) == 1) watched_.stop.store(true);
  const Batch batch = {.ids = ids_,
                       .positions = positions_,
                       .segments = segments_,
                       .wanted = wanted_,
                       .stop = &watched_.stop};
  const auto floats = static_cast<size_t>(sizes_.columns) * wanted_.size();
  auto computed = forward_->run(batch, {logits_.get(), floats});
  for (Sequence* sequence : live_)
    if (sequence->scheduled > 0 && sequence->request->cancel)
      sequence->request->cancel->leave_step();
  if (computed) return true;
  if (computed.error().code == Error::cancelled) return false;
  return std::move(computed).error();
}

void Engine::Impl::retire_step() {
  report_.tokens = static_cast<int64_t>(ids_.size());
  for (Sequence* sequence : live_) {
    if (sequence->scheduled == 0) continue;
    sequence->note.computed = sequence->scheduled;
    note(*sequence);
    score_prompt(*sequence);
    if (sequence->stage == Stage::ended) continue;
    const bool complete_now = sequence->cached + sequence->scheduled == sequence->total();
    scheduler_->settle(*sequence);
    if (complete_now) complete(*sequence);
  }
}

const StepReport* Engine::Impl::end_report(double started_ms) {
  for (Sequence* sequence : live_) {
    if (sequence->noted) {
      const Completion& completion = sequence->completion;
      StepReport::Choice& told = report_choices_.emplace_back(sequence->note);
      const size_t end = completion.text.size() - sequence->output.held();
      if (end > sequence->note_text && told.generated > 0)
        told.text = std::string_view(completion.text)
                        .substr(sequence->note_text, end - sequence->note_text);
      told.ids = std::span(completion.ids).subspan(sequence->note_ids);
      if (!completion.logprobs.empty())
        told.logprobs = std::span(completion.logprobs).subspan(sequence->note_ids);
    }
    if (sequence->stage == Stage::ended) continue;
    if (is_paused(*sequence, sizes_.limits))
      ++report_.paused;
    else if (sequence->stage == Stage::running)
      ++report_.running;
    else
      ++report_.waiting;
  }
  drop_ended();
  report_.choices = report_choices_;
  report_.pages_used = scheduler_ ? pages_.used() : 0;
  report_.pages_free = scheduler_ ? pages_.available() : 0;
  report_.milliseconds = now_ms_() - started_ms;
  return &report_;
}

}  // namespace mummu
