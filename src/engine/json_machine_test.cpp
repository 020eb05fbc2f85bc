#include "engine/json_machine.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>

#include "engine/random_json.h"

namespace mummu::test {
namespace {

bool is_beginning(std::string_view text) {
  JsonState state;
  return json_read(state, text);
}

bool is_whole(std::string_view text) {
  JsonState state;
  return json_read(state, text) && state.complete();
}

TEST(JsonMachine, whole_objects_are_taken) {
  for (const char* text :
       {"{}", " \n\t\r {}", R"({"a":1})", R"({ "a" : [ ] , "b" : { } })", R"({"":null})",
        R"({"a":[true,false,null,-0,0.5,-12.25e-3,1E+2,1e300,0e0,123456789012345678901]})",
        R"({"\"\\\/\b\f\n\r\t\u00e9\uD834\uDD1E":"\ud7ff\uE000"})",
        "{\"é€😀\x7f\":\"\xf4\x8f\xbf\xbf\"}", R"({"a":[[[{"b":[]}]]]})"})
    EXPECT_TRUE(is_whole(text)) << text;
}

TEST(JsonMachine, what_is_no_object_is_refused_at_the_byte) {
  const struct {
    std::string good, bad;
  } cases[] = {
      {"", "["},
      {"", "1"},
      {"", "\""},
      {"", "\xef"},
      {"{", ","},
      {"{", "1"},
      {"{\"a\"", "}"},
      {"{\"a\":", "}"},
      {"{\"a\":1,", "}"},
      {"{\"a\":1", "]"},
      {"{\"a\":[1", "}"},
      {"{\"a\":[1,", "]"},
      {"{\"a\":[", ","},
      {"{\"a\":", "+"},
      {"{\"a\":", "."},
      {"{\"a\":0", "1"},
      {"{\"a\":-", "}"},
      {"{\"a\":-0", "0"},
      {"{\"a\":1.", "}"},
      {"{\"a\":1.", "e"},
      {"{\"a\":1.5", "."},
      {"{\"a\":1e", "}"},
      {"{\"a\":1e+", "-"},
      {"{\"a\":1e5", "e"},
      {"{\"a\":1e5", "."},
      {"{\"a\":1e-5", "e"},
      {"{\"a\":tru", " "},
      {"{\"a\":true", "e"},
      {"{\"a\":n", "a"},
      {"{\"a\":", "N"},
      {"{\"", "\n"},
      {"{\"", std::string(1, '\0')},
      {"{\"\\", "x"},
      {"{\"\\u12", "g"},
      {"{\"\\ud8aa", "a"},
      {"{\"\\ud8aa\\", "n"},
      {"{\"\\ud8aa\\u", "0"},
      {"{\"\\ud8aa\\ud", "b"},
      {"{\"\\ud", "c"},
      {"{\"\\uD", "F"},
      {"{\"", "\x80"},
      {"{\"", "\xc1"},
      {"{\"", "\xf5"},
      {"{\"", "\xff"},
      {"{\"\xc3", "\""},
      {"{\"\xe0", "\x9f"},
      {"{\"\xed", "\xa0"},
      {"{\"\xf0", "\x8f"},
      {"{\"\xf4", "\x90"},
      {"{\"\xf1\x80", "\xc0"},
      {"{}", " "},
      {"{}", "{"},
      {"{\"a\":1}", "\n"},
  };
  for (const auto& [good, bad] : cases) {
    EXPECT_TRUE(is_beginning(good)) << good;
    EXPECT_FALSE(is_beginning(good + bad)) << good << "  then  " << bad;
  }
}

TEST(JsonMachine, nothing_runs_on_for_ever) {
  const std::string eight(8, ' '), digits(64, '7');
  EXPECT_TRUE(is_whole(eight + "{" + eight + "\"a\"" + eight + ":" + eight + "1" + eight + "}"));
  for (const char* before : {"", "{", "{\"a\"", "{\"a\":", "{\"a\":1", "{\"a\":[", "{\"a\":1,"}) {
    EXPECT_TRUE(is_beginning(before + eight)) << before;
    EXPECT_FALSE(is_beginning(before + eight + "\t")) << before;
  }
  EXPECT_TRUE(is_beginning("{\"a\":" + digits + "." + digits));
  EXPECT_FALSE(is_beginning("{\"a\":" + digits + "7"));
  EXPECT_FALSE(is_beginning("{\"a\":1." + digits + "7"));
  EXPECT_TRUE(is_beginning("{\"a\":1e307"));
  EXPECT_FALSE(is_beginning("{\"a\":1e308"));
  EXPECT_FALSE(is_beginning("{\"a\":10e+307"));
  EXPECT_TRUE(is_beginning("{\"a\":" + digits + "." + digits + "e244"));
  EXPECT_FALSE(is_beginning("{\"a\":" + digits + "." + digits + "e245"));
  EXPECT_TRUE(is_beginning("{\"a\":1e-999"));
  EXPECT_FALSE(is_beginning("{\"a\":1e-9999"));
  EXPECT_FALSE(is_beginning("{\"a\":1e0000"));
}

TEST(JsonMachine, nesting_ends_at_64) {
  std::string text = "{\"a\":", closing = "}";
  for (int i = 1; i < 64; ++i) {
    text += i % 3 == 0 ? "{\"a\":" : "[";
    closing += i % 3 == 0 ? "}" : "]";
  }
  EXPECT_FALSE(is_beginning(text + "["));
  EXPECT_FALSE(is_beginning(text + "{"));
  std::reverse(closing.begin(), closing.end());
  EXPECT_TRUE(is_whole(text + "1" + closing));
}

TEST(JsonMachine, every_prefix_of_a_random_object_is_a_beginning_and_only_the_whole_is_complete) {
  for (uint64_t seed = 0; seed < 3000; ++seed) {
    const std::string text = random_json(seed);
    ASSERT_TRUE(nlohmann::json::accept(text)) << text;
    JsonState state;
    for (const char byte : text) {
      ASSERT_FALSE(state.complete()) << text;
      ASSERT_TRUE(json_read(state, {&byte, 1})) << text;
    }
    ASSERT_TRUE(state.complete()) << text;
  }
}

// One byte of a random object changed, left out or doubled: what the machine takes whole, a parser
// takes too, and what it refuses the parser refuses, white space behind the end and bounds apart.
TEST(JsonMachine, agrees_with_a_parser_on_damaged_objects) {
  int taken = 0, refused = 0;
  for (uint64_t seed = 0; seed < 20000; ++seed) {
    std::string text = random_json(seed);
    const auto words = random_words(seed, 1, 77);
    const size_t at = words[0] % text.size();
    if (words[1] % 3 == 0) text.erase(at, 1);
    if (words[1] % 3 == 1) text.insert(at, 1, text[at]);
    if (words[1] % 3 == 2) text[at] = "{}[]:,\"\\ 0-.eu\xe9\x80"[words[2] % 16];
    const auto parsed = nlohmann::json::parse(text, nullptr, false);
    const bool object = parsed.is_object() && text.back() == '}';
    const bool whole = is_whole(text);
    (whole ? taken : refused)++;
    ASSERT_EQ(whole, object) << text;
  }
  EXPECT_GT(taken, 1000);
  EXPECT_GT(refused, 1000);
}

}  // namespace
}  // namespace mummu::test
