#include "engine/output.h"

#include <gtest/gtest.h>

#include "base/philox.h"
#include "engine/tiny_tokenizer.h"

namespace mummu::test {
namespace {

// Tokens of one byte and of several; 0xc3 0xa9 is é, 0xe2 0x82 0xac is €.
const std::vector<std::string> kTokens = {"a",     "b",        "ab",           "ba",
                                          "aab",   "\xc3",     "\xa9",         "\xc3\xa9",
                                          "b\xe2", "\x82\xac", "\xe2\x82\xac", "abab"};

struct Streamed {
  std::string text;
  bool stopped = false;
};

// The definition: the answer ends before the stop text that is complete first, of those the
// longest.
Streamed by_definition(const std::string& whole, const std::vector<std::string>& stops) {
  for (size_t end = 0; end <= whole.size(); ++end) {
    size_t longest = 0;
    for (const std::string& stop : stops)
      if (whole.substr(0, end).ends_with(stop)) longest = std::max(longest, stop.size());
    if (longest > 0) return {whole.substr(0, end - longest), true};
  }
  return {whole, false};
}

// The longest end of a text that a stop text begins with.
size_t may_become_stop(const std::string& text, const std::vector<std::string>& stops) {
  size_t most = 0;
  for (const std::string& stop : stops)
    for (size_t size = 1; size < stop.size(); ++size)
      if (text.ends_with(stop.substr(0, size))) most = std::max(most, size);
  return most;
}

std::vector<TokenId> random_ids(uint64_t seed, uint32_t most) {
  std::vector<TokenId> ids(random_words(seed, 0, 1)[0] % most);
  for (size_t i = 0; i < ids.size(); ++i)
    ids[i] =
        static_cast<TokenId>(random_words(seed, static_cast<int64_t>(i), 2)[0] % kTokens.size());
  return ids;
}

const std::vector<std::vector<std::string>> kStops = {
    {"ab"},        {"aab", "ab"}, {"abab", "ba"},       {"é"},   {"€b", "é€"},
    {"aé", "bé€"}, {"ababab"},    {"bb", "aaa", "éé€"}, {"€€€"}, {"a"}};

TEST(Output, stops_where_the_definition_stops_and_holds_back_only_what_may_become_a_stop) {
  const Tokenizer tokenizer = tiny_tokenizer(kTokens);
  int64_t stopped = 0, held = 0;
  for (uint64_t seed = 0; seed < 6000; ++seed) {
    const auto& texts = kStops[seed % kStops.size()];
    const StopTexts stops(texts);
    const auto ids = random_ids(seed, 24);
    const Streamed wanted = by_definition(*tokenizer.decode(ids), texts);
    Output output(&tokenizer, true, &stops);
    std::string text;
    bool done = false;
    for (const TokenId id : ids) {
      done = output.push(id, true, text);
      if (done) break;
      ASSERT_EQ(output.held(), may_become_stop(text, texts)) << text;
      const std::string told = text.substr(0, text.size() - output.held());
      ASSERT_TRUE(wanted.text.starts_with(told)) << told << " was told of " << wanted.text;
      held += output.held() > 0;
    }
    if (!done) done = output.finish(true, text);
    ASSERT_EQ(text, wanted.text) << seed;
    ASSERT_EQ(done, wanted.stopped) << seed;
    stopped += done;
  }
  EXPECT_GT(stopped, 1000);
  EXPECT_GT(held, 1000);
}

TEST(Output, a_stop_text_may_be_cut_anywhere_even_inside_a_code_point) {
  const Tokenizer tokenizer = tiny_tokenizer({"x", "\xe2", "\x82", "\xac", "y"});
  const StopTexts stops({"x€y"});
  Output output(&tokenizer, true, &stops);
  std::string text;
  EXPECT_FALSE(output.push(0, true, text));
  for (const TokenId id : {0, 1, 2}) {
    EXPECT_FALSE(output.push(id, true, text));
    EXPECT_EQ(text, "xx");
    EXPECT_EQ(output.held(), 1u);
  }
  EXPECT_FALSE(output.push(3, true, text));
  EXPECT_EQ(output.held(), 4u);
  EXPECT_TRUE(output.push(4, true, text));
  EXPECT_EQ(text, "x");
}

TEST(Output, bytes_that_never_become_a_code_point_may_complete_a_stop_text) {
  const Tokenizer tokenizer = tiny_tokenizer({"a", "\xe2"});
  const StopTexts stops({"a\xef\xbf\xbd"});
  Output output(&tokenizer, true, &stops);
  std::string text;
  EXPECT_FALSE(output.push(0, true, text));
  EXPECT_FALSE(output.push(1, true, text));
  EXPECT_TRUE(output.finish(true, text));
  EXPECT_EQ(text, "");
}

TEST(Output, control_tokens_have_no_text_and_stops_reach_across_them) {
  const Tokenizer tokenizer = tiny_tokenizer({"a", "b", "<c>"}, {2});
  const StopTexts stops({"ab"});
  Output hidden(&tokenizer, true, &stops), shown(&tokenizer, false, &stops);
  std::string text, all;
  for (const TokenId id : {0, 2}) hidden.push(id, true, text), shown.push(id, true, all);
  EXPECT_TRUE(hidden.push(1, true, text));
  EXPECT_FALSE(shown.push(1, true, all));
  EXPECT_EQ(text, "");
  EXPECT_EQ(all, "a<c>b");
}

}  // namespace
}  // namespace mummu::test
