// mummu tokenize MODEL: text on stdin becomes ids. mummu detokenize MODEL: ids on stdin become
// text.

#include <cctype>
#include <charconv>
#include <iostream>
#include <nlohmann/json.hpp>

#include "command.h"
#include "mummu/tokenizer.h"

namespace mummu::app {

namespace {

// The input is text of users: special-token text stays plain unless asked, nothing is added, cut or
// padded.
struct TokenizeCommand {
  std::string model;
  bool special = false, json = false, jsonl = false;

  std::vector<TokenId> encode(const Tokenizer& tokenizer, std::string_view text) const {
    return take(tokenizer.encode(text, {.add_special = false, .parse_special = special}));
  }
  void run_lines(const Tokenizer& tokenizer) const;
  void run() const;
};

void TokenizeCommand::run_lines(const Tokenizer& tokenizer) const {
  std::string line;
  for (int64_t number = 1; std::getline(std::cin, line); ++number) {
    if (line.empty()) continue;
    const auto text = nlohmann::json::parse(line, nullptr, false);
    if (!text.is_string()) fail(fmt::format("line {}: a JSON string expected", number));
    fmt::print("{}\n",
               nlohmann::json(encode(tokenizer, text.get_ref<const std::string&>())).dump());
  }
}

void TokenizeCommand::run() const {
  const Tokenizer tokenizer = take(Tokenizer::load(find_model(model)));
  if (jsonl) return run_lines(tokenizer);
  const auto ids = encode(tokenizer, read_text("-"));
  if (json) {
    fmt::print("{}\n", nlohmann::json(ids).dump());
  } else {
    fmt::print("{}\n", fmt::join(ids, " "));
  }
}

// Ids separated by white space, commas or the punctuation of a JSON array.
std::vector<TokenId> parse_ids(std::string_view text) {
  std::vector<TokenId> ids;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (at != end) {
    if (std::isspace(static_cast<unsigned char>(*at)) || *at == ',' || *at == '[' || *at == ']') {
      ++at;
      continue;
    }
    TokenId id = 0;
    const auto [next, error] = std::from_chars(at, end, id);
    if (error != std::errc()) fail(fmt::format("byte {}: a token id expected", at - text.data()));
    ids.push_back(id);
    at = next;
  }
  return ids;
}

void detokenize(const std::string& model, bool skip_special) {
  const Tokenizer tokenizer = take(Tokenizer::load(find_model(model)));
  const std::string text = take(tokenizer.decode(parse_ids(read_text("-")), skip_special));
  std::fwrite(text.data(), 1, text.size(), stdout);
}

}  // namespace

void add_tokenize(CLI::App& app) {
  auto command = std::make_shared<TokenizeCommand>();
  CLI::App* sub = app.add_subcommand("tokenize", "Turn text on stdin into token ids");
  sub->add_option("model", command->model, "A file, a folder or a name; its tokenizer is enough")
      ->required();
  sub->add_flag("--special", command->special, "Read control-token text as those tokens");
  sub->add_flag("--json", command->json, "Print a JSON array");
  sub->add_flag("--jsonl", command->jsonl, "A JSON string a line in, a JSON array a line out");
  sub->callback([command] { command->run(); });
}

void add_detokenize(CLI::App& app) {
  auto model = std::make_shared<std::string>();
  auto skip = std::make_shared<bool>(false);
  CLI::App* sub = app.add_subcommand("detokenize", "Turn token ids on stdin into text");
  sub->add_option("model", *model, "A file, a folder or a name; its tokenizer is enough")
      ->required();
  sub->add_flag("--skip-special", *skip, "Leave control tokens out");
  sub->callback([model, skip] { detokenize(*model, *skip); });
}

}  // namespace mummu::app
