// Ids equal those that lie beside the public vocabularies: of some forty texts, made by each
// model's own Hugging Face tokenizer (but qwen35's, which know no NFC and are llama.cpp's own).
//   source   llama.cpp, models/ggml-vocab-*.gguf.inp and .out

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/test_fixture.h"
#include "mummu/tokenizer.h"

namespace mummu {
namespace {

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<std::string> split(std::string_view text, std::string_view separator) {
  std::vector<std::string> parts;
  while (true) {
    const size_t end = text.find(separator);
    parts.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + separator.size());
  }
}

std::vector<TokenId> ids_of_line(const std::string& line) {
  std::istringstream words(line);
  std::vector<TokenId> ids;
  for (TokenId id; words >> id;) ids.push_back(id);
  return ids;
}

class PublicVocabulary : public testing::TestWithParam<std::string> {};

TEST_P(PublicVocabulary, ids_equal_those_beside_it) {
  const std::string path = test::fixture("vocab/ggml-vocab-" + GetParam() + ".gguf");
  MUMMU_NEEDS(path);
  const auto tokenizer = Tokenizer::load(path);
  ASSERT_TRUE(tokenizer) << tokenizer.error().message;
  const auto texts = split(read_file(path + ".inp"), "\n__ggml_vocab_test__\n");
  auto lines = split(read_file(path + ".out"), "\n");
  ASSERT_GT(texts.size(), 40u);
  ASSERT_GE(lines.size(), texts.size());
  for (size_t i = 0; i < texts.size(); ++i) {
    const auto ids = tokenizer->encode(texts[i], {.add_special = false});
    ASSERT_TRUE(ids) << ids.error().message;
    EXPECT_EQ(*ids, ids_of_line(lines[i])) << texts[i];
  }
}

INSTANTIATE_TEST_SUITE_P(models, PublicVocabulary,
                         testing::Values("bert-bge", "command-r", "deepseek-coder", "deepseek-llm",
                                         "falcon", "gpt-2", "llama-bpe", "llama-spm", "mpt",
                                         "phi-3", "qwen2", "refact", "starcoder"),
                         [](const auto& row) {
                           std::string name = row.param;
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace mummu
