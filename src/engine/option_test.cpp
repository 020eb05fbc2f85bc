// Each field of a request through a whole engine over a fake model: what it does, that it does
// nothing at its default, and that neither preemption nor company changes it.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "engine/fake_engine.h"
#include "engine/preempted_answer.h"
#include "engine/tiny_tokenizer.h"
#include "mummu/generate.h"

namespace mummu::test {
namespace {

constexpr int64_t kVocab = 64;

// 64 tokens of one to three letters; any text of theirs can be cut in many ways.
const Tokenizer& letters() {
  static const Tokenizer tokenizer = [] {
    std::vector<std::string> tokens;
    for (int i = 0; i < kVocab; ++i) {
      std::string text(1, static_cast<char>('a' + i % 5));
      if (i % 3 > 0) text += static_cast<char>('a' + i / 5 % 5);
      if (i % 3 > 1) text += static_cast<char>('a' + i / 25);
      tokens.push_back(text);
    }
    return tiny_tokenizer(tokens);
  }();
  return tokenizer;
}

std::vector<TokenId> prompt_of(int64_t tokens, TokenId first = 3) {
  std::vector<TokenId> ids(static_cast<size_t>(tokens));
  for (size_t i = 0; i < ids.size(); ++i)
    ids[i] = (first + static_cast<TokenId>(i) * 11) % static_cast<TokenId>(kVocab);
  return ids;
}

FakeOptions with_text(EngineOptions options = {}) {
  return {.vocab = kVocab, .engine = options, .tokenizer = &letters()};
}

Completion answer(const Request& request, FakeOptions options = with_text()) {
  FakeEngine fake(std::move(options));
  auto done = generate(fake.engine, request);
  EXPECT_TRUE(done) << done.error().message;
  return done ? *done : Completion{};
}

void expect_same(const Completion& a, const Completion& b) {
  EXPECT_EQ(a.ids, b.ids);
  EXPECT_EQ(a.text, b.text);
  EXPECT_EQ(a.finish, b.finish);
  EXPECT_EQ(a.logits_hash, b.logits_hash);
}

bool equal(const TokenLogprob& a, const TokenLogprob& b) {
  if (a.id != b.id || a.logprob != b.logprob || a.top.size() != b.top.size()) return false;
  for (size_t i = 0; i < a.top.size(); ++i)
    if (a.top[i].id != b.top[i].id || a.top[i].logprob != b.top[i].logprob) return false;
  return true;
}

TEST(Option, what_asks_for_nothing_leaves_greedy_and_seeded_answers_alone) {
  const RequestOptions greedy{.max_tokens = 60};
  const RequestOptions seeded{.max_tokens = 60, .temperature = 0.8f, .top_p = 0.9f, .seed = 42};
  for (const RequestOptions& plain : {greedy, seeded}) {
    const Completion wanted = answer(fake_request(prompt_of(20), plain));
    ASSERT_EQ(wanted.ids.size(), 60u);
    std::vector<RequestOptions> same(13, plain);
    same[0].top_k = kVocab;
    same[1].min_p = 1e-30f;
    same[2].logit_bias = {{5, 0.0f}};
    same[3].stop = {"zzz"};
    same[4].logprobs = true;
    same[4].top_logprobs = 20;
    same[5].prompt_logprobs = true;
    same[6].ignore_eos = true;
    same[7].min_tokens = 60;
    const std::stop_source nobody_stops;
    same[8].cancel = nobody_stops.get_token();
    same[9].presence_penalty = -0.0f;
    same[10].skip_special = false;
    same[11].priority = 7;
    same[12].deadline_ms = 100000;
    for (size_t i = 0; i < same.size(); ++i) {
      SCOPED_TRACE(i);
      expect_same(answer(fake_request(prompt_of(20), same[i])), wanted);
    }
  }
}

// The answer with penalties and bias, by the plain formula.
std::vector<TokenId> penalised_ids(const Request& request) {
  const RequestOptions& options = request.options;
  std::vector<TokenId> all = request.prompt, ids;
  std::vector<float> row(kVocab);
  std::map<TokenId, int> output;
  while (static_cast<int64_t>(ids.size()) < options.max_tokens) {
    fake_logits(prefix_hash(all), row);
    for (TokenId id = 0; id < kVocab; ++id) {
      float& x = row[static_cast<size_t>(id)];
      const auto bias = options.logit_bias.find(id);
      if (bias != options.logit_bias.end()) x += bias->second;
      const bool seen = std::find(all.begin(), all.end(), id) != all.end();
      if (seen) x = x > 0 ? x / options.repetition_penalty : x * options.repetition_penalty;
      if (output[id] == 0) continue;
      x -= options.frequency_penalty * static_cast<float>(output[id]);
      x -= options.presence_penalty;
    }
    ids.push_back(static_cast<TokenId>(std::max_element(row.begin(), row.end()) - row.begin()));
    all.push_back(ids.back());
    ++output[ids.back()];
  }
  return ids;
}

Request penalised() {
  return fake_request(prompt_of(20), {.max_tokens = 100,
                                      .repetition_penalty = 1.3f,
                                      .presence_penalty = 0.7f,
                                      .frequency_penalty = 0.4f,
                                      .logit_bias = {{7, 2.5f}, {9, -INFINITY}}});
}

TEST(Option, penalties_follow_their_formula_over_a_whole_answer) {
  const Request request = penalised();
  const Completion done = answer(request);
  EXPECT_EQ(done.ids, penalised_ids(request));
  EXPECT_NE(done.ids, answer(fake_request(request.prompt, {.max_tokens = 100})).ids);
  EXPECT_EQ(std::count(done.ids.begin(), done.ids.end(), 9), 0);
}

TEST(Option, penalties_survive_preemption) {
  const PreemptedAnswer crowded = answer_preempted(penalised(), with_text());
  EXPECT_GE(crowded.preempted, 3);
  expect_same(crowded.done, answer(penalised()));
}

TEST(Option, a_stop_text_across_a_preemption_is_found_and_nothing_is_told_twice) {
  Request request = fake_request(prompt_of(20), {.max_tokens = 100});
  const Completion whole = answer(request);
  for (const size_t at : {30u, 60u, 90u, 120u}) {
    request.options.stop = {whole.text.substr(at, 7), "zz"};
    const size_t first = whole.text.find(request.options.stop[0]);
    const PreemptedAnswer crowded = answer_preempted(request, with_text());
    EXPECT_GE(crowded.preempted, 1);
    EXPECT_EQ(crowded.done.text, whole.text.substr(0, first));
    EXPECT_EQ(crowded.streamed, crowded.done.text);
    EXPECT_EQ(crowded.done.finish, Finish::stop);
  }
}

TEST(Option, no_event_tells_anything_of_a_stop_text_or_behind_it) {
  Request request = fake_request(prompt_of(33), {.max_tokens = 80});
  const Completion whole = answer(request);
  for (size_t at = 0; at + 5 < whole.text.size(); at += 3) {
    request.options.stop = {whole.text.substr(at, 5)};
    const size_t first = whole.text.find(request.options.stop[0]);
    FakeEngine fake(with_text());
    std::string streamed;
    const auto done = generate(fake.engine, request, [&](const Token& token) {
      streamed += token.text;
      EXPECT_TRUE(whole.text.substr(0, first).starts_with(streamed)) << streamed;
      return Flow::go_on;
    });
    ASSERT_TRUE(done);
    EXPECT_EQ(streamed, whole.text.substr(0, first));
    EXPECT_EQ(done->text, streamed);
    EXPECT_EQ(done->finish, Finish::stop);
  }
}

TEST(Option, what_was_held_back_is_told_at_the_end) {
  Request request = fake_request(prompt_of(20), {.max_tokens = 12});
  const Completion whole = answer(request);
  request.options.stop = {whole.text.substr(whole.text.size() - 3) + "zz"};
  expect_same(answer(request), whole);
}

TEST(Option, stops_count_from_min_tokens_on) {
  Request request = fake_request(prompt_of(20), {.max_tokens = 60});
  const Completion whole = answer(request);
  const std::string first(1, whole.text[0]);
  request.options.stop = {first};
  EXPECT_EQ(answer(request).text, "");
  request.options.min_tokens = 10;
  const Completion done = answer(request);
  EXPECT_GE(done.ids.size(), 10u);
  EXPECT_TRUE(whole.text.starts_with(done.text));
  EXPECT_EQ(done.finish, Finish::stop);
}

TEST(Option, logprobs_are_those_of_the_raw_logits) {
  Request request = penalised();
  request.options.temperature = 1.7f;
  request.options.logprobs = true;
  for (const int64_t top : {0, 1, 20}) {
    request.options.top_logprobs = top;
    const Completion done = answer(request);
    ASSERT_EQ(done.logprobs.size(), done.ids.size());
    std::vector<TokenId> all = request.prompt;
    std::vector<float> row(kVocab);
    for (size_t i = 0; i < done.ids.size(); ++i) {
      fake_logits(prefix_hash(all), row);
      double sum = 0;
      for (const float x : row) sum += std::exp(static_cast<double>(x));
      const auto logprob = [&](TokenId id) {
        return static_cast<double>(row[static_cast<size_t>(id)]) - std::log(sum);
      };
      const TokenLogprob& told = done.logprobs[i];
      ASSERT_EQ(told.id, done.ids[i]);
      // The sum is exact to 2^-45 a token; the result is rounded to f32 once, below 16 in size.
      ASSERT_NEAR(static_cast<double>(told.logprob), logprob(told.id), 0x1p-20);
      ASSERT_EQ(static_cast<int64_t>(told.top.size()), top);
      std::vector<TokenId> order(kVocab);
      for (TokenId id = 0; id < kVocab; ++id) order[static_cast<size_t>(id)] = id;
      std::sort(order.begin(), order.end(),
                [&](TokenId a, TokenId b) { return comes_before(row, a, b); });
      for (size_t k = 0; k < told.top.size(); ++k) {
        ASSERT_EQ(told.top[k].id, order[k]);
        ASSERT_NEAR(static_cast<double>(told.top[k].logprob), logprob(order[k]), 0x1p-20);
      }
      all.push_back(done.ids[i]);
    }
  }
}

TEST(Option, prompt_logprobs_are_the_same_where_the_prompt_is_cached) {
  Request request =
      fake_request(prompt_of(48), {.max_tokens = 5, .top_logprobs = 3, .prompt_logprobs = true});
  const Completion alone = answer(request);
  ASSERT_EQ(alone.prompt_logprobs.size(), 47u);
  FakeEngine fake(with_text());
  const Request plain = fake_request(prompt_of(48), {.max_tokens = 5});
  ASSERT_TRUE(generate(fake.engine, plain));
  EXPECT_EQ(generate(fake.engine, plain)->usage.cached_tokens, 32) << "it would be found";
  const auto done = generate(fake.engine, request);
  ASSERT_TRUE(done);
  EXPECT_EQ(done->usage.cached_tokens, 0);
  expect_same(*done, alone);
  for (size_t i = 0; i < alone.prompt_logprobs.size(); ++i) {
    EXPECT_TRUE(equal(done->prompt_logprobs[i], alone.prompt_logprobs[i])) << i;
    EXPECT_EQ(done->prompt_logprobs[i].id, request.prompt[i + 1]);
  }
}

TEST(Option, max_tokens_0_tells_the_prompts_logprobs_and_nothing_else) {
  const Completion done =
      answer(fake_request(prompt_of(20), {.max_tokens = 0, .prompt_logprobs = true}));
  EXPECT_EQ(done.prompt_logprobs.size(), 19u);
  EXPECT_TRUE(done.ids.empty());
  EXPECT_EQ(done.finish, Finish::length);
}

TEST(Option, echo_puts_the_prompts_text_first_and_stops_do_not_look_there) {
  Request request = fake_request(prompt_of(20), {.max_tokens = 10});
  const Completion plain = answer(request);
  const std::string prompt = *letters().decode(request.prompt);
  request.options.echo = true;
  request.options.stop = {prompt.substr(prompt.size() - 4) + "q", prompt.substr(2, 6) + "q"};
  FakeEngine fake(with_text());
  std::string streamed;
  const auto done = generate(fake.engine, request, [&](const Token& token) {
    EXPECT_TRUE(!streamed.empty() || token.text.starts_with(prompt));
    streamed += token.text;
    return Flow::go_on;
  });
  ASSERT_TRUE(done);
  EXPECT_EQ(done->text, prompt + plain.text);
  EXPECT_EQ(streamed, done->text);
  EXPECT_EQ(done->ids, plain.ids);
  request.options.stop = {prompt.substr(0, 3)};
  EXPECT_TRUE(answer(request).text.starts_with(prompt));
}

TEST(Option, choice_0_of_n_is_the_answer_of_n_1) {
  Request request = fake_request(prompt_of(37), {.max_tokens = 30,
                                                 .temperature = 1,
                                                 .seed = 9,
                                                 .repetition_penalty = 1.2f,
                                                 .stop = {"ddd"},
                                                 .logprobs = true,
                                                 .top_logprobs = 2});
  const Completion one = answer(request);
  for (const int64_t n : {2, 5}) {
    request.options.n = n;
    FakeEngine fake(with_text());
    const auto all = generate_all(fake.engine, request);
    ASSERT_TRUE(all);
    expect_same(all->front(), one);
    for (size_t i = 0; i < one.logprobs.size(); ++i)
      EXPECT_TRUE(equal(all->front().logprobs[i], one.logprobs[i]));
    for (size_t choice = 1; choice < all->size(); ++choice)
      EXPECT_NE((*all)[choice].ids, one.ids) << "another draw";
  }
}

TEST(Option, a_choice_that_nobody_takes_stops_neither_its_siblings_nor_others) {
  for (const int abandoned : {0, 1, 2}) {
    FakeEngine fake(with_text({.max_pending = 4}));
    Request request =
        fake_request(prompt_of(37), {.max_tokens = 40, .temperature = 1, .seed = 9, .n = 3});
    const auto id = *fake.engine.admit(request);
    const Request other = fake_request(prompt_of(25, 8), {.max_tokens = 40});
    const auto second = *fake.engine.admit(other);
    while (fake.engine.has_work()) {
      ASSERT_TRUE(fake.engine.step());
      for (int choice = 0; choice < 3; ++choice)
        while (choice != abandoned && fake.engine.take(id, choice)) continue;
      while (fake.engine.take(second)) continue;
    }
    for (int choice = 0; choice < 3; ++choice) {
      EXPECT_EQ(fake.engine.done(id, choice), choice != abandoned);
      if (choice == abandoned) continue;
      EXPECT_EQ(fake.engine.result(id, choice)->ids, expected_ids(request, kVocab, 512, choice));
    }
    EXPECT_EQ(fake.engine.result(second)->ids, expected_ids(other, kVocab, 512));
    int64_t pending = 0;
    while (fake.engine.take(id, abandoned)) ++pending;
    EXPECT_EQ(pending, 4) << "it stands at its bound";
    run_out(fake.engine);
    EXPECT_GT(fake.forward->runs, 0);
    while (!fake.engine.done(id, abandoned)) {
      ASSERT_TRUE(fake.engine.step());
      while (fake.engine.take(id, abandoned)) continue;
    }
    EXPECT_EQ(fake.engine.result(id, abandoned)->ids, expected_ids(request, kVocab, 512, abandoned))
        << "taken again, it goes on as if nothing had been";
  }
}

TEST(FastPath, logits_are_computed_only_where_a_sample_or_a_logprob_is_wanted) {
  const auto wanted = [](int64_t prompt, const RequestOptions& options) {
    FakeEngine fake({.vocab = kVocab, .engine = {.step_tokens = 16}});
    const auto done = generate_all(fake.engine, fake_request(prompt_of(prompt), options));
    EXPECT_TRUE(done);
    return std::pair{fake.forward->rows, fake.forward->wanted_rows};
  };
  EXPECT_EQ(wanted(40, {.max_tokens = 5}), std::pair(int64_t{44}, int64_t{5}));
  EXPECT_EQ(wanted(40, {.max_tokens = 5, .temperature = 1}), std::pair(int64_t{44}, int64_t{5}));
  EXPECT_EQ(wanted(40, {.max_tokens = 5, .logprobs = true}), std::pair(int64_t{44}, int64_t{5}));
  EXPECT_EQ(wanted(40, {.max_tokens = 5, .prompt_logprobs = true}),
            std::pair(int64_t{44}, int64_t{44}));
  EXPECT_EQ(wanted(40, {.max_tokens = 0, .prompt_logprobs = true}).second, 40);
  EXPECT_EQ(wanted(40, {.max_tokens = 5, .temperature = 1, .n = 3}),
            std::pair(int64_t{52}, int64_t{13}))
      << "the choices share the prompt and its last row";
}

}  // namespace
}  // namespace mummu::test
