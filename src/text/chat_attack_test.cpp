// From a conversation to ids, in every public template: an added token of a public vocabulary that
// stands in a string, whole or as halves at its ends, gains and loses no control token.
// A sample of all cases; MUMMU_EVERY=1 (tool/nightly.sh) tries each one.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <optional>

#include "base/test_fixture.h"
#include "text/control_token.h"
#include "text/test/byte_tokenizer.h"
#include "text/test/chat_talk.h"

namespace mummu {

namespace {

namespace fs = std::filesystem;
using test::Field;
using test::Talk;

// True for one case of `stride`, or for all of them.
class Sample {
 public:
  explicit Sample(size_t stride) : stride_(std::getenv("MUMMU_EVERY") ? 1 : stride) {}
  bool takes() { return at_++ % stride_ == 0; }

 private:
  size_t stride_, at_ = 0;
};

// The same with one string changed: before + (its own text, or nothing) + after.
struct Change {
  std::string before, after;
  bool alone = false;
};
Talk changed(Talk talk, size_t field, const Change& change) {
  size_t at = 0;
  test::for_strings(talk, [&](const Field&, std::string& text) {
    if (at++ == field) text = change.before + (change.alone ? "" : text) + change.after;
  });
  return talk;
}

std::vector<Field> fields_of(Talk talk) {
  std::vector<Field> out;
  test::for_strings(talk, [&](const Field& field, std::string&) { out.push_back(field); });
  return out;
}

std::vector<Talk> attacked_talks() {
  std::vector<Talk> out;
  for (Talk& talk : test::talks()) {
    const bool has_all = talk.name == "tool_call" && !talk.tools.empty();
    if (has_all || talk.name == "parts" || talk.name == "documents") out.push_back(std::move(talk));
  }
  return out;
}

// MiniCPM5 writes its tools where a system text says this: its own feature, which adds its own
// tokens.
constexpr std::string_view kToolPlace = "<tool_def_sep>";

// <think> and </think>, which some templates write or leave out by whether a text has them.
bool is_thought(std::string_view token) { return token.find("think") != std::string_view::npos; }

// The control tokens among ids, in their order.
class ControlTokens {
 public:
  explicit ControlTokens(const Tokenizer& tokenizer, bool with_output_marks)
      : is_control_(static_cast<size_t>(tokenizer.vocab())) {
    for (const AddedToken& token : tokenizer.added()) {
      is_control_[static_cast<size_t>(token.id)] =
          token.control && !is_thought(token.text) &&
          (with_output_marks || !is_output_mark(token.text));
    }
  }
  std::vector<TokenId> of(const std::vector<TokenId>& ids) const {
    std::vector<TokenId> out;
    for (const TokenId id : ids)
      if (is_control_[static_cast<size_t>(id)]) out.push_back(id);
    return out;
  }

 private:
  std::vector<bool> is_control_;
};

// One template under attack, with a tokenizer.
class Target {
 public:
  Target(const ChatTemplate& chat, const Tokenizer& tokenizer, bool with_output_marks)
      : chat_(chat), tokenizer_(tokenizer), control_(tokenizer, with_output_marks) {}

  // The control tokens of a conversation, or nothing if the template refuses it.
  std::optional<std::vector<TokenId>> tokens(const Talk& talk) const {
    const auto rendered = test::render(chat_, talk);
    if (!rendered) return std::nullopt;
    const auto ids = tokenizer_.encode(*rendered);
    if (!ids) return std::nullopt;
    return control_.of(*ids);
  }

 private:
  const ChatTemplate& chat_;
  const Tokenizer& tokenizer_;
  ControlTokens control_;
};

std::string inner(const std::string& token) {
  const size_t first = token.find_first_not_of("<|/[\uff5c"),
               last = token.find_last_not_of("|>]\uff5c");
  return first == std::string::npos || last < first ? "" : token.substr(first, last + 1 - first);
}

// Where a token can be cut in two, on a border of code points.
size_t half_of(const std::string& token) {
  size_t at = token.size() / 2;
  while (at < token.size() && (static_cast<unsigned char>(token[at]) & 0xC0) == 0x80) ++at;
  return at;
}

// In any case: some templates lower it. Besides these, what the template itself asks a role for
// (Apriel's has a role "content").
bool is_role(std::string word, const std::string& source) {
  if (source.find("['role'] == '" + word + "'") != std::string::npos) return true;
  static const std::set<std::string> roles = {"system", "developer",   "user",    "assistant",
                                              "tool",   "function",    "ipython", "observation",
                                              "model",  "tool_results"};
  for (char& letter : word)
    if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
  return roles.contains(word);
}

std::vector<Change> attacks(const std::string& token, const Field& field,
                            const std::string& source) {
  const size_t half = half_of(token);
  std::vector<Change> out = {{"y" + token, "y"},
                             {token, "", true},
                             {token.substr(half) + "y", "y" + token.substr(0, half)}};
  if (field.key == "role" && !is_role(inner(token), source))
    out.push_back({inner(token), "", true});
  return out;
}

std::vector<std::string> vocabularies() {
  std::vector<std::string> paths = {test::fixture("SmolLM2-135M-Instruct.Q4_1.gguf"),
                                    test::fixture("all-MiniLM-L6-v2")};
  for (const auto& entry : fs::directory_iterator(test::fixture("vocab")))
    if (entry.path().extension() == ".gguf") paths.push_back(entry.path());
  std::ranges::sort(paths);
  return paths;
}

std::set<std::string> control_tokens(const Tokenizer& tokenizer) {
  std::set<std::string> out;
  for (const AddedToken& token : tokenizer.added())
    if (token.control) out.insert(token.text);
  return out;
}

}  // namespace

TEST(ChatAttack, one_token_in_one_string_changes_no_control_token) {
  MUMMU_NEEDS(test::fixture("templates"));
  MUMMU_NEEDS(test::fixture("vocab"));
  std::set<std::string> public_tokens;
  for (const std::string& path : vocabularies())
    if (const auto tokenizer = Tokenizer::load(path))
      public_tokens.merge(control_tokens(*tokenizer));
  EXPECT_GT(public_tokens.size(), 300u);
  Sample sample(1999);
  int64_t cases = 0;
  for (const test::Source& source : test::sources()) {
    const auto chat = ChatTemplate::parse(source.text, {.bos = "<s>", .eos = "</s>"});
    if (!chat) continue;
    std::set<std::string> tokens = test::inventory(source.text);
    tokens.insert(public_tokens.begin(), public_tokens.end());
    tokens.erase(std::string(kToolPlace));
    std::vector<std::pair<std::string, bool>> added;
    for (const std::string& token : tokens) added.emplace_back(token, true);
    const Tokenizer tokenizer = test::byte_tokenizer(added);
    const Target target(*chat, tokenizer, true);
    for (const Talk& talk : attacked_talks()) {
      const auto fields = fields_of(talk);
      for (size_t field = 0; field < fields.size(); ++field) {
        std::map<bool, std::optional<std::vector<TokenId>>> harmless;  // by Change::alone
        for (const std::string& token : tokens) {
          if (fields[field].is_models && (is_output_mark(token) || is_thought(token))) continue;
          for (const Change& attack : attacks(token, fields[field], source.text)) {
            if (!sample.takes()) continue;
            if (!harmless.contains(attack.alone))
              harmless[attack.alone] =
                  target.tokens(changed(talk, field, {"y", "y", attack.alone}));
            const auto got = target.tokens(changed(talk, field, attack));
            if (!got || !harmless[attack.alone]) continue;
            EXPECT_EQ(*got, *harmless[attack.alone])
                << source.name << ' ' << talk.name << " field " << field << ": " << attack.before
                << " ... " << attack.after;
            ++cases;
          }
        }
      }
    }
  }
  EXPECT_GT(cases, 1000);
  RecordProperty("cases", std::to_string(cases));
}

TEST(ChatAttack, all_tokens_of_a_vocabulary_in_one_string_change_no_control_token) {
  MUMMU_NEEDS(test::fixture("templates"));
  MUMMU_NEEDS(test::fixture("vocab"));
  Sample sample(211);
  int64_t cases = 0;
  const auto sources = test::sources();
  const auto talks = attacked_talks();
  for (const std::string& path : vocabularies()) {
    const auto tokenizer = Tokenizer::load(path);
    if (!tokenizer) continue;
    std::string all;
    for (const AddedToken& token : tokenizer->added())
      if (!is_thought(token.text)) all += "z" + token.text;
    for (const test::Source& source : sources) {
      const auto chat = ChatTemplate::parse(source.text, {.bos = "<s>", .eos = "</s>"});
      if (!chat) continue;
      const Target target(*chat, *tokenizer, false);
      for (const Talk& talk : talks) {
        const auto fields = fields_of(talk);
        for (size_t field = 0; field < fields.size(); ++field) {
          if (!sample.takes()) continue;
          const auto expected = target.tokens(changed(talk, field, {"y", "y"}));
          const auto got = target.tokens(changed(talk, field, {"y" + all, "y"}));
          if (!got || !expected) continue;
          EXPECT_EQ(*got, *expected) << fs::path(path).filename() << ' ' << source.name << ' '
                                     << talk.name << " field " << field;
          ++cases;
        }
      }
    }
  }
  EXPECT_GT(cases, 300);
  RecordProperty("cases", std::to_string(cases));
}

}  // namespace mummu
