// JSON mode through a whole engine, over a fake model that says anything.

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "engine/json_machine.h"
#include "engine/preempted_answer.h"
#include "engine/tiny_tokenizer.h"
#include "mummu/generate.h"
#include "mummu/json_mode.h"

namespace mummu::test {
namespace {

constexpr TokenId kEnd = 63;

// What an object is made of, some of it in pieces that span structure, and an end.
const Tokenizer& pieces() {
  static const Tokenizer tokenizer = [] {
    std::vector<std::string> tokens = {
        "{",    "}",    "[",     "]",     "\"",     ":",  ",",    " ",    "\n",   "\"}",
        "\":",  "\",",  "{\"",   "}}",    "]}",     "0",  "1",    "-",    ".5",   "e",
        "true", "null", "false", "\\",    "u",      "dc", "\xc3", "\xa9", "\xe2", "\x82\xac",
        "a",    "key",  "\": ",  "\"},{", "\":{\"", "}]", "  ",   ",\""};
    while (tokens.size() < kEnd)
      tokens.push_back("\"" + std::string(1, "abc}]"[tokens.size() % 5]));
    tokens.push_back("<end>");
    return tiny_tokenizer(tokens, {kEnd});
  }();
  return tokenizer;
}

const JsonMode& mode() {
  static const JsonMode made = *JsonMode::make(pieces());
  return made;
}

FakeOptions engine_options() { return {.vocab = 64, .end_ids = {kEnd}, .tokenizer = &pieces()}; }

Request wild(uint64_t seed, RequestOptions options = {}) {
  options.temperature = 2;
  options.seed = seed;
  options.constraint = mode().constraint();
  return fake_request({1, 2, 3}, std::move(options));
}

bool is_object(const std::string& text) {
  return nlohmann::json::parse(text, nullptr, false).is_object();
}

TEST(JsonAnswer, one_that_ends_by_itself_is_an_object_and_one_that_is_cut_its_beginning) {
  int64_t stopped = 0, cut = 0;
  for (uint64_t seed = 0; seed < 400; ++seed) {
    FakeEngine fake(engine_options());
    const auto done = generate(fake.engine, wild(seed, {.max_tokens = 40}));
    ASSERT_TRUE(done) << done.error().message;
    JsonState state;
    for (const TokenId id : done->ids) ASSERT_TRUE(json_read(state, pieces().bytes(id)));
    ASSERT_EQ(state.complete(), is_object(done->text)) << done->text;
    ASSERT_TRUE(state.complete() || done->finish == Finish::length) << done->text;
    ++(state.complete() ? stopped : cut);
  }
  EXPECT_GT(stopped, 50);
  EXPECT_GT(cut, 50);
}

TEST(JsonAnswer, nothing_comes_behind_the_object_whatever_min_tokens_and_ignore_eos_say) {
  for (uint64_t seed = 0; seed < 60; ++seed) {
    for (const RequestOptions& options : {RequestOptions{.max_tokens = 300, .min_tokens = 300},
                                          RequestOptions{.max_tokens = 300, .ignore_eos = true}}) {
      FakeEngine fake(engine_options());
      const auto done = generate(fake.engine, wild(seed, options));
      ASSERT_TRUE(done) << done.error().message;
      ASSERT_TRUE(is_object(done->text) || done->finish == Finish::length) << done->text;
    }
  }
}

TEST(JsonAnswer, choices_and_preemption_have_states_of_their_own) {
  int64_t preempted = 0;
  for (uint64_t seed = 0; seed < 40; ++seed) {
    FakeEngine fake(engine_options());
    const auto all = generate_all(fake.engine, wild(seed, {.max_tokens = 120, .n = 3}));
    ASSERT_TRUE(all) << all.error().message;
    for (const Completion& done : *all)
      ASSERT_TRUE(is_object(done.text) || done.finish == Finish::length) << done.text;
    const auto again = answer_preempted(wild(seed, {.max_tokens = 120}), engine_options());
    ASSERT_EQ(again.done.ids, all->front().ids);
    ASSERT_EQ(again.done.finish, all->front().finish);
    preempted += again.preempted;
  }
  EXPECT_GT(preempted, 40);
}

TEST(JsonAnswer, a_constraint_that_allows_nothing_is_an_error_of_its_request_alone) {
  const Tokenizer no_brace = tiny_tokenizer({"a", "b", "\""});
  const auto made = JsonMode::make(no_brace);
  ASSERT_TRUE(made);
  FakeEngine fake({.vocab = 3, .tokenizer = &no_brace});
  RequestOptions options;
  options.constraint = made->constraint();
  const auto done = generate(fake.engine, fake_request({1}, options));
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, Error::invalid);
  EXPECT_TRUE(generate(fake.engine, fake_request({1}, {.max_tokens = 3})));
}

}  // namespace
}  // namespace mummu::test
