// Scheduling, preemption, waiting and pausing: one promise a test.

#include <gtest/gtest.h>

#include "engine/test/host.h"
#include "mummu/generate.h"

namespace mummu::test {
namespace {

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
