#include "file/json.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>
#include <string>

#include "file/test_writer.h"

namespace mummu {
namespace {

using test::TempFolder;
using testing::ElementsAre;
using testing::HasSubstr;

std::string error_of(std::string_view text, const JsonLimits& limits = {}) {
  const auto json = parse_json(text, "c.json", limits);
  if (json) return "parsed";
  EXPECT_EQ(json.error().code, Error::corrupt);
  EXPECT_EQ(json.error().message.find('\n'), std::string::npos);
  return json.error().message;
}

TEST(Json, parses_what_the_library_s_own_parser_parses) {
  const char* texts[] = {"null",
                         " [ ] ",
                         "{}",
                         "[1,-2,3.5,1e3,18446744073709551615,-9223372036854775808]",
                         R"({"a":{"b":[{},[],[[1]],{"c":null}]},"d":true,"e":"x\né😀"})",
                         R"("\ud83d\ude00")"};
  for (const char* text : texts) {
    const auto json = parse_json(text, "c.json");
    ASSERT_TRUE(json) << json.error().message;
    EXPECT_EQ(*json, nlohmann::json::parse(text)) << text;
  }
}

TEST(Json, what_is_no_json_is_corrupt_and_says_where) {
  EXPECT_THAT(error_of(""), HasSubstr("c.json: at byte 0: not JSON"));
  EXPECT_THAT(error_of("{\"a\": nul}"), HasSubstr("c.json: at byte 10: not JSON: 'syntax error"));
  for (const char* text : {"NaN",
                           "[Infinity]",
                           "{\"a\":-Infinity}",
                           "[1,]",
                           "{\"a\":1,}",
                           "[1] 2",
                           "{'a':1}",
                           "[01]",
                           "[1.]",
                           "[+1]",
                           "\"\t\"",
                           "\"\\x\"",
                           "[1",
                           "{\"a\"}",
                           "// x\n1",
                           "\"\xff\"",
                           "\"\xc0\x80\"",
                           "\"\xed\xa0\x80\"",
                           "\"\xf4\x90\x80\x80\"",
                           "\"\\ud800\"",
                           "[1e999]",
                           "\xef\xbb"}) {
    EXPECT_THAT(error_of(text), HasSubstr("not JSON")) << text;
  }
  EXPECT_THAT(error_of(std::string_view("[1]\0", 4)), HasSubstr("not JSON"));
}

TEST(Json, duplicate_keys_are_corrupt) {
  EXPECT_EQ(error_of(R"({"a":1,"b":{"a":1},"a":2})"), "c.json: at byte 22: key 'a' is there twice");
  EXPECT_EQ(error_of(R"({"b":{"a":1},"a":2})"), "parsed");
}

TEST(Json, depth_size_and_memory_are_bounded) {
  const std::string deep(64, '['), end(64, ']');
  EXPECT_EQ(error_of(deep + end), "parsed");
  EXPECT_THAT(error_of("[" + deep + end + "]"), HasSubstr("nested too deeply"));
  EXPECT_THAT(error_of(std::string(1'000'000, '[')), HasSubstr("at byte 65: arrays and objects"));
  EXPECT_THAT(error_of("[1,2,3]", {.size_bytes = 6}), HasSubstr("has 7 bytes, at most 6"));
  std::string many = "[";
  for (int i = 0; i < 1000; ++i) many += "{},";
  EXPECT_THAT(error_of(many, {.memory_bytes = 50'000}), HasSubstr("too many values"));
}

TEST(Json, reads_files_and_names_them_in_errors) {
  const TempFolder folder;
  const auto json = read_json(folder.write("a.json", R"({"a":1})"));
  ASSERT_TRUE(json);
  EXPECT_EQ((*json)["a"], 1);
  EXPECT_THAT(read_json(folder.write("b.json", "[")).error().message,
              HasSubstr(folder.path("b.json") + ": at byte 1: not JSON"));
  EXPECT_THAT(read_json(folder.write("c.json", "")).error().message, HasSubstr("is empty"));
  EXPECT_THAT(read_json(folder.write("d.json", "version https://git-lfs.github.com/spec/v1"))
                  .error()
                  .message,
              HasSubstr("Git LFS pointer"));
  EXPECT_EQ(read_json(folder.path("no.json")).error().code, Error::not_found);
  EXPECT_EQ(read_json(folder.path()).error().code, Error::invalid);
  EXPECT_THAT(read_json(folder.path("a.json"), {.size_bytes = 3}).error().message,
              HasSubstr("at most 3 are allowed"));
}

TEST(JsonObject, gives_typed_values) {
  const auto json = nlohmann::json::parse(
      R"({"i":-7,"d":0.5,"b":true,"s":"x","is":[1,2],"ss":["a","b"],"o":{"k":1},"n":null,"e":[]})");
  const auto object = JsonObject::of(json, "c.json");
  ASSERT_TRUE(object);
  EXPECT_EQ(object->get_int("i").value(), -7);
  EXPECT_EQ(object->get_double("i").value(), -7.0);
  EXPECT_EQ(object->get_double("d").value(), 0.5);
  EXPECT_EQ(object->get_bool("b").value(), true);
  EXPECT_EQ(object->get_string("s").value(), "x");
  EXPECT_THAT(object->get_ints("is").value(), ElementsAre(1, 2));
  EXPECT_THAT(object->get_ints("e").value(), ElementsAre());
  EXPECT_THAT(object->get_strings("ss").value(), ElementsAre("a", "b"));
  EXPECT_EQ(object->get_object("o").value().get_int("k").value(), 1);
}

TEST(JsonObject, null_and_absent_are_empty_to_find_and_an_error_to_get) {
  const auto json = nlohmann::json::parse(R"({"n":null})");
  const auto object = JsonObject::of(json, "c.json");
  ASSERT_TRUE(object);
  for (const char* key : {"n", "absent"}) {
    EXPECT_FALSE(object->has(key));
    EXPECT_EQ(object->find_int(key).value(), std::nullopt);
    EXPECT_FALSE(object->find_object(key).value());
    EXPECT_FALSE(object->get_int(key));
  }
  EXPECT_EQ(object->get_string("n").error().message, "c.json: 'n' is missing");
}

TEST(JsonObject, another_type_is_an_error_that_names_the_key_and_both_types) {
  const auto json = nlohmann::json::parse(
      R"({"i":1.0,"u":9223372036854775808,"s":1,"b":0,"o":[],"is":[1,"2"],
          "ss":"a","in":{"k":"x"}})");
  const auto object = JsonObject::of(json, "c.json");
  ASSERT_TRUE(object);
  EXPECT_EQ(object->get_int("i").error().message,
            "c.json: 'i': expected an integer below 2^63, found number 1.0");
  EXPECT_EQ(object->get_object("in").value().get_int("k").error().message,
            "c.json: 'in': 'k': expected an integer below 2^63, found string");
  EXPECT_FALSE(object->get_int("u"));
  EXPECT_TRUE(object->get_double("u"));
  EXPECT_FALSE(object->find_string("s"));
  EXPECT_FALSE(object->find_bool("b"));
  EXPECT_FALSE(object->find_object("o"));
  EXPECT_FALSE(object->find_ints("is"));
  EXPECT_FALSE(object->find_strings("ss"));
  EXPECT_EQ(JsonObject::of(json["o"], "c.json").error().message,
            "c.json: expected an object, found array");
}

}  // namespace
}  // namespace mummu
