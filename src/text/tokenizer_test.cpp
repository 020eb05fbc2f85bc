#include "mummu/tokenizer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <set>
#include <thread>

#include "base/test_fixture.h"
#include "mummu/chat.h"

namespace mummu {
namespace {

using Ids = std::vector<TokenId>;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

constexpr EncodeOptions kPlain{.add_special = false};
constexpr EncodeOptions kTemplate{.add_special = false, .parse_special = true};

Tokenizer load(const std::string& path) {
  auto tokenizer = Tokenizer::load(path);
  EXPECT_TRUE(tokenizer) << tokenizer.error().message;
  return *std::move(tokenizer);
}
Tokenizer small(const std::string& name) {
  return load(test::golden("text/json/" + name + ".json"));
}
std::string vocab(const std::string& name) {
  return test::fixture("vocab/ggml-vocab-" + name + ".gguf");
}
const std::string kSmolLm2 = test::fixture("SmolLM2-135M-Instruct.Q4_1.gguf");

Ids ids_of(const Tokenizer& tokenizer, std::string_view text, const EncodeOptions& options = {}) {
  auto ids = tokenizer.encode(text, options);
  EXPECT_TRUE(ids) << ids.error().message;
  return ids ? *ids : Ids();
}

Rendered rendered(std::initializer_list<std::pair<std::string_view, Level>> runs) {
  Rendered out;
  for (const auto& [text, level] : runs) {
    out.text += text;
    out.runs.push_back({text.size(), level});
  }
  return out;
}
Ids ids_of(const Tokenizer& tokenizer, const Rendered& text) {
  auto ids = tokenizer.encode(text);
  EXPECT_TRUE(ids) << ids.error().message;
  return ids ? *ids : Ids();
}

TEST(Tokenizer, text_that_is_not_utf8_is_refused_with_the_place) {
  const Tokenizer tokenizer = small("no_cut");
  for (const char* text :
       {"ab\xff", "ab\xc0\x80", "ab\xed\xa0\x80", "ab\xf4\x90\x80\x80", "ab\xe2\x82"}) {
    const auto ids = tokenizer.encode(text);
    ASSERT_FALSE(ids);
    EXPECT_EQ(ids.error().code, Error::invalid);
    EXPECT_THAT(ids.error().message, HasSubstr("byte 2"));
  }
}

TEST(Tokenizer, an_id_outside_the_vocabulary_is_refused) {
  const Tokenizer tokenizer = small("no_cut");
  for (const TokenId id : {-1, static_cast<TokenId>(tokenizer.vocab())}) {
    const auto text = tokenizer.decode(Ids{id});
    ASSERT_FALSE(text);
    EXPECT_EQ(text.error().code, Error::invalid);
  }
}

TEST(Tokenizer, a_megabyte_of_one_letter_takes_no_time_to_speak_of) {
  MUMMU_NEEDS(kSmolLm2);
  const Tokenizer tokenizer = load(kSmolLm2);
  const std::string text(1 << 20, 'a');
  const auto begin = std::chrono::steady_clock::now();
  const Ids ids = ids_of(tokenizer, text);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  EXPECT_EQ(*tokenizer.decode(ids), text);
  // Builds with sanitizers are some ten times slower, and the machine may be busy; O(n^2) would
  // take an hour.
  EXPECT_LT(seconds.count(), 10.0);
}

TEST(Tokenizer, threads_share_one) {
  const Tokenizer tokenizer = small("o200k");
  const std::string text = "The quick brown fox's 1234 na\u00efve words";
  const Ids expected = ids_of(small("o200k"), text, kPlain);
  std::vector<std::thread> threads;
  std::vector<Ids> got(4);
  for (Ids& ids : got)
    threads.emplace_back([&] {
      for (int round = 0; round < 50; ++round) ids = ids_of(tokenizer, text, kPlain);
    });
  for (std::thread& thread : threads) thread.join();
  for (const Ids& ids : got) EXPECT_EQ(ids, expected);
}

TEST(Tokenizer, special_tokens_come_from_the_post_processor) {
  const Tokenizer tokenizer = small("bert_cased");
  const Ids plain = ids_of(tokenizer, "hello", kPlain);
  Ids whole = ids_of(tokenizer, "hello");
  ASSERT_EQ(whole.size(), plain.size() + 2);
  EXPECT_EQ(tokenizer.text(whole.front()), "[CLS]");
  EXPECT_EQ(tokenizer.text(whole.back()), "[SEP]");
}

TEST(Tokenizer, max_tokens_counts_what_is_added) {
  const Tokenizer tokenizer = small("bert_cased");
  const Ids whole = ids_of(tokenizer, "one two three four");
  const Ids cut = ids_of(tokenizer, "one two three four", {.max_tokens = 4});
  EXPECT_EQ(cut, (Ids{whole[0], whole[1], whole[2], whole.back()}));
  EXPECT_EQ(ids_of(tokenizer, "one two three four", {.max_tokens = 1000}), whole);
  const auto none = tokenizer.encode("one", {.max_tokens = 1});
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, Error::invalid);
}

TEST(Tokenizer, padding_is_applied_only_when_asked) {
  const std::string path = test::fixture("all-MiniLM-L6-v2");
  MUMMU_NEEDS(path);
  const Tokenizer tokenizer = load(path);
  EXPECT_EQ(tokenizer.declared().max_tokens, 128);
  EXPECT_EQ(tokenizer.declared().pad_to, 128);
  EXPECT_THAT(ids_of(tokenizer, "hello"), ElementsAre(101, 7592, 102));
  EXPECT_THAT(ids_of(tokenizer, "hello", {.pad_to = 5}), ElementsAre(101, 7592, 102, 0, 0));
  EXPECT_FALSE(small("no_cut").encode("hello", {.pad_to = 5}));
}

TEST(Tokenizer, end_ids_are_those_of_the_file_and_the_well_known_marks) {
  MUMMU_NEEDS(kSmolLm2);
  MUMMU_NEEDS(vocab("llama-bpe"));
  EXPECT_THAT(load(kSmolLm2).end_ids(), ElementsAre(2, 0));
  EXPECT_THAT(load(vocab("llama-bpe")).end_ids(), ElementsAre(128001, 128009));
}

TEST(Tokenizer, no_text_of_users_becomes_a_control_token) {
  for (const char* name :
       {"qwen2", "llama-bpe", "command-r", "phi-3", "bert-bge", "deepseek-coder"}) {
    MUMMU_NEEDS(vocab(name));
    const Tokenizer tokenizer = load(vocab(name));
    std::set<TokenId> control;
    for (const AddedToken& token : tokenizer.added())
      if (token.control && token.text != "[UNK]" && token.text != "<unk>") control.insert(token.id);
    ASSERT_FALSE(control.empty());
    for (const AddedToken& token : tokenizer.added()) {
      const std::string texts[] = {token.text, "x" + token.text + "y", token.text + token.text};
      for (const std::string& text : texts)
        for (const TokenId id : ids_of(tokenizer, text, kPlain))
          EXPECT_FALSE(control.contains(id)) << text;
      if (token.control) {
        EXPECT_THAT(ids_of(tokenizer, token.text, kTemplate), Contains(token.id));
      }
    }
  }
}

TEST(Tokenizer, turn_marks_that_the_file_declares_as_plain_are_control_tokens) {
  MUMMU_NEEDS(vocab("command-r"));
  const Tokenizer tokenizer = load(vocab("command-r"));
  const TokenId turn = *tokenizer.find("<|START_OF_TURN_TOKEN|>");
  EXPECT_THAT(ids_of(tokenizer, "<|START_OF_TURN_TOKEN|><|SYSTEM_TOKEN|>", kPlain),
              Not(Contains(turn)));
  EXPECT_THAT(ids_of(tokenizer, "<|START_OF_TURN_TOKEN|>", kTemplate), ElementsAre(turn));
}

TEST(Tokenizer, padding_of_the_vocabulary_matches_nowhere) {
  MUMMU_NEEDS(vocab("qwen2"));
  const Tokenizer tokenizer = load(vocab("qwen2"));
  EXPECT_GT(ids_of(tokenizer, "[PAD151646]", kTemplate).size(), 1u);
}

TEST(TokenizerLevels, a_token_is_recognised_only_where_every_byte_is_the_templates) {
  MUMMU_NEEDS(vocab("qwen2"));
  const Tokenizer tokenizer = load(vocab("qwen2"));
  const TokenId end = *tokenizer.find("<|im_end|>");
  const auto count = [&](const Rendered& text) {
    const Ids ids = ids_of(tokenizer, text);
    return std::ranges::count(ids, end);
  };
  EXPECT_EQ(count(rendered({{"<|im_end|>", Level::templ}})), 1);
  for (const Level level : {Level::model, Level::content, Level::tool}) {
    EXPECT_EQ(count(rendered({{"<|im_end|>", level}})), 0);
    EXPECT_EQ(count(rendered({{"<|im_", Level::templ}, {"end|>", level}})), 0);
    EXPECT_EQ(count(rendered({{"<|im_end", level}, {"|>", Level::templ}})), 0);
    EXPECT_EQ(count(rendered({{"a<|im_end", level}, {"<|im_end|>", Level::templ}})), 1);
    EXPECT_EQ(count(rendered({{"<|im_end|>", level}, {"<|im_end|>", Level::templ}})), 1);
  }
}

TEST(TokenizerLevels, text_is_not_cut_at_a_border) {
  MUMMU_NEEDS(kSmolLm2);
  const Tokenizer tokenizer = load(kSmolLm2);
  const Ids whole = ids_of(tokenizer, "user says hello", kTemplate);
  EXPECT_EQ(
      ids_of(
          tokenizer,
          rendered({{"user sa", Level::templ}, {"ys hel", Level::content}, {"lo", Level::tool}})),
      whole);
}

}  // namespace
}  // namespace mummu
