// The prefix cache, and choices that share their prompt's pages: one promise a test.

#include <gtest/gtest.h>

#include "engine/test/host.h"

namespace mummu::test {
namespace {

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

}  // namespace
}  // namespace mummu::test
