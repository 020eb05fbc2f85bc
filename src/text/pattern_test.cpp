// The known expressions, which are our own code, cut like PCRE2 does: on ASCII and characters that
// both know alike.

#include "text/pattern.h"

#include <gtest/gtest.h>

#include <random>

namespace mummu {
namespace {

std::vector<std::string> matches(const Pattern& pattern, std::string_view text) {
  std::vector<std::string> out;
  for_each_match(pattern, text, [&](size_t begin, size_t end) {
    out.emplace_back(text.substr(begin, end - begin));
  });
  return out;
}

std::string random_text(std::mt19937& random) {
  static const std::string_view kParts[] = {
      "a",          "B",      "'",      "s",      "ll",   "\u00e9", "e\u0301", "\u4e2d", "1",  "23",
      "\u0663",     " ",      "  ",     "\n",     "\r\n", "\t",     "\u00a0",  ".",      "!?", "/",
      "\U0001f600", "\u01c5", "\u02b0", "\u017f", "_",    "\u0430", "\u2160",  "T",      "'Re"};
  std::string text;
  for (size_t n = random() % 14; n > 0; --n) text += kParts[random() % std::size(kParts)];
  return text;
}

class KnownPattern : public testing::TestWithParam<std::string_view> {};

TEST_P(KnownPattern, cuts_like_the_expression) {
  const auto known = known_pattern(GetParam());
  ASSERT_NE(known, nullptr);
  const auto regex = regex_pattern(GetParam());
  ASSERT_TRUE(regex) << regex.error().message;
  std::mt19937 random(7);
  for (int round = 0; round < 20000; ++round) {
    const std::string text = random_text(random);
    ASSERT_EQ(matches(*known, text), matches(**regex, text)) << text;
  }
}

INSTANTIATE_TEST_SUITE_P(
    expressions, KnownPattern,
    testing::Values(
        kGpt2Expression, kLlama3Expression, kQwen2Expression, kQwen35Expression,
        R"('(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]++[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+)",
        R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)",
        R"([\r\n])", R"(\s?\p{L}+)", R"(\s?\p{P}+)", R"(\p{N})", R"(\p{N}{1,3})", R"(\p{N}+)",
        R"([0-9])", R"([0-9][0-9][0-9])", R"(\s+)"));

}  // namespace
}  // namespace mummu
