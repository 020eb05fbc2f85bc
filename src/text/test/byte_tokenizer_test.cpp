#include "text/test/byte_tokenizer.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "text/byte_level.h"
#include "text/tokenizer_json.h"

namespace mummu::test {

Tokenizer byte_tokenizer(const std::vector<std::pair<std::string, bool>>& added) {
  nlohmann::json vocab, tokens = nlohmann::json::array();
  for (int byte = 0; byte < 256; ++byte) {
    std::string spelled;
    append_byte_level(spelled, std::string(1, static_cast<char>(byte)));
    vocab[spelled] = byte;
  }
  int id = 256;
  for (const auto& [text, special] : added) {
    tokens.push_back({{"id", id++},
                      {"content", text},
                      {"special", special},
                      {"single_word", false},
                      {"lstrip", false},
                      {"rstrip", false},
                      {"normalized", false}});
  }
  const nlohmann::json byte_level = {{"type", "ByteLevel"},
                                     {"add_prefix_space", false},
                                     {"trim_offsets", true},
                                     {"use_regex", false}};
  const nlohmann::json all = {
      {"version", "1.0"},
      {"truncation", nullptr},
      {"padding", nullptr},
      {"added_tokens", tokens},
      {"normalizer", nullptr},
      {"pre_tokenizer", byte_level},
      {"post_processor", nullptr},
      {"decoder", byte_level},
      {"model", {{"type", "BPE"}, {"vocab", vocab}, {"merges", nlohmann::json::array()}}}};
  auto out = parse_tokenizer_json(all.dump(), "test");
  EXPECT_TRUE(out) << out.error().message;
  return *std::move(out);
}

}  // namespace mummu::test
