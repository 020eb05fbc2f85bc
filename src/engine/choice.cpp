// The life of a choice outside of steps: its events, its end, and what remains of it.

#include <algorithm>

#include "base/fail.h"
#include "engine/engine_impl.h"

namespace mummu {

RequestState* Engine::Impl::find(RequestId id) const {
  const auto found = requests_.find(id.value);
  return found == requests_.end() ? nullptr : found->second.get();
}

Sequence* Engine::Impl::find(RequestId id, int choice) const {
  RequestState* request = find(id);
  if (!request || choice < 0 || choice >= static_cast<int>(request->choices.size())) return nullptr;
  Sequence* sequence = request->choices[static_cast<size_t>(choice)].get();
  return sequence->forgotten ? nullptr : sequence;
}

// Marks a choice as one that this step's report tells about.
void Engine::Impl::note(Sequence& sequence) { sequence.noted = true; }

// An event with what was generated since the last one.
void Engine::Impl::emit(Sequence& sequence) {
  const Completion& completion = sequence.completion;
  sequence.events.push(
      {completion.text.size() - sequence.output.held(), completion.ids.size(), Finish::none});
  ++sequence.note.generated;
  note(sequence);
}

// The last event. What the decoder and the search for stops still hold back is told, unless a stop
// text has cut it.
void Engine::Impl::end(Sequence& sequence, Finish finish) {
  Completion& completion = sequence.completion;
  if (!sequence.cut && sequence.output.finish(sequence.may_stop(), completion.text)) {
    sequence.cut = true;
    if (finish == Finish::length || finish == Finish::context) finish = Finish::stop;
  }
  completion.finish = finish;
  completion.usage.prompt_tokens = sequence.request->prompt_tokens();
  completion.usage.completion_tokens = sequence.generated();
  sequence.stage = Stage::ended;
  if (sequence.choice == 0) sequence.request->prompt_done = true;  // nobody waits for it any more
  pages_.release_all(sequence.pages);
  sequence.scheduled = 0;
  sequence.note.finish = finish;
  sequence.events.push({completion.text.size(), completion.ids.size(), finish});
  ++sequence.note.generated;
  note(sequence);
}

void Engine::Impl::end(Sequence& sequence, Error error) {
  sequence.completion.error = std::move(error);
  end(sequence, Finish::error);
}

void Engine::Impl::drop_ended() {
  std::erase_if(live_, [](const Sequence* sequence) { return sequence->stage == Stage::ended; });
}

const Token* Engine::Impl::take(RequestId id, int choice) {
  Sequence* sequence = find(id, choice);
  if (!sequence || sequence->events.size() == 0) return nullptr;
  const PendingEvent event = sequence->events.pop();
  const Completion& completion = sequence->completion;
  token_ = {};
  token_.choice = choice;
  token_.text = std::string_view(completion.text)
                    .substr(sequence->taken_text, event.text_end - sequence->taken_text);
  const size_t ids = event.ids_end - sequence->taken_ids;
  token_.ids = std::span(completion.ids).subspan(sequence->taken_ids, ids);
  if (!completion.logprobs.empty())
    token_.logprobs = std::span(completion.logprobs).subspan(sequence->taken_ids, ids);
  token_.finish = event.finish;
  sequence->taken_text = event.text_end;
  sequence->taken_ids = event.ids_end;
  sequence->told_all = event.finish != Finish::none;
  return &token_;
}

bool Engine::Impl::done(RequestId id, int choice) const {
  const Sequence* sequence = find(id, choice);
  return !sequence || sequence->told_all;
}

Result<Completion> Engine::Impl::result(RequestId id, int choice) {
  Sequence* sequence = find(id, choice);
  if (!sequence)
    return fail(Error::not_found, "the engine knows no choice {} of request {}", choice, id.value);
  if (!sequence->told_all)
    return fail(Error::invalid,
                "choice {} of request {} has not ended, or its last event was not taken", choice,
                id.value);
  Completion completion = std::move(sequence->completion);
  sequence->forgotten = true;
  const auto& choices = sequence->request->choices;
  if (std::all_of(choices.begin(), choices.end(), [](const auto& c) { return c->forgotten; }))
    requests_.erase(id.value);
  return completion;
}

void Engine::Impl::cancel(RequestId id) {
  RequestState* request = find(id);
  if (!request) return;
  for (const auto& choice : request->choices)
    if (choice->stage != Stage::ended) end(*choice, Finish::cancelled);
  drop_ended();
}

void Engine::Impl::set_paused(RequestId id, bool paused) {
  if (RequestState* request = find(id)) request->paused = paused;
}

void Engine::Impl::forget(RequestId id) {
  cancel(id);
  requests_.erase(id.value);
}

void Engine::Impl::stop_where_taken(RequestId id) {
  RequestState* request = find(id);
  if (!request) return;
  for (const auto& choice : request->choices) {
    Completion& completion = choice->completion;
    if (choice->events.size() > 0 || choice->stage != Stage::ended) {
      completion.text.resize(choice->taken_text);  // bytes that were held back go too
      completion.ids.resize(choice->taken_ids);
      if (!completion.logprobs.empty()) completion.logprobs.resize(choice->taken_ids);
      choice->events.clear();
      choice->cut = true;
      end(*choice, Finish::cancelled);
    }
    choice->events.clear();
    choice->told_all = true;
  }
  drop_ended();
}

void Engine::Impl::fail_all(const Error& error) {
  for (Sequence* sequence : live_) end(*sequence, error);
  drop_ended();
}

}  // namespace mummu
