// What the files beside an embedding model say, and what they are refused for.

#include <fstream>
#include <nlohmann/json.hpp>

#include "engine/embed_test.h"

namespace mummu {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using test::EmbedFolder;
using test::golden;
using test::same_bits;
using testing::HasSubstr;

TEST_F(EmbedFolder, says_what_its_files_say) {
  const auto info = Embedder::inspect(folder_.string(), device_).value();
  EXPECT_EQ(info.model.architecture, "bert");
  EXPECT_FALSE(info.model.generates);
  EXPECT_EQ(info.dimension, 48);
  EXPECT_EQ(info.max_tokens, 100);  // not the 20 of tokenizer.json
  EXPECT_EQ(info.pooling, "mean");
  EXPECT_TRUE(info.normalises);
  take("qwen3/embed");
  const auto decoder = Embedder::inspect(folder_.string(), device_).value();
  EXPECT_EQ(decoder.max_tokens, 700);  // tokenizer_config.json's, below the 2048 positions
  EXPECT_EQ(decoder.pooling, "lasttoken");
  ASSERT_EQ(decoder.prompts.size(), 2U);
  EXPECT_EQ(decoder.prompts[1].name, "query");
  EXPECT_EQ(decoder.prompts[1].text, "Find what answers: ");
  EXPECT_FALSE(decoder.model.generates);
}

TEST_F(EmbedFolder, a_model_that_does_not_say_how_to_pool_is_refused) {
  fs::remove(folder_ / "modules.json");
  expect_refusal(Error::not_found, "no modules.json");
  const auto decoder = Embedder::load(golden("llama/gqa"), device_);
  ASSERT_FALSE(decoder);
  EXPECT_EQ(decoder.error().code, Error::not_found);
  const auto gguf = Embedder::load(golden("llama/gqa/model.gguf"), device_);
  ASSERT_FALSE(gguf);
  EXPECT_THAT(gguf.error().message, HasSubstr("llama.pooling_type is missing"));
  EXPECT_EQ(Embedder::load("/nowhere", device_).error().code, Error::not_found);
}

struct Change {
  const char* file;
  const char* patch;
  Error::Code code;
  const char* words;
};

TEST_F(EmbedFolder, what_would_change_a_vector_is_refused_by_name) {
  constexpr const char* kPooling = "1_Pooling/config.json";
  constexpr const char* kText = "sentence_bert_config.json";
  constexpr const char* kPrompts = "config_sentence_transformers.json";
  const Change changes[] = {
      {kPooling, R"({"word_embedding_dimension": 384})", Error::corrupt, "384 components"},
      {kPooling, R"({"word_embedding_dimension": 0})", Error::corrupt, "0 components"},
      {kPooling, R"({"embedding_dimension": 47})", Error::corrupt, "47 components"},
      {kPooling, R"({"word_embedding_dimension": null})", Error::corrupt, "is missing"},
      {kPooling, R"({"pooling_mode_cls_token": true})", Error::unsupported, "2 ways"},
      {kPooling, R"({"pooling_mode": "attention"})", Error::unsupported, "'attention'"},
      {kPooling, R"({"pooling_mode": ["mean", "max"]})", Error::unsupported, "2 ways"},
      {kPooling, R"({"pooling_mode_new_tokens": true})", Error::unsupported,
       "pooling_mode_new_tokens"},
      {kPooling, R"({"pooling_mode_mean_tokens": 1})", Error::corrupt, "pooling_mode_mean_tokens"},
      {kPooling, R"({"include_prompt": false})", Error::unsupported, "include_prompt"},
      {kText, R"({"max_seq_length": 0})", Error::corrupt, "after 0 tokens"},
      {kText, R"({"max_seq_length": -5})", Error::corrupt, "after -5 tokens"},
      {kText, R"({"max_seq_length": 2})", Error::corrupt, "the tokenizer adds 2"},
      {kText, R"({"max_seq_length": 641})", Error::corrupt, "has 640 positions"},
      {kText, R"({"max_seq_length": 9223372036854775807})", Error::corrupt, "640 positions"},
      {kText, R"({"max_seq_length": 1e99})", Error::corrupt, "max_seq_length"},
      {kText, R"({"transformer_task": "fill-mask"})", Error::unsupported, "transformer_task"},
      {kText, R"({"query_length": 32})", Error::unsupported, "query_length"},
      {kText, R"({"processor_kwargs": {"stride": 2}})", Error::unsupported, "stride"},
      {kText, R"({"modality_config": {"image": {}}})", Error::unsupported, "modality_config"},
      {kPrompts, R"({"default_prompt_name": "query"})", Error::corrupt, "not among the prompts"},
      {kPrompts, R"({"prompts": {"query": 3}})", Error::corrupt, "query"},
      {kPrompts, R"({"model_type": "CrossEncoder"})", Error::unsupported, "CrossEncoder"},
      {"tokenizer_config.json", R"({"truncation_side": "left"})", Error::unsupported,
       "truncation_side"},
  };
  for (const Change& change : changes) {
    SCOPED_TRACE(change.patch);
    take("bert/mean");
    patch(change.file, change.patch);
    expect_refusal(change.code, change.words);
  }
}

TEST_F(EmbedFolder, modules_that_are_unknown_or_leave_the_folder_are_refused) {
  const json modules = read("modules.json");
  const auto refused = [&](size_t module, const char* key, const char* value, Error::Code code,
                           const char* words) {
    SCOPED_TRACE(value);
    json changed = modules;
    changed[module][key] = value;
    write("modules.json", changed);
    expect_refusal(code, words);
  };
  refused(1, "path", "../1_Pooling", Error::corrupt, "leaves the folder");
  refused(1, "path", "1_Pooling/../../x", Error::corrupt, "leaves the folder");
  refused(1, "path", "/etc", Error::corrupt, "leaves the folder");
  refused(0, "path", "..", Error::corrupt, "leaves the folder");
  refused(1, "path", "3_Pooling", Error::not_found, "3_Pooling");
  refused(1, "type", "sentence_transformers.models.Dense", Error::unsupported, "Dense");
  refused(1, "type", "custom.Pooling", Error::unsupported, "custom.Pooling");
  refused(0, "type", "sentence_transformers.models.Pooling", Error::unsupported,
          "only Transformer");
  write("modules.json", json::array());
  expect_refusal(Error::unsupported, "only Transformer");
  write("modules.json", json::object());
  expect_refusal(Error::corrupt, "a list of modules");
  std::ofstream(folder_ / "modules.json") << "[{";
  expect_refusal(Error::corrupt, "modules.json");
}

TEST_F(EmbedFolder, a_checkpoint_may_lie_in_a_folder_of_its_own) {
  const auto before = load().value().embed({"the sea"}).value();
  fs::create_directory(folder_ / "0_Transformer");
  for (const char* file : {"config.json", "model.safetensors", "tokenizer.json",
                           "tokenizer_config.json", "sentence_bert_config.json"})
    fs::rename(folder_ / file, folder_ / "0_Transformer" / file);
  json modules = read("modules.json");
  modules[0]["path"] = "0_Transformer";
  write("modules.json", modules);
  auto embedder = load();
  ASSERT_TRUE(embedder) << embedder.error().message;
  EXPECT_EQ(embedder->info().max_tokens, 100);
  EXPECT_TRUE(same_bits(embedder->embed({"the sea"}).value().values, before.values));
}

TEST_F(EmbedFolder, the_newer_names_mean_the_same) {
  const auto before = load().value().embed({"the sea"}).value();
  write("1_Pooling/config.json", {{"embedding_dimension", 48}, {"pooling_mode", "mean"}});
  json modules = read("modules.json");
  modules[1]["type"] = "sentence_transformers.sentence_transformer.modules.pooling.Pooling";
  write("modules.json", modules);
  patch("sentence_bert_config.json",
        R"({"transformer_task": "feature-extraction", "module_output_name": "token_embeddings",
            "modality_config": {"text": {"method": "forward",
                                         "method_output_name": "last_hidden_state"}},
            "processor_kwargs": {"model_max_length": 50}})");
  auto embedder = load();
  ASSERT_TRUE(embedder) << embedder.error().message;
  EXPECT_EQ(embedder->info().max_tokens, 50);
  EXPECT_TRUE(same_bits(embedder->embed({"the sea"}).value().values, before.values));
}

TEST_F(EmbedFolder, do_lower_case_is_taken_where_the_tokenizer_does_it) {
  patch("sentence_bert_config.json", R"({"do_lower_case": true})");
  EXPECT_TRUE(load());
  json tokenizer = read("tokenizer.json");
  tokenizer["normalizer"]["lowercase"] = false;
  write("tokenizer.json", tokenizer);
  expect_refusal(Error::unsupported, "do_lower_case");
}

}  // namespace
}  // namespace mummu
