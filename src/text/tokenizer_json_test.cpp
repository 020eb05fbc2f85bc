#include "text/tokenizer_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "mummu/chat.h"

namespace mummu {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;
using Ids = std::vector<TokenId>;

json added(TokenId id, std::string_view content, bool special) {
  return {{"id", id},        {"content", content}, {"special", special}, {"single_word", false},
          {"lstrip", false}, {"rstrip", false},    {"normalized", false}};
}

// Letters a to e, and merges of some.
json minimal() {
  return {{"version", "1.0"},
          {"added_tokens", json::array()},
          {"model",
           {{"type", "BPE"},
            {"vocab", {{"a", 0}, {"b", 1}, {"c", 2}, {"d", 3}, {"ab", 4}, {"abc", 5}}},
            {"merges", {"a b", "ab c"}}}}};
}

Result<Tokenizer> parse(const json& root) { return parse_tokenizer_json(root.dump(), "test"); }

std::string error_of(const json& root, Error::Code code) {
  const auto tokenizer = parse(root);
  if (tokenizer) return "no error";
  EXPECT_EQ(tokenizer.error().code, code) << tokenizer.error().message;
  return tokenizer.error().message;
}

Ids encode(const Tokenizer& tokenizer, std::string_view text) {
  const auto ids = tokenizer.encode(text);
  EXPECT_TRUE(ids);
  return ids ? *ids : Ids();
}

Ids encode(const Tokenizer& tokenizer, std::string_view text, Level level) {
  Rendered rendered{std::string(text), {{text.size(), level}}};
  const auto ids = tokenizer.encode(rendered);
  EXPECT_TRUE(ids);
  return ids ? *ids : Ids();
}

TEST(TokenizerJson, the_least_file_works) {
  const auto tokenizer = parse(minimal());
  ASSERT_TRUE(tokenizer) << tokenizer.error().message;
  EXPECT_THAT(encode(*tokenizer, "abcabdx"), ElementsAre(5, 4, 3));
  EXPECT_EQ(*tokenizer->decode(Ids{5, 3}), "abc d");  // no decoder: joined by spaces
}

TEST(TokenizerJson, an_unknown_component_is_refused_by_name) {
  for (const char* section :
       {"normalizer", "pre_tokenizer", "post_processor", "decoder", "model"}) {
    json root = minimal();
    root[section]["type"] = "Frobnicate";
    EXPECT_THAT(error_of(root, Error::unsupported),
                testing::AllOf(HasSubstr("Frobnicate"), HasSubstr(section)));
  }
  json root = minimal();
  root["normalizer"] = {{"type", "Sequence"},
                        {"normalizers", {{{"type", "NFC"}}, {{"type", "Frob"}}}}};
  EXPECT_THAT(error_of(root, Error::unsupported), HasSubstr("normalizers[1]: type Frob"));
}

TEST(TokenizerJson, a_merge_of_unknown_parts_is_refused) {
  for (const json& merge : {json("a x"), json("x a"), json("b a"), json({"a", "x"})}) {
    json root = minimal();
    root["model"]["merges"].push_back(merge);
    EXPECT_THAT(error_of(root, Error::corrupt), HasSubstr("merge 2"));
  }
}

TEST(TokenizerJson, merges_of_another_shape_are_refused) {
  for (const json& merge : {json("ab"), json(5), json({"a"}), json({"a", 1}), json(nullptr)}) {
    json root = minimal();
    root["model"]["merges"].push_back(merge);
    error_of(root, Error::corrupt);
  }
}

TEST(TokenizerJson, two_tokens_with_one_text_are_refused) {
  json root = minimal();
  root["added_tokens"].push_back(added(9, "abc", true));
  EXPECT_THAT(error_of(root, Error::corrupt), HasSubstr("tokens 5 and 9"));
  EXPECT_FALSE(parse_tokenizer_json(R"({"model":{"vocab":{"a":0,"a":1},"merges":[]}})", "test"));
}

TEST(TokenizerJson, two_texts_with_one_id_are_refused) {
  json root = minimal();
  root["model"]["vocab"]["z"] = 3;
  EXPECT_THAT(error_of(root, Error::corrupt), HasSubstr("id 3"));
  root = minimal();
  root["added_tokens"].push_back(added(3, "<s>", true));
  EXPECT_THAT(error_of(root, Error::corrupt), HasSubstr("id 3"));
}

TEST(TokenizerJson, ids_that_no_vocabulary_has_are_refused) {
  for (const int64_t id : {int64_t{-1}, int64_t{1} << 31, int64_t{1} << 40}) {
    json root = minimal();
    root["model"]["vocab"]["z"] = id;
    error_of(root, Error::corrupt);
  }
}

TEST(TokenizerJson, a_hole_in_the_numbering_is_no_token) {
  json root = minimal();
  root["added_tokens"].push_back(added(9, "<s>", true));
  const auto tokenizer = parse(root);
  ASSERT_TRUE(tokenizer);
  EXPECT_EQ(tokenizer->vocab(), 10);
  EXPECT_EQ(tokenizer->text(7), "");
  EXPECT_EQ(*tokenizer->decode(Ids{7}), "");
}

TEST(TokenizerJson, an_expression_that_reads_otherwise_in_pcre2_is_refused) {
  for (const char* expression :
       {"[a&&b]", "\\h", "(?m:.)", "[[:alpha:]]", "(unclosed", "\\p{Klingon}"}) {
    json root = minimal();
    root["pre_tokenizer"] = {{"type", "Split"},
                             {"behavior", "Isolated"},
                             {"invert", false},
                             {"pattern", {{"Regex", expression}}}};
    EXPECT_THAT(error_of(root, Error::unsupported), HasSubstr(expression));
  }
}

TEST(TokenizerJson, an_expression_that_would_take_for_ever_ends) {
  json root = minimal();
  root["pre_tokenizer"] = {{"type", "Split"},
                           {"behavior", "Isolated"},
                           {"invert", false},
                           {"pattern", {{"Regex", "(a+)+$x"}}}};
  const auto tokenizer = parse(root);
  ASSERT_TRUE(tokenizer);
  EXPECT_EQ(encode(*tokenizer, std::string(5000, 'a')).size(), 5000u);
}

TEST(TokenizerJson, control_pieces_never_come_from_plain_text) {
  for (const char* type : {"BPE", "Unigram"}) {
    json root = minimal();
    root["added_tokens"].push_back(added(5, "abc", true));
    if (type == std::string("Unigram")) {
      root["model"] =
          json::parse(R"({"type": "Unigram", "unk_id": 0, "vocab": [["a", -1], ["b", -2],
          ["c", -2], ["d", -3], ["ab", -1], ["abc", 0]]})");
    }
    const auto tokenizer = parse(root);
    ASSERT_TRUE(tokenizer) << tokenizer.error().message;
    EXPECT_THAT(encode(*tokenizer, "abc"), ElementsAre(4, 2));
    EXPECT_THAT(*tokenizer->encode("abc", {.parse_special = true}), ElementsAre(5));
  }
}

TEST(TokenizerJson, a_level_decides_which_tokens_are_recognised) {
  json root = minimal();
  root["added_tokens"] = {added(6, "<think>", false),
                          added(7, "<tool_response>", false),
                          added(8, "<|tool_call_start|>", true),
                          added(9, "  ", false),
                          added(10, "<|fim|>", false),
                          added(11, "[PAD11]", false)};
  const auto tokenizer = parse(root);
  ASSERT_TRUE(tokenizer) << tokenizer.error().message;
  const auto seen = [&](Level level) {
    Ids out;
    for (const AddedToken& token : tokenizer->added())
      if (encode(*tokenizer, token.text, level) == Ids{token.id}) out.push_back(token.id);
    return out;
  };
  EXPECT_THAT(seen(Level::templ), ElementsAre(6, 7, 8, 9, 10));
  EXPECT_THAT(seen(Level::model), ElementsAre(6, 7, 8, 9));
  EXPECT_THAT(seen(Level::content), ElementsAre(6, 7, 9));
  EXPECT_THAT(seen(Level::tool), ElementsAre(9));
}

TEST(TokenizerJson, of_the_tokens_that_may_stand_somewhere_the_longest_is_taken) {
  json root = minimal();
  root["added_tokens"] = {added(6, "ab", false), added(7, "abc", true)};
  root["model"]["vocab"] = {{"a", 0}, {"b", 1}, {"c", 2}, {"d", 3}};
  root["model"]["merges"] = json::array();
  const auto tokenizer = parse(root);
  ASSERT_TRUE(tokenizer) << tokenizer.error().message;
  EXPECT_THAT(encode(*tokenizer, "abc", Level::templ), ElementsAre(7));
  EXPECT_THAT(encode(*tokenizer, "abc", Level::content), ElementsAre(6, 2));
}

TEST(TokenizerJson, a_bos_of_template_and_tokenizer_is_there_once) {
  json root = minimal();
  root["added_tokens"] = {added(6, "<s>", true), added(7, "</s>", true)};
  root["post_processor"] = {{"type", "TemplateProcessing"},
                            {"single",
                             {{{"SpecialToken", {{"id", "<s>"}, {"type_id", 0}}}},
                              {{"Sequence", {{"id", "A"}, {"type_id", 0}}}},
                              {{"SpecialToken", {{"id", "</s>"}, {"type_id", 0}}}}}},
                            {"special_tokens",
                             {{"<s>", {{"id", "<s>"}, {"ids", {6}}, {"tokens", {"<s>"}}}},
                              {"</s>", {{"id", "</s>"}, {"ids", {7}}, {"tokens", {"</s>"}}}}}}};
  const auto tokenizer = parse(root);
  ASSERT_TRUE(tokenizer) << tokenizer.error().message;
  EXPECT_THAT(encode(*tokenizer, "a"), ElementsAre(6, 0, 7));
  EXPECT_THAT(encode(*tokenizer, "<s>a", Level::templ), ElementsAre(6, 0));
  EXPECT_THAT(encode(*tokenizer, "a", Level::templ), ElementsAre(6, 0));
  // Text of users does not count as the template's BOS, nor becomes one.
  const Ids ids = encode(*tokenizer, "<s>a", Level::content);
  EXPECT_EQ(std::ranges::count(ids, 6), 1);
}

TEST(TokenizerJson, ids_of_special_tokens_are_checked) {
  json root = minimal();
  root["post_processor"] = {{"type", "BertProcessing"}, {"sep", {"x", 99}}, {"cls", {"y", 0}}};
  EXPECT_THAT(error_of(root, Error::corrupt), HasSubstr("99"));
}

TEST(TokenizerJson, a_file_that_is_no_tokenizer_is_corrupt) {
  for (const char* text : {"", "[]", "{}", "{\"model\":null}", "{\"model\":{\"type\":\"BPE\"}}",
                           R"({"model":{"type":"BPE","vocab":[],"merges":{}}})",
                           R"({"model":{"type":"Unigram","vocab":{"a":1}}})",
                           R"({"model":{"type":"Unigram","vocab":[["a"]]}})"}) {
    const auto tokenizer = parse_tokenizer_json(text, "test");
    ASSERT_FALSE(tokenizer) << text;
    EXPECT_NE(tokenizer.error().code, Error::internal) << tokenizer.error().message;
  }
}

}  // namespace
}  // namespace mummu
