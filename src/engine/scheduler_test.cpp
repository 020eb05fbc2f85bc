// Scheduling, pages and the prefix cache, one promise a test.

#include <gtest/gtest.h>

#include <algorithm>

#include "engine/fake_engine.h"
#include "mummu/generate.h"

namespace mummu::test {
namespace {

constexpr int64_t kVocab = 64, kContext = 512;

std::vector<TokenId> ids_from(TokenId first, int64_t count) {
  std::vector<TokenId> ids(static_cast<size_t>(count));
  for (size_t i = 0; i < ids.size(); ++i)
    ids[i] = static_cast<TokenId>((static_cast<size_t>(first) + i * 5) % kVocab);
  return ids;
}

Request asked(int64_t prompt, int64_t max_tokens, TokenId first = 0, RequestOptions options = {}) {
  options.max_tokens = max_tokens;
  return fake_request(ids_from(first, prompt), std::move(options));
}

std::vector<TokenId> expected(const Request& request, int choice = 0) {
  return expected_ids(request, kVocab, kContext, choice);
}

class Host {
 public:
  explicit Host(EngineOptions options = {}) : fake_({.engine = options, .now_ms = clock()}) {}

  RequestId admit(Request request) { return *fake_.engine.admit(std::move(request)); }
  const StepReport& step() { return **fake_.engine.step(); }

  // What the last step did to a choice; nothing where it did nothing.
  static StepReport::Choice of(const StepReport& report, RequestId id, int choice = 0) {
    for (const StepReport::Choice& each : report.choices)
      if (each.request == id && each.choice == choice) return each;
    return {};
  }

  std::vector<TokenId> take(RequestId id, int choice = 0) {
    std::vector<TokenId> ids;
    while (const Token* token = engine().take(id, choice))
      ids.insert(ids.end(), token->ids.begin(), token->ids.end());
    return ids;
  }

  // Runs everything to its end, taking what this request says.
  Completion finish(RequestId id, int choice = 0) {
    while (!engine().done(id, choice)) {
      take(id, choice);
      if (!engine().done(id, choice)) step();
    }
    return *engine().result(id, choice);
  }

  Completion answer(Request request) { return finish(admit(std::move(request))); }

  Engine& engine() { return fake_.engine; }
  FakeForward& forward() { return *fake_.forward; }
  double now = 0;

 private:
  std::function<double()> clock() {
    return [this] { return now; };
  }

  FakeEngine fake_;
};

TEST(PrefixCache, a_hit_covers_whole_pages_and_never_the_last_prompt_token) {
  for (const int64_t prompt : {1, 15, 16, 17, 31, 32, 33, 48, 64}) {
    Host host;
    const Request request = asked(prompt, 3);
    EXPECT_EQ(host.answer(request).usage.cached_tokens, 0);
    host.forward().rows = 0;
    const Completion again = host.answer(request);
    EXPECT_EQ(again.usage.cached_tokens, (prompt - 1) / 16 * 16) << prompt;
    EXPECT_EQ(again.ids, expected(request));
    EXPECT_EQ(host.forward().rows, prompt - again.usage.cached_tokens + 2);
  }
}

TEST(PrefixCache, a_growing_conversation_finds_everything_up_to_the_last_full_page) {
  Host host;
  std::vector<TokenId> said = ids_from(3, 20);
  int64_t computed = 0;  // positions that the turns before have computed
  for (int turn = 0; turn < 6; ++turn) {
    const Request request = fake_request(said, {.max_tokens = 13});
    const Completion done = host.answer(request);
    EXPECT_EQ(done.ids, expected(request));
    EXPECT_EQ(done.usage.cached_tokens, computed / 16 * 16);
    said.insert(said.end(), done.ids.begin(), done.ids.end());
    computed = std::ssize(said) - 1;  // the last token was told and never computed
    for (TokenId id : ids_from(static_cast<TokenId>(turn), 7)) said.push_back(id);
  }
}

TEST(PrefixCache, the_full_pages_of_a_cancelled_prefill_are_found) {
  Host host({.step_tokens = 20});
  const Request request = asked(100, 4);
  const RequestId cancelled = host.admit(request);
  host.step();
  host.step();  // 40 of 100
  host.engine().cancel(cancelled);
  EXPECT_EQ(host.answer(request).usage.cached_tokens, 32);
}

TEST(PrefixCache, the_least_recently_used_prefix_goes_first_and_its_end_before_its_beginning) {
  Host host({.kv_tokens = 16 * 8, .max_sequences = 4});
  const Request a = asked(49, 1, 0), b = asked(49, 1, 11);
  host.answer(a);                 // three full pages
  host.answer(b);                 // three more; two are free
  host.answer(a);                 // b is now the older one
  host.answer(asked(60, 1, 23));  // takes four pages: the two free ones, and two of b's
  EXPECT_EQ(host.answer(a).usage.cached_tokens, 48);
  const RequestId probe = host.admit(b);
  const StepReport::Choice started = Host::of(host.step(), probe);
  EXPECT_EQ(started.cached_tokens, 16) << "of b the first page is left";
}

TEST(PrefixCache, prompt_logprobs_neither_find_nor_count_pages) {
  Host host;
  const Request plain = asked(50, 4);
  host.answer(plain);
  Request scored = plain;
  scored.options.prompt_logprobs = true;
  const Completion done = host.answer(scored);
  EXPECT_EQ(done.usage.cached_tokens, 0);
  EXPECT_EQ(done.ids, expected(plain));
  Host fresh;
  const Completion alone = fresh.answer(scored);
  ASSERT_EQ(done.prompt_logprobs.size(), 49u);
  for (size_t i = 0; i < 49; ++i) {
    EXPECT_EQ(done.prompt_logprobs[i].id, scored.prompt[i + 1]);
    EXPECT_EQ(done.prompt_logprobs[i].logprob, alone.prompt_logprobs[i].logprob);
  }
}

TEST(Choices, share_the_prompts_pages_and_copy_the_last_one_when_they_write) {
  Host host;
  Request request = asked(40, 6, 0, {.temperature = 1});
  request.options.n = 4;
  const RequestId id = host.admit(request);
  const StepReport first = host.step();
  EXPECT_EQ(first.pages_used, 3) << "two full pages and half a page, whoever holds them";
  EXPECT_EQ(host.forward().copies, 0);
  const StepReport second = host.step();
  EXPECT_EQ(second.pages_used, 6);
  EXPECT_EQ(host.forward().copies, 3) << "the last holder writes in place";
  for (int choice = 0; choice < 4; ++choice)
    EXPECT_EQ(host.finish(id, choice).ids, expected(request, choice));
  EXPECT_EQ(host.step().pages_used, 0);
}

TEST(Choices, the_first_of_n_is_the_answer_of_n_1) {
  Host host;
  Request request = asked(33, 12, 5, {.temperature = 0.9F, .seed = 9});
  const Completion alone = host.answer(request);
  request.options.n = 3;
  const RequestId id = host.admit(request);
  const Completion first = host.finish(id);
  EXPECT_EQ(first.ids, alone.ids);
  EXPECT_EQ(first.logits_hash, alone.logits_hash);
  EXPECT_NE(host.finish(id, 1).ids, alone.ids);
}

TEST(Choices, one_that_nobody_takes_stops_only_itself) {
  Host host({.max_pending = 3});
  Request request = asked(20, 30, 0, {.temperature = 1});
  request.options.n = 2;
  const RequestId id = host.admit(request);
  EXPECT_EQ(host.finish(id, 0).ids, expected(request, 0));
  EXPECT_FALSE(host.engine().has_work()) << "the abandoned choice is paused";
  EXPECT_EQ(host.step().paused, 1);
  EXPECT_EQ(host.finish(id, 1).ids, expected(request, 1)) << "and goes on when it is taken";
}

// Three running sequences of different rank fill the pool; one more page is needed.
TEST(Preemption, takes_paused_ones_first_then_the_lowest_priority_then_the_newest) {
  const auto victim = [](bool paused, std::vector<int> priorities) {
    Host host({.kv_tokens = 16 * 6, .step_tokens = 64, .prefix_cache = false});
    std::vector<RequestId> ids;
    for (int i = 0; i < 3; ++i)
      ids.push_back(host.admit(asked(i == 0 ? 30 : 20, i == 0 ? 30 : 9, static_cast<TokenId>(i),
                                     {.priority = priorities[static_cast<size_t>(i)]})));
    host.step();
    if (paused) host.engine().pause(ids[1]);
    for (int step = 0; step < 20; ++step) {
      const StepReport& report = host.step();
      for (int i = 0; i < 3; ++i)
        if (Host::of(report, ids[static_cast<size_t>(i)]).preempted) return i;
      for (RequestId id : ids) host.take(id);
    }
    return -1;
  };
  EXPECT_EQ(victim(true, {0, 0, 0}), 1) << "the paused one, though another is newer";
  EXPECT_EQ(victim(false, {0, -1, 0}), 1) << "the lowest priority, though another is newer";
  EXPECT_EQ(victim(false, {0, 0, 0}), 2) << "the newest";
  EXPECT_EQ(victim(true, {0, 1, 0}), 1) << "the paused one, though others have less priority";
}

TEST(Preemption, is_invisible_in_the_answer_and_told_by_the_report) {
  Host host({.kv_tokens = 16 * 6, .prefix_cache = false});
  const Request older = asked(30, 40, 0), newer = asked(30, 40, 7, {.temperature = 1});
  const RequestId a = host.admit(older), b = host.admit(newer);
  int64_t preempted = 0;
  std::vector<TokenId> told_a, told_b;
  while (host.engine().has_work()) {
    const StepReport& report = host.step();
    EXPECT_FALSE(Host::of(report, a).preempted);
    preempted += Host::of(report, b).preempted;
    for (TokenId id : host.take(a)) told_a.push_back(id);
    for (TokenId id : host.take(b)) told_b.push_back(id);
  }
  EXPECT_GE(preempted, 1);
  EXPECT_EQ(told_a, expected(older));
  EXPECT_EQ(told_b, expected(newer)) << "nothing is told twice, nothing is left out";
}

TEST(Preemption, of_choices_that_share_pages_gives_all_of_these_pages_to_who_waits) {
  Host host({.kv_tokens = 16 * 4, .prefix_cache = false});
  Request sharing = asked(40, 10, 0, {.temperature = 1});
  sharing.options.n = 3;
  const RequestId id = host.admit(sharing);
  host.step();
  host.engine().pause(id);
  const Request request = asked(40, 4, 9);
  EXPECT_EQ(host.answer(request).ids, expected(request)) << "paused ones hold nobody up";
  host.engine().resume(id);
  for (int choice = 0; choice < 3; ++choice)
    EXPECT_EQ(host.finish(id, choice).ids, expected(sharing, choice));
}

TEST(Preemption, leaves_the_last_holder_of_a_page_what_it_needs_no_copy_of) {
  Host host({.kv_tokens = 16 * 3, .prefix_cache = false});
  Request request = asked(40, 8, 0, {.temperature = 1});
  request.options.n = 3;
  const RequestId id = host.admit(request);
  host.step();
  EXPECT_EQ(Host::of(host.step(), id, 0).computed, 1) << "the others give way";
  EXPECT_EQ(host.forward().copies, 0);
  for (int choice = 0; choice < 3; ++choice)
    EXPECT_EQ(host.finish(id, choice).ids, expected(request, choice));
}

TEST(Waiting, is_first_come_first_served_within_a_priority) {
  Host host({.max_sequences = 1});
  const RequestId first = host.admit(asked(5, 3));
  host.step();
  const RequestId second = host.admit(asked(5, 2, 1)), third = host.admit(asked(5, 2, 2));
  const RequestId urgent = host.admit(asked(5, 2, 3, {.priority = 1}));
  std::vector<RequestId> ended;
  while (host.engine().has_work())
    for (const StepReport::Choice& choice : host.step().choices)
      if (choice.finish != Finish::none) ended.push_back(choice.request);
  EXPECT_EQ(ended, (std::vector<RequestId>{urgent, first, second, third}));
}

TEST(Waiting, a_request_that_has_not_started_by_its_deadline_ends_as_busy) {
  Host host({.max_sequences = 1});
  host.admit(asked(5, 100));
  const RequestId late = host.admit(asked(5, 5, 1, {.deadline_ms = 50}));
  host.now = 50;
  EXPECT_EQ(Host::of(host.step(), late).finish, Finish::none);
  host.now = 51;
  EXPECT_EQ(Host::of(host.step(), late).finish, Finish::error);
  const Completion done = host.finish(late);
  EXPECT_EQ(done.error.code, Error::busy);
  EXPECT_TRUE(done.ids.empty());
}

TEST(Waiting, a_deadline_does_not_end_choices_whose_request_has_started) {
  Host host({.step_tokens = 16});
  Request request = asked(40, 5, 0, {.temperature = 1, .deadline_ms = 10});
  request.options.n = 2;
  const RequestId id = host.admit(request);
  host.step();
  host.now = 100;
  EXPECT_EQ(host.finish(id, 0).ids, expected(request, 0));
  EXPECT_EQ(host.finish(id, 1).ids, expected(request, 1));
}

TEST(Waiting, cancelling_a_request_that_waits_ends_it_and_lets_the_next_one_start) {
  Host host({.max_sequences = 1, .max_waiting = 2});
  const RequestId running = host.admit(asked(5, 4));
  host.step();
  const RequestId waiting = host.admit(asked(5, 4, 1));
  const Request last = asked(5, 4, 2);
  const RequestId behind = host.admit(last);
  EXPECT_EQ(host.engine().admit(last).error().code, Error::busy);
  host.engine().cancel(waiting);
  EXPECT_EQ(host.finish(waiting).finish, Finish::cancelled);
  EXPECT_TRUE(host.engine().admit(last)) << "its place in the queue is free";
  host.finish(running);
  EXPECT_EQ(host.finish(behind).ids, expected(last));
}

TEST(Steps, never_compute_more_sequences_together_than_max_sequences) {
  Host host({.max_sequences = 2, .step_tokens = 64});
  Request request = asked(20, 8, 0, {.temperature = 1});
  request.options.n = 4;
  const RequestId id = host.admit(request);
  const RequestId other = host.admit(asked(5, 8, 9));
  while (host.engine().has_work()) EXPECT_LE(host.step().sequences, 2);
  for (int choice = 0; choice < 4; ++choice)
    EXPECT_EQ(host.finish(id, choice).ids, expected(request, choice));
  EXPECT_EQ(host.finish(other).ids.size(), 8u);
}

TEST(Steps, a_long_prompt_comes_in_chunks_between_which_others_go_on) {
  Host host({.step_tokens = 32});
  const Request neighbour = asked(5, 30), prompt = asked(200, 3, 1);
  const RequestId a = host.admit(neighbour);
  host.step();
  const RequestId b = host.admit(prompt);
  for (int step = 0; step < 6; ++step) {
    const StepReport& report = host.step();
    EXPECT_EQ(Host::of(report, a).computed, 1);
    EXPECT_EQ(Host::of(report, b).computed, 31);
    EXPECT_EQ(report.tokens, 32);
    EXPECT_EQ(report.sequences, 2);
  }
  EXPECT_EQ(host.finish(a).ids, expected(neighbour));
  EXPECT_EQ(host.finish(b).ids, expected(prompt));
}

TEST(Steps, a_stop_token_in_the_middle_of_a_step_stops_it_when_it_was_the_last_one) {
  Host host;
  std::stop_source stop;
  const RequestId id = host.admit(asked(40, 10, 0, {.cancel = stop.get_token()}));
  host.forward().during_run = [&] { stop.request_stop(); };
  const StepReport report = host.step();
  EXPECT_EQ(report.tokens, 0) << "the forward gave up between layers";
  EXPECT_EQ(report.pages_used, 0);
  EXPECT_EQ(host.finish(id).finish, Finish::cancelled);
  host.forward().during_run = {};
  const Request request = asked(40, 10);
  EXPECT_EQ(host.answer(request).ids, expected(request)) << "no page of that step is trusted";
}

TEST(Steps, a_stop_token_in_the_middle_of_a_step_lets_the_others_of_the_step_finish_it) {
  Host host;
  std::stop_source stop;
  const RequestId leaving = host.admit(asked(40, 10, 0, {.cancel = stop.get_token()}));
  const Request request = asked(20, 10, 3);
  const RequestId staying = host.admit(request);
  host.forward().during_run = [&] { stop.request_stop(); };
  const StepReport report = host.step();
  EXPECT_EQ(report.tokens, 60);
  EXPECT_EQ(host.finish(staying).ids, expected(request));
  const Completion left = host.finish(leaving);
  EXPECT_EQ(left.finish, Finish::cancelled);
  EXPECT_LE(left.ids.size(), 1u);
}

TEST(Steps, an_idle_engine_reports_nothing) {
  Host host;
  const StepReport before = host.step();
  EXPECT_EQ(before.tokens + before.sequences + before.running + before.pages_used, 0);
  host.answer(asked(20, 3));
  const StepReport after = host.step();
  EXPECT_EQ(after.tokens + after.sequences + after.running + after.pages_used, 0);
  EXPECT_TRUE(after.choices.empty());
  EXPECT_FALSE(host.engine().has_work());
}

TEST(Pausing, keeps_the_pages_and_computes_nothing_until_it_ends) {
  Host host;
  const Request request = asked(40, 10);
  const RequestId id = host.admit(request);
  host.step();
  host.engine().pause(id);
  EXPECT_FALSE(host.engine().has_work());
  const StepReport paused = host.step();
  EXPECT_EQ(paused.paused, 1);
  EXPECT_EQ(paused.tokens, 0);
  EXPECT_EQ(paused.pages_used, 3);
  host.engine().resume(id);
  const StepReport resumed = host.step();
  EXPECT_EQ(resumed.tokens, 1) << "nothing is computed again";
  EXPECT_EQ(host.finish(id).ids, expected(request));
}

TEST(Pausing, from_a_callback_another_request_can_be_paused_and_resumed) {
  Host host;
  const Request mine = asked(5, 12), theirs = asked(9, 12, 3);
  const RequestId other = host.admit(theirs);
  int64_t events = 0;
  std::vector<TokenId> told;
  const auto done = generate(host.engine(), mine, [&](const Token&) {
    if (++events == 3) host.engine().pause(other);
    if (events > 3 && events < 9) {
      const auto ids = host.take(other);
      if (events > 4) {
        EXPECT_TRUE(ids.empty());
      }
      told.insert(told.end(), ids.begin(), ids.end());
    }
    if (events == 9) host.engine().resume(other);
    return Flow::go_on;
  });
  ASSERT_TRUE(done);
  EXPECT_EQ(done->ids, expected(mine));
  const Completion ended = host.finish(other);
  EXPECT_EQ(ended.ids, expected(theirs));
}

}  // namespace
}  // namespace mummu::test
