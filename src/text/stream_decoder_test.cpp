#include <gtest/gtest.h>

#include <random>

#include "base/test_fixture.h"
#include "mummu/tokenizer.h"
#include "text/utf8.h"

namespace mummu {
namespace {

using Ids = std::vector<TokenId>;

Tokenizer small(const std::string& name) {
  auto tokenizer = Tokenizer::load(test::golden("text/json/" + name + ".json"));
  EXPECT_TRUE(tokenizer) << tokenizer.error().message;
  return *std::move(tokenizer);
}

// One token a byte, by its <0x..> or its character.
TokenId byte_id(const Tokenizer& tokenizer, unsigned char byte) {
  const auto ids = tokenizer.find(std::string(1, static_cast<char>(byte)));
  return ids.value_or(-1);
}

Ids random_ids(const Tokenizer& tokenizer, std::mt19937& random) {
  std::uniform_int_distribution<TokenId> any(0, static_cast<TokenId>(tokenizer.vocab()) - 1);
  Ids ids(random() % 40);
  for (TokenId& id : ids) id = any(random);
  return ids;
}

TEST(StreamDecoder, gives_what_decode_gives_and_only_whole_code_points) {
  std::mt19937 random(1);
  for (const char* name :
       {"no_cut", "sentence_piece", "bert_cased", "metaspace_first", "end_of_word"}) {
    const Tokenizer tokenizer = small(name);
    for (int round = 0; round < 300; ++round) {
      const Ids ids = random_ids(tokenizer, random);
      for (const bool skip_special : {false, true}) {
        StreamDecoder decoder(tokenizer, skip_special);
        std::string text;
        for (const TokenId id : ids) {
          const std::string_view part = decoder.push(id);
          EXPECT_FALSE(find_invalid_utf8(part));
          text += part;
        }
        const std::string_view rest = decoder.finish();
        EXPECT_FALSE(find_invalid_utf8(rest));
        text += rest;
        EXPECT_EQ(text, *tokenizer.decode(ids, skip_special));
      }
    }
  }
}

TEST(StreamDecoder, a_code_point_comes_when_its_last_byte_has_come) {
  const Tokenizer tokenizer = small("no_cut");
  // U+00E9 is C3 A9; the characters that stand for these bytes are themselves tokens.
  const TokenId first = *tokenizer.find("\u00c3"), second = *tokenizer.find("\u00a9");
  StreamDecoder decoder(tokenizer);
  EXPECT_EQ(decoder.push(first), "");
  EXPECT_EQ(decoder.push(second), "\u00e9");
  EXPECT_EQ(decoder.finish(), "");
}

TEST(StreamDecoder, invalid_bytes_become_replacement_characters) {
  const Tokenizer tokenizer = small("no_cut");
  const TokenId first = *tokenizer.find("\u00c3"), letter = byte_id(tokenizer, 'a');
  StreamDecoder decoder(tokenizer);
  EXPECT_EQ(decoder.push(first), "");
  EXPECT_EQ(decoder.push(letter), "\ufffda");
  EXPECT_EQ(decoder.push(first), "");
  EXPECT_EQ(decoder.finish(), "\ufffd");
}

TEST(StreamDecoder, the_space_that_sentencepiece_puts_in_front_is_dropped_once) {
  const Tokenizer tokenizer = small("sentence_piece");
  const auto ids = tokenizer.encode("  a b", {.add_special = false});
  ASSERT_TRUE(ids);
  EXPECT_EQ(*tokenizer.decode(*ids), "  a b");
}

TEST(StreamDecoder, ids_outside_the_vocabulary_add_nothing) {
  const Tokenizer tokenizer = small("no_cut");
  StreamDecoder decoder(tokenizer);
  EXPECT_EQ(decoder.push(-1), "");
  EXPECT_EQ(decoder.push(static_cast<TokenId>(tokenizer.vocab())), "");
}

}  // namespace
}  // namespace mummu
