#include "mummu/json_mode.h"

#include <gtest/gtest.h>

#include <bit>
#include <nlohmann/json.hpp>

#include "base/allocation_count.h"
#include "base/test_fixture.h"
#include "engine/json_machine.h"
#include "engine/random_json.h"
#include "engine/tiny_tokenizer.h"
#include "text/tokenizer_impl.h"

namespace mummu::test {
namespace {

using Mask = std::vector<uint64_t>;

bool has(const Mask& mask, TokenId id) {
  return (mask[static_cast<size_t>(id / 64)] >> (id % 64) & 1) != 0;
}

Mask mask_of(Constraint& constraint, const Tokenizer& tokenizer) {
  Mask mask(static_cast<size_t>((tokenizer.vocab() + 63) / 64), ~uint64_t{0});
  constraint.mask(mask);
  return mask;
}

std::unique_ptr<Constraint> start(const JsonMode& mode, const Tokenizer& tokenizer) {
  return std::move(*mode.constraint()(tokenizer));
}

// What the mask must be, by trying each token.
bool may_come(const Tokenizer& tokenizer, JsonState state, TokenId id) {
  const auto bytes = tokenizer.impl().decoder.bytes(id, false);
  return !bytes.empty() && !tokenizer.is_special(id) && json_read(state, bytes);
}

TokenId pick(const Mask& mask, uint64_t draw) {
  int64_t count = 0;
  for (const uint64_t word : mask) count += std::popcount(word);
  if (count == 0) return -1;
  auto left = static_cast<int64_t>(draw % static_cast<uint64_t>(count));
  for (size_t i = 0;; ++i) {
    uint64_t word = mask[i];
    if (left >= std::popcount(word)) {
      left -= std::popcount(word);
      continue;
    }
    for (; left > 0; --left) word &= word - 1;
    return static_cast<TokenId>(64 * i + static_cast<size_t>(std::countr_zero(word)));
  }
}

// A walk of uniformly drawn allowed tokens; after a while only those that lead to an end.
struct Walk {
  const Tokenizer& tokenizer;
  std::unique_ptr<Constraint> constraint;
  JsonState state = {};
  std::vector<TokenId> ids = {};

  void take(TokenId id) {
    json_read(state, tokenizer.impl().decoder.bytes(id, false));
    constraint->accept(id);
    ids.push_back(id);
  }
  std::string text() const { return *tokenizer.decode(ids); }
};

// A short way out: closes what is open.
void finish(Walk& walk) {
  for (int i = 0; i < 400 && !walk.constraint->is_complete(); ++i) {
    const Mask mask = mask_of(*walk.constraint, walk.tokenizer);
    TokenId next = -1;
    for (const char* text : {"\"", "}", "]", ":", "1", "n", "u", "d", "c", "0", "\\"}) {
      const auto id = walk.tokenizer.find(text);
      if (next < 0 && id && has(mask, *id)) next = *id;
    }
    if (next < 0) next = pick(mask, static_cast<uint64_t>(i));
    ASSERT_GE(next, 0);
    walk.take(next);
  }
}

const char* const kVocabularies[] = {"vocab/ggml-vocab-qwen2.gguf",
                                     "SmolLM2-135M-Instruct.Q4_1.gguf",
                                     "vocab/ggml-vocab-llama-spm.gguf"};

class JsonModeVocabulary : public testing::TestWithParam<const char*> {};

TEST_P(JsonModeVocabulary, whatever_is_allowed_is_an_object_in_the_end) {
  MUMMU_NEEDS(fixture(GetParam()));
  const auto tokenizer = Tokenizer::load(fixture(GetParam()));
  ASSERT_TRUE(tokenizer) << tokenizer.error().message;
  const auto mode = JsonMode::make(*tokenizer);
  ASSERT_TRUE(mode) << mode.error().message;
  int64_t tokens = 0;
  for (uint64_t seed = 0; seed < 1000; ++seed) {
    Walk walk{*tokenizer, start(*mode, *tokenizer)};
    const uint32_t length = random_words(seed, 0, 9)[0] % 40;
    for (uint32_t i = 0; i < length && !walk.constraint->is_complete(); ++i)
      walk.take(pick(mask_of(*walk.constraint, *tokenizer), random_words(seed, i, 8)[0]));
    finish(walk);
    ASSERT_TRUE(walk.constraint->is_complete()) << walk.text();
    const auto parsed = nlohmann::json::parse(walk.text(), nullptr, false);
    ASSERT_TRUE(parsed.is_object()) << walk.text();
    const Mask after = mask_of(*walk.constraint, *tokenizer);
    ASSERT_EQ(pick(after, 0), -1) << "nothing comes behind the object";
    tokens += static_cast<int64_t>(walk.ids.size());
  }
  EXPECT_GT(tokens, 12000);
}

TEST_P(JsonModeVocabulary, the_mask_is_what_trying_each_token_gives) {
  MUMMU_NEEDS(fixture(GetParam()));
  const auto tokenizer = Tokenizer::load(fixture(GetParam()));
  const auto mode = JsonMode::make(*tokenizer);
  ASSERT_TRUE(mode) << mode.error().message;
  for (uint64_t seed = 0; seed < 8; ++seed) {
    Walk walk{*tokenizer, start(*mode, *tokenizer)};
    for (uint32_t i = 0; i < 16 && !walk.constraint->is_complete(); ++i) {
      const Mask mask = mask_of(*walk.constraint, *tokenizer);
      for (TokenId id = 0; id < tokenizer->vocab(); ++id)
        ASSERT_EQ(has(mask, id), may_come(*tokenizer, walk.state, id))
            << walk.text() << " then " << tokenizer->text(id);
      walk.take(pick(mask, random_words(seed, i, 3)[0]));
    }
  }
}

TEST_P(JsonModeVocabulary, every_way_to_cut_an_object_into_tokens_is_allowed) {
  MUMMU_NEEDS(fixture(GetParam()));
  const auto tokenizer = Tokenizer::load(fixture(GetParam()));
  const auto mode = JsonMode::make(*tokenizer);
  ASSERT_TRUE(mode) << mode.error().message;
  std::vector<std::pair<std::string_view, TokenId>> tokens;
  for (TokenId id = 0; id < tokenizer->vocab(); ++id)
    if (const auto bytes = tokenizer->impl().decoder.bytes(id, false);
        !bytes.empty() && !tokenizer->is_special(id))
      tokens.emplace_back(bytes, id);
  std::sort(tokens.begin(), tokens.end());
  const auto find = [&](std::string_view bytes) -> std::optional<TokenId> {
    const auto at = std::lower_bound(tokens.begin(), tokens.end(), std::pair{bytes, TokenId{-1}});
    if (at == tokens.end() || at->first != bytes) return std::nullopt;
    return at->second;
  };
  for (uint64_t seed = 0; seed < 150; ++seed) {
    const std::string text = random_json(seed);
    const auto constraint = start(*mode, *tokenizer);
    for (size_t at = 0; at < text.size();) {
      std::vector<std::pair<TokenId, size_t>> choices;
      for (size_t size = 1; size <= 16 && at + size <= text.size(); ++size)
        if (const auto id = find(std::string_view(text).substr(at, size)))
          choices.emplace_back(*id, size);
      ASSERT_FALSE(choices.empty()) << text.substr(at);
      const auto draw = random_words(seed, static_cast<int64_t>(at), 4)[0];
      const auto [id, size] = choices[draw % choices.size()];
      const Mask mask = mask_of(*constraint, *tokenizer);
      ASSERT_TRUE(has(mask, id)) << text << " at " << at;
      constraint->accept(id);
      at += size;
    }
    EXPECT_TRUE(constraint->is_complete()) << text;
  }
}

TEST_P(JsonModeVocabulary, a_step_allocates_nothing) {
  MUMMU_NEEDS(fixture(GetParam()));
  const auto tokenizer = Tokenizer::load(fixture(GetParam()));
  const auto mode = JsonMode::make(*tokenizer);
  ASSERT_TRUE(mode) << mode.error().message;
  const auto constraint = start(*mode, *tokenizer);
  Mask mask(static_cast<size_t>((tokenizer->vocab() + 63) / 64), ~uint64_t{0});
  EXPECT_EQ(count_allocations([&] {
              for (uint32_t i = 0; i < 50 && !constraint->is_complete(); ++i) {
                std::fill(mask.begin(), mask.end(), ~uint64_t{0});
                constraint->mask(mask);
                constraint->accept(pick(mask, random_words(11, i, 3)[0]));
              }
            }),
            0);
}

INSTANTIATE_TEST_SUITE_P(
    Vocabularies, JsonModeVocabulary, testing::ValuesIn(kVocabularies), [](const auto& row) {
      return std::string(row.index == 0 ? "qwen2" : row.index == 1 ? "smollm2" : "llama_bytes");
    });

TEST(JsonMode, a_token_may_span_structure_or_be_part_of_a_code_point) {
  const Tokenizer tokenizer = tiny_tokenizer({"{\"a\":[{\"b\":\"", "\"},{\"", "\":", "1}]}", "\xc3",
                                              "\xa9", "}]}]", "\"},{\"b\":1}]}", "\"},", "{\""});
  const auto mode = JsonMode::make(tokenizer);
  ASSERT_TRUE(mode);
  const auto allowed_after = [&](std::vector<TokenId> ids) {
    const auto constraint = start(*mode, tokenizer);
    for (const TokenId id : ids) constraint->accept(id);
    const Mask mask = mask_of(*constraint, tokenizer);
    std::vector<TokenId> out;
    for (TokenId id = 0; id < tokenizer.vocab(); ++id)
      if (has(mask, id)) out.push_back(id);
    return out;
  };
  EXPECT_EQ(allowed_after({}), (std::vector<TokenId>{0, 9}));
  EXPECT_EQ(allowed_after({0}), (std::vector<TokenId>{1, 3, 4, 6, 7, 8, 9})) << "1}]} is text here";
  EXPECT_EQ(allowed_after({0, 4}), (std::vector<TokenId>{5}));
  EXPECT_EQ(allowed_after({0, 4, 5, 1}), (std::vector<TokenId>{2, 3, 4, 6, 9}));
  EXPECT_EQ(allowed_after({0, 1, 2}), (std::vector<TokenId>{0, 1, 2, 3, 8, 9}))
      << "a value, which may be a string";
  EXPECT_EQ(allowed_after({0, 1, 2, 3}), (std::vector<TokenId>{})) << "complete";
}

TEST(JsonMode, control_tokens_and_ends_are_never_allowed) {
  const Tokenizer tokenizer = tiny_tokenizer({"{", "}", "\"", "<end>", "<mark>", ""}, {3, 4});
  const auto mode = JsonMode::make(tokenizer);
  const auto constraint = start(*mode, tokenizer);
  for (const TokenId id : {0, 2}) {
    constraint->accept(id);
    const Mask mask = mask_of(*constraint, tokenizer);
    for (const TokenId control : {3, 4, 5}) EXPECT_FALSE(has(mask, control));
  }
}

TEST(JsonMode, another_tokenizer_is_refused) {
  const Tokenizer one = tiny_tokenizer({"{", "}"}), other = tiny_tokenizer({"{", "}"});
  const auto mode = JsonMode::make(one);
  ASSERT_TRUE(mode);
  EXPECT_TRUE(mode->constraint()(one));
  EXPECT_EQ(mode->constraint()(other).error().code, Error::invalid);
}

}  // namespace
}  // namespace mummu::test
