#include <gtest/gtest.h>

#include <numeric>
#include <stdexcept>

#include "engine/fake_engine.h"
#include "mummu/generate.h"

namespace mummu::test {
namespace {

std::vector<TokenId> counting(int64_t count, TokenId first = 0) {
  std::vector<TokenId> ids(static_cast<size_t>(count));
  for (size_t i = 0; i < ids.size(); ++i)
    ids[i] = static_cast<TokenId>((first + static_cast<TokenId>(i) * 7) % 64);
  return ids;
}

Request greedy(int64_t prompt, int64_t max_tokens, TokenId first = 0) {
  return fake_request(counting(prompt, first), {.max_tokens = max_tokens});
}

std::vector<TokenId> expected(const Request& request, int choice = 0, int64_t context = 512) {
  return expected_ids(request, 64, context, choice);
}

TEST(Generate, the_answer_depends_on_every_token_before_it) {
  FakeEngine fake;
  const Request request = greedy(40, 20);
  const auto done = generate(fake.engine, request);
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(done->ids, expected(request));
  EXPECT_EQ(done->finish, Finish::length);
  EXPECT_EQ(done->usage.prompt_tokens, 40);
  EXPECT_EQ(done->usage.completion_tokens, 20);
}

TEST(Generate, stop_from_the_callback_computes_nothing_more) {
  FakeEngine fake;
  std::vector<TokenId> streamed;
  int64_t runs = 0;
  const auto done = generate(fake.engine, greedy(5, 20), [&](const Token& token) {
    streamed.insert(streamed.end(), token.ids.begin(), token.ids.end());
    runs = fake.forward->runs;
    return streamed.size() == 8 ? Flow::stop : Flow::go_on;
  });
  ASSERT_TRUE(done);
  EXPECT_EQ(done->finish, Finish::cancelled);
  EXPECT_EQ(done->ids, streamed);
  EXPECT_EQ(streamed.size(), 8u);
  EXPECT_EQ(fake.forward->runs, runs);
  EXPECT_FALSE(fake.engine.has_work());
}

TEST(Generate, a_stop_with_several_choices_returns_what_was_streamed) {
  FakeEngine fake;
  Request request = greedy(5, 20);
  request.options.temperature = 1;
  request.options.n = 3;
  std::vector<std::vector<TokenId>> streamed(3);
  int64_t events = 0;
  const auto done = generate_all(fake.engine, request, [&](const Token& token) {
    auto& ids = streamed[static_cast<size_t>(token.choice)];
    ids.insert(ids.end(), token.ids.begin(), token.ids.end());
    return ++events == 7 ? Flow::stop : Flow::go_on;
  });
  ASSERT_TRUE(done);
  for (size_t choice = 0; choice < 3; ++choice) {
    EXPECT_EQ((*done)[choice].ids, streamed[choice]);
    EXPECT_EQ((*done)[choice].finish, Finish::cancelled);
  }
}

TEST(Generate, a_throwing_callback_cancels_its_request_and_leaves_the_engine_usable) {
  FakeEngine fake;
  const auto throwing = [](const Token&) -> Flow { throw std::runtime_error("mine"); };
  EXPECT_THROW((void)generate(fake.engine, greedy(5, 20), throwing), std::runtime_error);
  EXPECT_FALSE(fake.engine.has_work());
  const auto report = fake.engine.step();
  ASSERT_TRUE(report);
  EXPECT_EQ((*report)->pages_used, 0);
  const Request request = greedy(5, 20);
  EXPECT_EQ(generate(fake.engine, request)->ids, expected(request));
}

TEST(Generate, a_step_from_inside_a_callback_is_invalid) {
  FakeEngine fake;
  std::vector<Error::Code> codes;
  const Request request = greedy(5, 3);
  const auto done = generate(fake.engine, request, [&](const Token&) {
    codes.push_back(fake.engine.step().error().code);
    codes.push_back(generate(fake.engine, greedy(5, 2)).error().code);
    return Flow::go_on;
  });
  ASSERT_TRUE(done);
  EXPECT_EQ(codes, std::vector<Error::Code>(6, Error::invalid));
  EXPECT_EQ(done->ids, expected(request));
}

TEST(Generate, a_callback_may_admit_and_cancel_others) {
  FakeEngine fake;
  RequestId other;
  const Request mine = greedy(5, 6), theirs = greedy(9, 100, 3);
  const auto done = generate(fake.engine, mine, [&](const Token& token) {
    if (other.value == 0) other = *fake.engine.admit(theirs);
    if (token.finish != Finish::none) fake.engine.cancel(other);
    return Flow::go_on;
  });
  ASSERT_TRUE(done);
  EXPECT_EQ(done->ids, expected(mine));
  std::vector<TokenId> ids;
  Finish finish = Finish::none;
  while (const Token* token = fake.engine.take(other)) {
    ids.insert(ids.end(), token->ids.begin(), token->ids.end());
    finish = token->finish;
  }
  EXPECT_EQ(finish, Finish::cancelled);
  auto whole = expected(theirs);
  whole.resize(ids.size());
  EXPECT_EQ(ids, whole);
  EXPECT_GE(ids.size(), 4u);
}

TEST(Generate, a_request_paused_by_its_callback_is_an_error_not_a_hang) {
  FakeEngine fake;
  const auto done = generate(fake.engine, greedy(5, 6), [&](const Token&) {
    fake.engine.pause(RequestId{1});
    return Flow::go_on;
  });
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, Error::invalid);
}

TEST(Generation, pulling_gives_what_the_callback_gives) {
  FakeEngine fake;
  const Request request = greedy(21, 30);
  std::vector<TokenId> ids;
  Generation generation(fake.engine, request);
  while (const Token* token = generation.next())
    ids.insert(ids.end(), token->ids.begin(), token->ids.end());
  EXPECT_EQ(ids, expected(request));
  const auto done = generation.result();
  ASSERT_TRUE(done);
  EXPECT_EQ(done->ids, ids);
  EXPECT_EQ(generation.result().error().code, Error::not_found);
}

TEST(Generation, several_drive_one_engine_and_advance_together) {
  FakeEngine fake;
  const Request first = greedy(21, 30), second = greedy(33, 30, 5);
  Generation a(fake.engine, first), b(fake.engine, second);
  std::vector<TokenId> ids_a, ids_b;
  bool more = true;
  while (more) {
    const Token* token = a.next();
    more = token != nullptr;
    if (token) ids_a.insert(ids_a.end(), token->ids.begin(), token->ids.end());
    token = b.next();
    more |= token != nullptr;
    if (token) ids_b.insert(ids_b.end(), token->ids.begin(), token->ids.end());
  }
  EXPECT_EQ(ids_a, expected(first));
  EXPECT_EQ(ids_b, expected(second));
  EXPECT_LE(fake.forward->runs, 32);
}

TEST(Generation, destroying_it_returns_its_pages) {
  FakeEngine fake;
  {
    Generation generation(fake.engine, greedy(100, 30));
    ASSERT_NE(generation.next(), nullptr);
  }
  EXPECT_FALSE(fake.engine.has_work());
  EXPECT_EQ((*fake.engine.step())->pages_used, 0);
}

TEST(Generation, an_admit_that_fails_is_told_by_result) {
  FakeEngine fake;
  Generation generation(fake.engine, greedy(600, 30));
  EXPECT_EQ(generation.next(), nullptr);
  EXPECT_EQ(generation.result().error().code, Error::too_long);
}

TEST(Engine, the_answer_ends_where_the_context_ends) {
  FakeEngine fake({.context = 40});
  const Request request = greedy(30, 100);
  const auto done = generate(fake.engine, request);
  ASSERT_TRUE(done);
  EXPECT_EQ(done->finish, Finish::context);
  EXPECT_EQ(done->ids, expected(request, 0, 40));
  EXPECT_EQ(done->ids.size(), 10u);
}

TEST(Engine, end_ids_end_the_answer_and_are_not_part_of_it) {
  const Request plain = greedy(30, 20);
  auto ids = expected(plain);
  const TokenId end = ids[7];
  ids.resize(static_cast<size_t>(std::find(ids.begin(), ids.end(), end) - ids.begin()));
  FakeEngine fake({.end_ids = {end}});
  auto done = generate(fake.engine, plain);
  ASSERT_TRUE(done);
  EXPECT_EQ(done->finish, Finish::stop);
  EXPECT_EQ(done->ids, ids);

  Request ignoring = plain;
  ignoring.options.ignore_eos = true;
  EXPECT_EQ(generate(fake.engine, ignoring)->ids, expected(plain));

  FakeEngine other;
  Request stopping = plain;
  stopping.options.stop_ids = {end};
  done = generate(other.engine, stopping);
  EXPECT_EQ(done->finish, Finish::stop);
  EXPECT_EQ(done->ids, ids);
}

TEST(Engine, min_tokens_keeps_ends_out_of_reach) {
  const Request plain = greedy(30, 20);
  const TokenId end = expected(plain)[2];
  FakeEngine fake({.end_ids = {end}});
  Request request = plain;
  request.options.min_tokens = 12;
  const auto done = generate(fake.engine, request);
  ASSERT_TRUE(done);
  ASSERT_GE(done->ids.size(), 12u);
  for (size_t i = 0; i < 12; ++i) EXPECT_NE(done->ids[i], end);
}

TEST(Engine, non_finite_logits_end_the_sequence_with_an_error_and_leave_others_alone) {
  FakeEngine fake;
  const Request bad = greedy(5, 20), good = greedy(9, 20, 3);
  const RequestId a = *fake.engine.admit(bad), b = *fake.engine.admit(good);
  int64_t rows = 0;
  fake.forward->edit_row = [&](std::span<float> row) {
    if (++rows == 7) row[3] = std::numeric_limits<float>::quiet_NaN();
  };
  run_out(fake.engine);
  while (fake.engine.take(a)) continue;
  while (fake.engine.take(b)) continue;
  const auto failed = fake.engine.result(a);
  ASSERT_TRUE(failed);
  EXPECT_EQ(failed->finish, Finish::error);
  EXPECT_EQ(failed->error.code, Error::corrupt);
  EXPECT_EQ(fake.engine.result(b)->ids, expected(good));
}

TEST(Engine, a_lost_device_ends_everything) {
  FakeEngine fake;
  const RequestId id = *fake.engine.admit(greedy(5, 20));
  ASSERT_TRUE(fake.engine.step());
  fake.forward->outcome = []() -> Result<void> { return Error{Error::device_lost, "gone"}; };
  EXPECT_EQ(fake.engine.step().error().code, Error::device_lost);
  EXPECT_FALSE(fake.engine.has_work());
  while (fake.engine.take(id)) continue;
  EXPECT_EQ(fake.engine.result(id)->error.code, Error::device_lost);
}

TEST(Engine, what_can_never_fit_is_refused_with_the_numbers) {
  FakeEngine fake({.engine = {.kv_tokens = 64}});
  const auto long_answer = fake.engine.admit(greedy(30, 100));
  ASSERT_FALSE(long_answer);
  EXPECT_EQ(long_answer.error().code, Error::no_memory);
  EXPECT_NE(long_answer.error().message.find("130"), std::string::npos);
  EXPECT_NE(long_answer.error().message.find("64"), std::string::npos);
  const auto long_prompt = fake.engine.admit(greedy(512, 1));
  EXPECT_EQ(long_prompt.error().code, Error::too_long);
  EXPECT_NE(long_prompt.error().message.find("512"), std::string::npos);
}

TEST(Engine, a_full_queue_is_busy) {
  FakeEngine fake({.engine = {.max_waiting = 3}});
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(fake.engine.admit(greedy(5, 5)));
  EXPECT_EQ(fake.engine.admit(greedy(5, 5)).error().code, Error::busy);
  ASSERT_TRUE(fake.engine.step());
  EXPECT_TRUE(fake.engine.admit(greedy(5, 5)));
}

}  // namespace
}  // namespace mummu::test
