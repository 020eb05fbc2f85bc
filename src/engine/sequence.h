#pragma once

// What the engine keeps of a request and of each of its choices. A choice is one sequence: its
// tokens, three counters (total, cached, scheduled) and a list of pages. Preemption takes the pages
// and nothing else, so whatever was said stays said.

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "engine/output.h"
#include "engine/token_counts.h"
#include "mummu/constraint.h"
#include "mummu/engine.h"
#include "mummu/request.h"

namespace mummu {

struct RequestState;

// An event that nobody has taken yet: where the text, the ids and the log-probabilities of its
// choice end after it.
struct PendingEvent {
  size_t text_end = 0;
  size_t ids_end = 0;
  Finish finish = Finish::none;
};

// Events of one choice, oldest first, in memory that is allocated once.
class EventRing {
 public:
  // Room for `bound` events and the last one.
  void reserve(int64_t bound) { events_.resize(static_cast<size_t>(bound) + 1); }
  size_t size() const { return size_; }
  void push(PendingEvent event) { events_[(first_ + size_++) % events_.size()] = event; }
  PendingEvent pop() {
    PendingEvent event = events_[first_];
    first_ = (first_ + 1) % events_.size();
    --size_;
    return event;
  }
  void clear() { size_ = 0; }

 private:
  std::vector<PendingEvent> events_;
  size_t first_ = 0, size_ = 0;
};

enum class Stage { waiting, running, ended };

struct Sequence {
  Sequence(RequestState& owner, int choice_index, Output pipeline)
      : request(&owner), choice(choice_index), output(std::move(pipeline)) {}

  RequestState* request;
  int choice;
  Stage stage = Stage::waiting;
  bool started = false;  // has run at least once

  std::vector<TokenId> tokens;  // prompt, then output; its size is the total
  int64_t cached = 0;           // positions whose keys and values stand in pages
  int64_t scheduled = 0;        // further positions that this step computes
  std::vector<int32_t> pages;   // of positions 0-15, 16-31, ...
  int64_t known_pages = 0;      // leading pages that the prefix cache knows
  uint64_t last_step = 0;       // that computed something of it

  int64_t prompt_scored = 0;  // prompt tokens, from the second on, whose log-probability is known
  Output output;
  TokenCounts counts;  // empty: no penalties
  std::unique_ptr<Constraint> constraint;
  Completion completion;
  std::vector<TokenLogprob> spare_logprobs;  // with room for their alternatives
  EventRing events;
  size_t taken_text = 0, taken_ids = 0;  // what taken events have told
  bool cut = false;                      // a stop text has ended the text: nothing comes after it
  bool told_all = false;                 // the last event has been taken
  bool forgotten = false;                // so has the result

  StepReport::Choice note;  // of the step in progress
  bool noted = false;
  size_t note_text = 0, note_ids = 0;  // where this step's text and ids begin
  int64_t first_wanted = 0;            // its first row of logits in this step
  int64_t wanted = 0;

  int64_t total() const { return static_cast<int64_t>(tokens.size()); }
  int64_t need() const { return total() - cached; }
  // Whether stop texts count: the answer has min_tokens.
  bool may_stop() const;
  int64_t generated() const { return static_cast<int64_t>(completion.ids.size()); }
};

// Tells the engine that a stop_token was triggered. The request's thread may be any.
class CancelWatch {
 public:
  // One step in progress: how many of its requests nobody has cancelled. When none is left, `stop`
  // makes the forward give up between layers.
  struct Live {
    std::atomic<int64_t> requests = 0;
    std::atomic<bool> stop = false;
  };

  CancelWatch(const std::stop_token& token, Live& live)
      : callback_(token, Callback{&state_, &live}) {}

  bool cancelled() const { return state_.load() == kCancelled; }
  void enter_step(Live& live) {
    int idle = kIdle;
    live.requests.fetch_add(1);
    if (!state_.compare_exchange_strong(idle, kInStep)) leave(live);
  }
  void leave_step() {
    int in_step = kInStep;
    state_.compare_exchange_strong(in_step, kIdle);
  }

 private:
  static constexpr int kIdle = 0, kInStep = 1, kCancelled = 2;

  static void leave(Live& live) {
    if (live.requests.fetch_sub(1) == 1) live.stop.store(true);
  }

  struct Callback {
    std::atomic<int>* state;
    Live* live;
    void operator()() const noexcept {
      if (state->exchange(kCancelled) == kInStep) leave(*live);
    }
  };

  std::atomic<int> state_ = kIdle;
  std::stop_callback<Callback> callback_;
};

struct RequestState {
  RequestState(RequestId request_id, Request admitted)
      : id(request_id), request(std::move(admitted)), stops(request.options.stop) {}

  RequestId id;
  Request request;
  StopTexts stops;
  std::vector<std::unique_ptr<Sequence>> choices;
  std::optional<CancelWatch> cancel;
  bool paused = false;
  bool prompt_done = false;   // choice 0 has computed the prompt; the others need not wait for it
  double deadline_ms = -1;    // on the engine's clock; -1: none
  int64_t limit = 0;          // tokens a choice may hold in all
  uint64_t entered_step = 0;  // the last step that computed something of it

  const RequestOptions& options() const { return request.options; }
  int64_t prompt_tokens() const { return static_cast<int64_t>(request.prompt.size()); }
};

inline bool Sequence::may_stop() const { return generated() >= request->options().min_tokens; }

// Whether a comes before b where not both can be served: higher priority, then older, then lower
// choice.
inline bool outranks(const Sequence& a, const Sequence& b) {
  const int pa = a.request->options().priority, pb = b.request->options().priority;
  if (pa != pb) return pa > pb;
  if (a.request->id != b.request->id) return a.request->id.value < b.request->id.value;
  return a.choice < b.choice;
}

}  // namespace mummu
