#include "engine/test/plain_model.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/allocation_count.h"

namespace mummu::test {
namespace {

constexpr int64_t kPage = 16;

int64_t prompt_tokens(const Request& request) { return std::ssize(request.prompt); }

// Whether what was told so far is what the truth begins with.
testing::AssertionResult begins(const std::vector<TokenId>& truth,
                                const std::vector<TokenId>& told) {
  if (told.size() <= truth.size() && std::equal(told.begin(), told.end(), truth.begin()))
    return testing::AssertionSuccess();
  return testing::AssertionFailure() << testing::PrintToString(told) << " is not how "
                                     << testing::PrintToString(truth) << " begins";
}

void append(std::vector<TokenId>& to, std::span<const TokenId> ids) {
  to.insert(to.end(), ids.begin(), ids.end());
}

}  // namespace

Error::Code PlainModel::expected_refusal(const Request& request) const {
  const int64_t prompt = prompt_tokens(request), answer = request.options.max_tokens;
  if (prompt + 1 > world_.context) return Error::too_long;
  if (std::min(prompt + answer, world_.context) > world_.pages * kPage) return Error::no_memory;
  int64_t waiting = request.options.n;
  for (const Tracked& tracked : tracked_)
    for (const Known& known : tracked.choices) waiting += !known.started && !known.ended;
  return waiting > world_.options.max_waiting ? Error::busy : Error::internal;
}

void PlainModel::admit(Request request, std::stop_source stop) {
  const Error::Code refusal = expected_refusal(request);
  const auto id = world_.engine->admit(request);
  if (!id) {
    ++seen.refused;
    EXPECT_EQ(id.error().code, refusal) << id.error().message;
    return;
  }
  EXPECT_EQ(refusal, Error::internal) << "it should have been refused";
  Tracked& tracked = tracked_.emplace_back(Tracked{.id = *id, .request = request});
  tracked.stop = std::move(stop);
  if (request.options.deadline_ms)
    tracked.deadline = *world_.now + static_cast<double>(*request.options.deadline_ms);
  for (int choice = 0; choice < request.options.n; ++choice)
    tracked.choices.emplace_back().truth = world_.truth(request, choice);
}

Tracked* PlainModel::find(RequestId id) {
  for (Tracked& tracked : tracked_)
    if (tracked.id == id) return &tracked;
  return nullptr;
}

bool PlainModel::is_paused(const Tracked& tracked, const Known& known) const {
  return tracked.paused || known.pending >= world_.options.max_pending;
}

bool PlainModel::is_expired(const Tracked& tracked) const {
  return tracked.deadline >= 0 && *world_.now > tracked.deadline &&
         !tracked.choices.front().started;
}

bool PlainModel::can_move(const Tracked& tracked, const Known& known) const {
  return !known.ended && !tracked.stop.stop_requested() && !is_expired(tracked) &&
         !is_paused(tracked, known);
}

bool PlainModel::any_live() const {
  for (const Tracked& tracked : tracked_)
    for (const Known& known : tracked.choices)
      if (!known.ended) return true;
  return false;
}

int64_t PlainModel::tokens() const {
  int64_t tokens = 0;
  for (const Tracked& tracked : tracked_)
    tokens += (prompt_tokens(tracked.request) + tracked.request.options.max_tokens) *
              tracked.request.options.n;
  return tokens;
}

void PlainModel::step() {
  bool moves = false;
  for (Tracked& tracked : tracked_)
    for (Known& known : tracked.choices) {
      known.stood = is_paused(tracked, known);
      moves |= can_move(tracked, known);
    }
  std::vector<const Known*> unstarted;  // first choices in the order in which they must start
  for (const int priority : {1, 0, -1})
    for (const Tracked& tracked : tracked_) {
      const Known& first = tracked.choices.front();
      if (tracked.request.options.priority == priority && !first.started &&
          can_move(tracked, first))
        unstarted.push_back(&first);
    }
  const StepReport* report = nullptr;
  const int64_t allocated = count_allocations([&] { report = *world_.engine->step(); });
  const bool says_why = std::any_of(  // an error's words
      report->choices.begin(), report->choices.end(),
      [](const StepReport::Choice& choice) { return choice.finish == Finish::error; });
  if (world_.counts_allocations && !says_why) {
    EXPECT_EQ(allocated, 0) << "a step allocates nothing";
  }
  EXPECT_EQ(report->tokens > 0, moves) << "something moves whenever something can";
  for (const StepReport::Choice& choice : report->choices) read_choice(choice);
  seen.crowds += report->sequences > 1;
  for (const Tracked& tracked : tracked_) {
    if (!tracked.stop.stop_requested() && !is_expired(tracked)) continue;
    for (const Known& known : tracked.choices) EXPECT_TRUE(known.ended);
  }
  check_sums(*report);
  check_order(unstarted);
  check_preemption(*report);
  remember_prefixes();
}

void PlainModel::check_sums(const StepReport& report) const {
  int64_t tokens = 0, sequences = 0, live = 0, paused = 0;
  for (const StepReport::Choice& choice : report.choices) {
    tokens += choice.computed;
    sequences += choice.computed > 0;
  }
  for (const Tracked& tracked : tracked_)
    for (const Known& known : tracked.choices) {
      live += !known.ended;
      paused += !known.ended && is_paused(tracked, known);
    }
  EXPECT_EQ(report.tokens, tokens);
  EXPECT_EQ(report.sequences, sequences);
  EXPECT_LE(report.sequences, world_.options.max_sequences);
  if (world_.options.step_tokens > 0) {
    EXPECT_LE(report.tokens, world_.options.step_tokens);
  }
  EXPECT_EQ(report.running + report.waiting + report.paused, live);
  EXPECT_EQ(report.paused, paused);
  EXPECT_EQ(report.pages_used + report.pages_free, world_.pages);
}

void PlainModel::read_choice(const StepReport::Choice& choice) {
  Tracked* tracked = find(choice.request);
  ASSERT_NE(tracked, nullptr);
  Known& known = tracked->choices[static_cast<size_t>(choice.choice)];
  ASSERT_FALSE(known.ended) << "the report tells of a choice that has ended";
  seen.preempted += choice.preempted;
  seen.cached += choice.cached_tokens > 0;
  if (world_.roomy) {
    EXPECT_FALSE(choice.preempted);
  }
  follow_pages(*tracked, known, choice);
  append(known.told, choice.ids);
  EXPECT_TRUE(begins(known.truth.ids, known.told));
  known.pending += choice.generated;
  known.finish = choice.finish;
  known.ended = choice.finish != Finish::none;
  if (known.finish == Finish::error) {
    ++seen.expired;
    EXPECT_TRUE(is_expired(*tracked)) << "only a deadline ends with an error here";
    EXPECT_TRUE(known.told.empty());
  }
  if (known.finish == Finish::cancelled) {
    ++seen.stopped;
    EXPECT_TRUE(tracked->stop.stop_requested());
  }
}

// Where a choice stands after the step: it lost its pages, got some, or shares those of the first.
void PlainModel::follow_pages(const Tracked& tracked, Known& known,
                              const StepReport::Choice& choice) const {
  const bool broken_off = choice.finish == Finish::error || choice.finish == Finish::cancelled;
  if (broken_off && choice.computed == 0) return;
  if (choice.preempted) {
    known.position = 0;
    known.placed = false;
  }
  if (!known.placed && choice.computed == 0 && choice.generated > 0) {
    known.position = tracked.choices[0].position;  // it forks
  } else {
    if (!known.placed && !known.started && !choice.preempted) check_start(tracked, choice);
    known.position += choice.cached_tokens + choice.computed;
  }
  known.placed |= !choice.preempted || choice.computed > 0;
  known.started |= choice.computed > 0 || choice.generated > 0;
}

// A first choice that gets its first pages: which tokens it found.
void PlainModel::check_start(const Tracked& tracked, const StepReport::Choice& choice) const {
  EXPECT_EQ(choice.cached_tokens % kPage, 0);
  EXPECT_LT(choice.cached_tokens, prompt_tokens(tracked.request));
  if (!world_.options.prefix_cache || tracked.request.options.prompt_logprobs) {
    EXPECT_EQ(choice.cached_tokens, 0);
  } else if (world_.roomy) {
    EXPECT_EQ(choice.cached_tokens, known_prefix(tracked)) << "all that was computed is found";
  }
}

// The most prompt tokens that may be found: whole pages, never the last token.
int64_t PlainModel::known_prefix(const Tracked& tracked) const {
  const auto& prompt = tracked.request.prompt;
  int64_t found = 0;
  for (int64_t end = kPage; end < std::ssize(prompt); end += kPage) {
    if (!prefixes_.contains({prompt.begin(), prompt.begin() + end})) break;
    found = end;
  }
  return found;
}

void PlainModel::remember_prefixes() {
  if (!world_.roomy) return;
  for (const Tracked& tracked : tracked_)
    for (const Known& known : tracked.choices) {
      std::vector<TokenId> all = tracked.request.prompt;
      append(all, known.told);
      for (int64_t end = kPage; end <= std::min(known.position, std::ssize(all)); end += kPage)
        prefixes_.insert({all.begin(), all.begin() + end});
    }
}

// Nobody starts before one that outranks it and could move.
void PlainModel::check_order(const std::vector<const Known*>& unstarted) const {
  bool all_before = true;
  if (world_.scores) return;  // rows with logits may run out, and those that need none go on
  for (const Known* known : unstarted) {
    if (known->started) {
      EXPECT_TRUE(all_before) << "it started before one that outranks it";
    }
    all_before &= known->started || known->ended;
  }
}

// Whoever loses its pages unpaused outranks nobody who is computed in that step.
void PlainModel::check_preemption(const StepReport& report) const {
  const auto rank = [&](const StepReport::Choice& choice) {
    for (const Tracked& tracked : tracked_)
      if (tracked.id == choice.request)
        return std::tuple(-tracked.request.options.priority, choice.request.value, choice.choice);
    return std::tuple(0, uint64_t{0}, 0);
  };
  for (const StepReport::Choice& victim : report.choices) {
    if (!victim.preempted || victim.finish != Finish::none) continue;
    const auto tracked = std::find_if(tracked_.begin(), tracked_.end(),
                                      [&](const Tracked& one) { return one.id == victim.request; });
    if (tracked->choices[static_cast<size_t>(victim.choice)].stood) continue;
    for (const StepReport::Choice& other : report.choices)
      if (other.computed > 0) {
        EXPECT_LE(rank(other), rank(victim));
      }
  }
}

void PlainModel::take(size_t request, int choice) {
  Tracked& tracked = tracked_[request];
  Known& known = tracked.choices[static_cast<size_t>(choice)];
  const Token* token = world_.engine->take(tracked.id, choice);
  EXPECT_EQ(token != nullptr, known.pending > 0);
  if (!token) return;
  --known.pending;
  append(known.taken, token->ids);
  EXPECT_TRUE(begins(known.told, known.taken));
  if (token->finish != Finish::none) {
    EXPECT_EQ(token->finish, known.finish);
  }
}

void PlainModel::take_all() {
  for (size_t i = 0; i < tracked_.size(); ++i)
    for (int choice = 0; choice < std::ssize(tracked_[i].choices); ++choice)
      while (tracked_[i].choices[static_cast<size_t>(choice)].pending > 0) take(i, choice);
}

void PlainModel::set_paused(size_t request, bool paused) {
  tracked_[request].paused = paused;
  paused ? world_.engine->pause(tracked_[request].id) : world_.engine->resume(tracked_[request].id);
}

void PlainModel::cancel(size_t request) {
  Tracked& tracked = tracked_[request];
  world_.engine->cancel(tracked.id);
  for (Known& known : tracked.choices) {
    if (known.ended) continue;
    known.ended = true;
    known.finish = Finish::cancelled;
    ++known.pending;
  }
}

void PlainModel::stop(size_t request) { tracked_[request].stop.request_stop(); }

void PlainModel::check_result(Tracked& tracked, int choice) {
  const Known& known = tracked.choices[static_cast<size_t>(choice)];
  EXPECT_TRUE(world_.engine->done(tracked.id, choice));
  const auto done = world_.engine->result(tracked.id, choice);
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(done->finish, known.finish);
  EXPECT_EQ(done->ids, known.taken);
  EXPECT_EQ(done->ids, known.told);
  EXPECT_EQ(done->usage.prompt_tokens, prompt_tokens(tracked.request));
  if (known.finish == Finish::error) {
    EXPECT_EQ(done->error.code, Error::busy);
  }
  if (known.finish == Finish::error || known.finish == Finish::cancelled) return;
  EXPECT_EQ(done->finish, known.truth.finish);
  EXPECT_EQ(done->ids, known.truth.ids);
  if (known.truth.logits_hash != 0) {
    EXPECT_EQ(done->logits_hash, known.truth.logits_hash);
  }
  if (tracked.request.options.prompt_logprobs) {
    EXPECT_EQ(std::ssize(done->prompt_logprobs), prompt_tokens(tracked.request) - 1);
  }
}

void PlainModel::finish() {
  for (Tracked& tracked : tracked_)
    for (int choice = 0; choice < std::ssize(tracked.choices); ++choice)
      check_result(tracked, choice);
}

}  // namespace mummu::test
