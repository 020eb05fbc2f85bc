#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "base/test_fixture.h"
#include "mummu/chat.h"

namespace mummu {

namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

ChatTemplate parsed(std::string_view source, ChatTemplate::Tokens tokens = {}) {
  auto out = ChatTemplate::parse(source, std::move(tokens));
  EXPECT_TRUE(out) << out.error().message;
  return *std::move(out);
}

std::string text_of(const Result<Rendered>& rendered) {
  return rendered ? rendered->text : rendered.error().message;
}

// A folder that is gone after the test.
class Folder {
 public:
  Folder() : path_(fs::temp_directory_path() / fs::path("mummu_chat_template_test")) {
    fs::remove_all(path_);
    fs::create_directories(path_);
  }
  ~Folder() { fs::remove_all(path_); }
  std::string path() const { return path_.string(); }
  void write(const std::string& name, std::string_view text) const {
    fs::create_directories((path_ / name).parent_path());
    std::ofstream(path_ / name, std::ios::binary) << text;
  }

 private:
  fs::path path_;
};

}  // namespace

TEST(ChatTemplate, messages_and_the_generation_prompt_reach_the_template) {
  const auto chat = parsed(
      "{% for m in messages %}<{{ m.role }}>{{ m.content }}{% endfor %}{% if add_generation_prompt "
      "%}<a>{% endif %}");
  EXPECT_EQ(text_of(chat.render(
                {{"user", "Hi", ""}, {"", "", R"({"role": "assistant", "content": "Ho"})"}})),
            "<user>Hi<assistant>Ho<a>");
  EXPECT_EQ(text_of(chat.render({{"user", "Hi", ""}}, {.add_generation_prompt = false})),
            "<user>Hi");
}

TEST(ChatTemplate, tokens_are_defined_only_if_they_have_text) {
  const auto chat = parsed("{{ bos_token }}|{{ eos_token is defined }}|{{ sep_token }}",
                           {.bos = "<s>", .more = {{"sep_token", "[SEP]"}}});
  EXPECT_EQ(text_of(chat.render({})), "<s>|False|[SEP]");
}

TEST(ChatTemplate, tools_and_documents_are_none_unless_given) {
  const auto chat = parsed("{{ tools is none }}{{ documents is none }}{{ tools }}");
  EXPECT_EQ(text_of(chat.render({})), "TrueTrueNone");
  EXPECT_EQ(text_of(chat.render({}, {.tools = "[]", .documents = "[]"})), "FalseFalse[]");
}

TEST(ChatTemplate, kwargs_are_variables_and_cannot_take_the_place_of_an_option) {
  const auto chat = parsed("{{ enable_thinking }}{{ bos_token }}", {.bos = "<s>"});
  EXPECT_EQ(text_of(chat.render({}, {.kwargs = R"({"enable_thinking": false, "bos_token": "B"})"})),
            "FalseB");
  EXPECT_THAT(text_of(chat.render({}, {.kwargs = R"({"messages": []})"})), HasSubstr("'messages'"));
}

TEST(ChatTemplate, raise_exception_reaches_the_user_with_its_line) {
  const auto chat = parsed(
      "\n{% if true %}\n{{ raise_exception('Roles must\nalternate: ' ~ messages[0].role) }}{% "
      "endif %}");
  const auto rendered = chat.render({{"user", "x", ""}});
  ASSERT_FALSE(rendered);
  EXPECT_EQ(rendered.error().code, Error::invalid);
  EXPECT_THAT(rendered.error().message, HasSubstr("Roles must alternate: user"));
  EXPECT_THAT(rendered.error().message, HasSubstr("line 3"));
}

TEST(ChatTemplate, an_unknown_construct_is_named_with_its_line) {
  const auto filter = ChatTemplate::parse("a\n\n{{ 'x'|from_json }}");
  ASSERT_FALSE(filter);
  EXPECT_EQ(filter.error().code, Error::unsupported);
  EXPECT_THAT(filter.error().message, HasSubstr("line 3: the filter 'from_json'"));
  const auto tag = ChatTemplate::parse("{% include 'x' %}");
  ASSERT_FALSE(tag);
  EXPECT_EQ(tag.error().code, Error::unsupported);
  EXPECT_THAT(tag.error().message, HasSubstr("'include'"));
  const auto syntax = ChatTemplate::parse("\n{% if x %}");
  ASSERT_FALSE(syntax);
  EXPECT_EQ(syntax.error().code, Error::invalid);
  EXPECT_THAT(syntax.error().message, HasSubstr("'endif'"));
}

TEST(ChatTemplate, an_unknown_filter_under_a_condition_is_refused_only_when_it_is_reached) {
  const auto chat = parsed("{% if messages %}{{ 'x'|from_json }}{% endif %}ok");
  EXPECT_EQ(text_of(chat.render({})), "ok");
  EXPECT_THAT(text_of(chat.render({{"user", "x", ""}})), HasSubstr("'from_json'"));
}

TEST(ChatTemplate, of_several_templates_tools_choose_tool_use) {
  auto made =
      ChatTemplate::parse({{"default", "plain"}, {"tool_use", "tools"}, {"rag", "{{ 1|nope }}"}});
  ASSERT_TRUE(made);
  EXPECT_EQ(text_of(made->render({})), "plain");
  EXPECT_EQ(text_of(made->render({}, {.tools = "[]"})), "tools");
  EXPECT_EQ(text_of(made->render({}, {.tools = "[]", .template_name = "default"})), "plain");
  EXPECT_THAT(text_of(made->render({}, {.template_name = "rag"})), HasSubstr("the filter 'nope'"));
  EXPECT_THAT(text_of(made->render({}, {.template_name = "x"})),
              HasSubstr("there are: default, tool_use, rag"));
  auto no_default = ChatTemplate::parse({{"rag", "x"}});
  ASSERT_TRUE(no_default);
  EXPECT_FALSE(no_default->render({}));
}

TEST(ChatTemplate, wrong_json_says_what_and_where) {
  const auto chat = parsed("{{ messages }}");
  EXPECT_THAT(text_of(chat.render_json("[{]")), HasSubstr("messages: not JSON at byte 2"));
  EXPECT_THAT(text_of(chat.render_json("{}")), HasSubstr("messages: a JSON array expected"));
  EXPECT_THAT(text_of(chat.render({{"", "", "[]"}})), HasSubstr("message: a JSON object expected"));
  EXPECT_THAT(text_of(chat.render({{"user", "\xff", ""}})),
              HasSubstr("content: not UTF-8 at byte 0"));
  EXPECT_THAT(text_of(chat.render({}, {.tools = "{}"})), HasSubstr("tools: a JSON array expected"));
  EXPECT_FALSE(chat.render_json("[" + std::string(200, '[') + std::string(200, ']') + "]"));
}

TEST(ChatTemplate, json_keeps_the_order_of_keys_and_the_last_of_equal_ones) {
  const auto chat = parsed("{{ messages[0]|tojson }}");
  EXPECT_EQ(
      text_of(chat.render_json(R"([{"z": 1, "a": 18446744073709551616, "z": [1.0, 1e16, -0.0]}])")),
      R"({"z": [1.0, 1e+16, -0.0], "a": 18446744073709551616})");
}

TEST(ChatTemplate, chat_template_jinja_wins_over_the_config) {
  Folder folder;
  folder.write(
      "tokenizer_config.json",
      R"({"chat_template": "config {{ bos_token }}", "bos_token": {"content": "<s>"}, "eos_token": "</s>"})");
  auto chat = ChatTemplate::load(folder.path());
  ASSERT_TRUE(chat) << chat.error().message;
  EXPECT_EQ(text_of(chat->render({})), "config <s>");
  folder.write("chat_template.jinja", "file {{ eos_token }}");
  folder.write("additional_chat_templates/tool_use.jinja", "more");
  chat = ChatTemplate::load(folder.path());
  ASSERT_TRUE(chat) << chat.error().message;
  EXPECT_EQ(text_of(chat->render({})), "file </s>");
  EXPECT_EQ(text_of(chat->render({}, {.tools = "[]"})), "more");
}

TEST(ChatTemplate, the_config_may_hold_several_templates) {
  Folder folder;
  folder.write(
      "tokenizer_config.json",
      R"({"chat_template": [{"name": "default", "template": "a"}, {"name": "rag", "template": "b"}]})");
  const auto chat = ChatTemplate::load(folder.path());
  ASSERT_TRUE(chat) << chat.error().message;
  EXPECT_EQ(chat->templates().size(), 2u);
  EXPECT_EQ(text_of(chat->render({}, {.template_name = "rag"})), "b");
}

TEST(ChatTemplate, a_folder_without_one_is_not_found_and_still_has_tokens) {
  Folder folder;
  folder.write("tokenizer_config.json", R"({"bos_token": "<s>"})");
  const auto chat = ChatTemplate::load(folder.path());
  ASSERT_FALSE(chat);
  EXPECT_EQ(chat.error().code, Error::not_found);
  const auto tokens = ChatTemplate::load_tokens(folder.path());
  ASSERT_TRUE(tokens);
  EXPECT_EQ(tokens->bos, "<s>");
}

TEST(ChatTemplate, a_gguf_file_carries_its_template) {
  const std::string model = test::fixture("SmolLM2-135M-Instruct.Q4_1.gguf");
  MUMMU_NEEDS(model);
  const auto chat = ChatTemplate::load(model);
  ASSERT_TRUE(chat) << chat.error().message;
  EXPECT_EQ(text_of(chat->render({{"user", "Hi", ""}})),
            "<|im_start|>system\nYou are a helpful AI assistant named SmolLM, trained by Hugging "
            "Face<|im_end|>\n"
            "<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n");
}

TEST(ChatTemplate, many_threads_render_by_one_template) {
  const auto chat = parsed(
      "{% set ns = namespace(n=0) %}{% macro f(x) %}{{ x ~ 'lit' }}{% endmacro %}"
      "{% for m in messages %}{% set ns.n = ns.n + 1 %}{{ f(m.content) }}{{ ns.n }}{% endfor %}");
  std::vector<std::thread> threads;
  std::vector<std::string> out(4);
  for (size_t i = 0; i < out.size(); ++i) {
    threads.emplace_back([&, i] {
      for (int round = 0; round < 50; ++round)
        out[i] = text_of(chat.render({{"user", std::to_string(i), ""}, {"user", "b", ""}}));
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (size_t i = 0; i < out.size(); ++i) EXPECT_EQ(out[i], std::to_string(i) + "lit1blit2");
}

}  // namespace mummu
