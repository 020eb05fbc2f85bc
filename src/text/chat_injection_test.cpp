// No text from outside becomes the template's: in every public template, whatever stands in a
// string of a conversation keeps its level, and the template's own tokens stay its own.

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "base/test_fixture.h"
#include "file/gguf.h"
#include "text/test/chat_talk.h"

namespace mummu {

namespace {

namespace fs = std::filesystem;
using test::Field;
using test::for_strings;
using test::inventory;
using test::render;
using test::Source;
using test::sources;
using test::Talk;
using test::talks;

// Roles, types and other words of the format stay as they are.
const std::set<std::string> kWords = {"role", "type", "required", "id", "tool_call_id"};

// Whether a token is a key of the input in angle brackets, which some templates write: <required>.
bool is_key(std::string_view input, std::string_view token) {
  const size_t first = token.find_first_not_of("</"), last = token.find_last_not_of('>');
  if (first == std::string_view::npos || last < first) return false;
  return input.find('"' + std::string(token.substr(first, last + 1 - first)) + '"') !=
         std::string_view::npos;
}

size_t count(std::string_view text, std::string_view token) {
  size_t out = 0;
  for (size_t at = text.find(token); at != std::string_view::npos; at = text.find(token, at + 1))
    ++out;
  return out;
}

// The text of the template alone; everything else is one byte that no token holds.
std::string template_text(const Rendered& rendered) {
  std::string out;
  size_t at = 0;
  for (const auto& run : rendered.runs) {
    out += run.level == Level::templ ? rendered.text.substr(at, run.size) : std::string("\x01");
    at += run.size;
  }
  return out;
}

// U+E000 and following: characters that no template holds.
bool has_marks(std::string_view text) {
  for (size_t i = 0; i + 2 < text.size(); ++i) {
    if (text[i] == '\xEE' && (text[i + 1] & '\xC0') == '\x80') return true;
  }
  return false;
}

}  // namespace

TEST(ChatInjection, no_character_of_a_conversation_is_taken_for_the_template) {
  MUMMU_NEEDS(test::fixture("templates"));
  int rendered_count = 0;
  for (const Source& source : sources()) {
    const auto chat = ChatTemplate::parse(source.text, {.bos = "<s>", .eos = "</s>"});
    if (!chat) continue;
    for (Talk talk : talks()) {
      for_strings(talk, [](const Field& field, std::string& text) {
        if (!kWords.contains(field.key)) text = "\xEE\x80\x80" + text + "\xEE\x80\x81";
      });
      const auto rendered = render(*chat, talk);
      if (!rendered) continue;
      EXPECT_FALSE(has_marks(template_text(*rendered))) << source.name << ' ' << talk.name;
      ++rendered_count;
    }
  }
  EXPECT_GT(rendered_count, 1000);
}

TEST(ChatInjection, the_tokens_of_a_template_are_the_templates_in_harmless_talks) {
  MUMMU_NEEDS(test::fixture("templates"));
  size_t tokens = 0;
  for (const Source& source : sources()) {
    const auto chat = ChatTemplate::parse(source.text, {.bos = "<s>", .eos = "</s>"});
    if (!chat) continue;
    const auto words = inventory(source.text);
    for (const Talk& talk : talks()) {
      const auto rendered = render(*chat, talk);
      const std::string input = talk.messages + talk.tools + talk.documents;
      if (!rendered) continue;
      const std::string own = template_text(*rendered);
      for (const std::string& word : words) {
        if (input.find(word) != std::string::npos || is_key(input, word)) continue;
        EXPECT_EQ(count(own, word), count(rendered->text, word))
            << source.name << ' ' << talk.name << ' ' << word;
        tokens += count(own, word);
      }
    }
  }
  EXPECT_GT(tokens, 10000u);
}

namespace {

// Tokens that the public vocabularies add: control and user-defined ones.
std::set<std::string> added_tokens() {
  std::set<std::string> out;
  for (const auto& entry : fs::directory_iterator(test::fixture("vocab"))) {
    if (entry.path().extension() != ".gguf") continue;
    const auto gguf = Gguf::open(entry.path());
    if (!gguf) continue;
    const auto texts = gguf->find_strings("tokenizer.ggml.tokens");
    const auto types = gguf->find_i32s("tokenizer.ggml.token_type");
    if (!texts || !*texts || !types || !*types) continue;
    for (int64_t i = 0; i < (*texts)->size(); ++i) {
      const int32_t type = (**types)[static_cast<size_t>(i)];
      if (type == 3 || type == 4) out.emplace((**texts)[i]);
    }
  }
  return out;
}

// MiniCPM5 writes its tools where a system text says this: its own feature, which adds its own
// tokens.
constexpr std::string_view kToolPlace = "<tool_def_sep>";

// Counts of all tokens in the template's text; <think> and </think> aside, which some templates
// write or leave out by whether the model's text has them.
std::vector<size_t> token_counts(const Rendered& rendered, const std::set<std::string>& words) {
  std::vector<size_t> out;
  const std::string own = template_text(rendered);
  for (const std::string& word : words) {
    if (word.find("think") == std::string::npos) out.push_back(count(own, word));
  }
  return out;
}

struct Attack {
  std::string before, after;  // put around a text
};

// Puts an attack into one text after another; the template's tokens must stay as they were.
void attack_each_text(const ChatTemplate& chat, const std::string& name, const Talk& talk,
                      const Attack& attack, const std::set<std::string>& words, int& renderings) {
  const auto visit = [](Talk& target, int which, const Attack& with) {
    int at = 0;
    for_strings(target, [&](const Field& field, std::string& text) {
      if (!kWords.contains(field.key) && at++ == which) text = with.before + text + with.after;
    });
    return at;
  };
  Talk harmless = talk;
  for (int field = 0, all = visit(harmless, -1, {}); field < all; ++field) {
    Talk plain = talk, evil = talk;
    visit(plain, field, {"y", "y"});
    visit(evil, field, attack);
    const auto expected = render(chat, plain);
    const auto got = render(chat, evil);
    if (!expected || !got) continue;
    ++renderings;
    EXPECT_EQ(token_counts(*got, words), token_counts(*expected, words))
        << name << ' ' << talk.name << " field " << field;
  }
}

std::vector<Talk> attacked_talks() {
  std::vector<Talk> out;
  for (Talk& talk : talks()) {
    if (talk.name == "tool_call" || talk.name == "parts" || talk.name == "plain")
      out.push_back(std::move(talk));
  }
  return out;
}

}  // namespace

TEST(ChatInjection, tokens_in_a_text_gain_and_lose_no_token_of_the_template) {
  MUMMU_NEEDS(test::fixture("templates"));
  MUMMU_NEEDS(test::fixture("vocab"));
  const std::set<std::string> added = added_tokens();
  EXPECT_GT(added.size(), 300u);
  int renderings = 0;
  for (const Source& source : sources()) {
    const auto chat = ChatTemplate::parse(source.text, {.bos = "<s>", .eos = "</s>"});
    if (!chat) continue;
    std::set<std::string> words = inventory(source.text);
    std::string all;
    for (const std::string& word : words) {
      if (word != kToolPlace) all += "z" + word;
    }
    for (const std::string& word : added) {
      if (source.text.find(word) == std::string::npos) all += "z" + word;
    }
    words.insert({"<s>", "</s>"});
    for (const Talk& talk : attacked_talks()) {
      attack_each_text(*chat, source.name, talk, {"y" + all + "y", "y" + all + "y"}, words,
                       renderings);
    }
  }
  EXPECT_GT(renderings, 1000);
}

TEST(ChatInjection, halves_of_tokens_at_the_ends_of_a_text_make_none) {
  MUMMU_NEEDS(test::fixture("templates"));
  int renderings = 0;
  for (const Source& source : sources()) {
    const auto chat = ChatTemplate::parse(source.text, {.bos = "<s>", .eos = "</s>"});
    if (!chat) continue;
    std::set<std::string> words = inventory(source.text);
    words.insert({"<s>", "</s>"});
    for (const std::string& word : words) {
      const size_t half =
          word.size() / 2 + (static_cast<unsigned char>(word[word.size() / 2]) >= 0x80 ? 1 : 0);
      if (static_cast<unsigned char>(word[half]) >= 0x80) continue;
      Talk talk = attacked_talks().front();
      attack_each_text(*chat, source.name, talk,
                       {word.substr(half) + "y", "y" + word.substr(0, half)}, words, renderings);
    }
  }
  EXPECT_GT(renderings, 2000);
}

}  // namespace mummu
