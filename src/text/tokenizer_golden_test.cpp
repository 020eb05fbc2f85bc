// Ids and text equal those of the Python package tokenizers on every line of golden/text/corpus/,
// for public vocabularies and for small ones that use each component (golden/text/json/).
// tool/make_text_golden.py writes what is expected.

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "base/test_fixture.h"
#include "mummu/tokenizer.h"

namespace mummu {
namespace {

namespace fs = std::filesystem;
using Ids = std::vector<TokenId>;

std::vector<std::string> lines_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

std::vector<std::string> corpus() {
  std::vector<fs::path> paths;
  for (const auto& entry : fs::directory_iterator(test::golden("text/corpus")))
    paths.push_back(entry.path());
  std::ranges::sort(paths);
  std::vector<std::string> texts;
  for (const fs::path& path : paths)
    for (const std::string& line : lines_of(path))
      texts.push_back(nlohmann::json::parse(line).get<std::string>());
  return texts;
}

// "[1,2]" or, where template text reads otherwise, "[1,2] [3]".
std::pair<Ids, Ids> expected(const std::string& line) {
  const size_t space = line.find(' ');
  const auto user = nlohmann::json::parse(line.substr(0, space)).get<Ids>();
  if (space == std::string::npos) return {user, user};
  return {user, nlohmann::json::parse(line.substr(space + 1)).get<Ids>()};
}

const std::map<std::string, std::string>& fixtures() {
  static const std::map<std::string, std::string> map = {
      {"smollm2", "SmolLM2-135M-Instruct.Q4_1.gguf"}, {"minilm", "all-MiniLM-L6-v2"}};
  return map;
}

std::string model_path(const std::string& name) {
  const std::string small = test::golden("text/json/" + name + ".json");
  if (fs::exists(small)) return small;
  const auto named = fixtures().find(name);
  return test::fixture(named != fixtures().end() ? named->second
                                                 : "vocab/ggml-vocab-" + name + ".gguf");
}

std::vector<std::string> model_names() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(test::golden("text/ids")))
    names.push_back(entry.path().stem());
  std::ranges::sort(names);
  return names;
}

class TokenizerGolden : public testing::TestWithParam<std::string> {};

TEST_P(TokenizerGolden, ids_equal_those_of_the_reference) {
  const std::string path = model_path(GetParam());
  MUMMU_NEEDS(path);
  const auto tokenizer = Tokenizer::load(path);
  ASSERT_TRUE(tokenizer) << tokenizer.error().message;
  const auto texts = corpus();
  const auto lines = lines_of(test::golden("text/ids/" + GetParam() + ".txt"));
  ASSERT_EQ(lines.size(), texts.size()) << "the corpus changed: run tool/make_text_golden.py";
  for (size_t i = 0; i < texts.size(); ++i) {
    const auto [user, special] = expected(lines[i]);
    for (const bool parse_special : {false, true}) {
      const auto ids =
          tokenizer->encode(texts[i], {.add_special = false, .parse_special = parse_special});
      ASSERT_TRUE(ids) << ids.error().message;
      EXPECT_EQ(*ids, parse_special ? special : user) << nlohmann::json(texts[i]).dump();
    }
  }
}

INSTANTIATE_TEST_SUITE_P(models, TokenizerGolden, testing::ValuesIn(model_names()),
                         [](const auto& row) {
                           std::string name = row.param;
                           std::ranges::replace_if(
                               name, [](char c) { return !std::isalnum(c); }, '_');
                           return name;
                         });

}  // namespace
}  // namespace mummu
