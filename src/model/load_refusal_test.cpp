// What makes a whole checkpoint unusable, and the one line that says so.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <nlohmann/json.hpp>

#include "file/test_writer.h"
#include "model/test/checkpoint.h"

namespace mummu {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;

class Refusals : public test::CheckpointTest {
 protected:
  // Merges into a JSON file of the folder.
  void patch(const char* file, const char* patch) {
    json document = json::parse(test::read_text(folder_ / file));
    document.merge_patch(json::parse(patch));
    test::write_text(folder_ / file, document.dump());
  }

  std::string message() { return refusal().message; }

  // The message for model.gguf with one more number in its metadata.
  std::string message_with(std::string_view key, uint32_t value) {
    std::string bytes = test::read_text(golden_gguf());
    constexpr size_t kCountAt = 16;  // magic, version, number of tensors
    uint64_t keys = 0;
    std::memcpy(&keys, bytes.data() + kCountAt, sizeof keys);
    keys += 2;
    std::memcpy(bytes.data() + kCountAt, &keys, sizeof keys);
    std::string entries = test::raw_entry(key, GgufType::uint32, test::raw(value));
    // Another one fills up to where the tensors are aligned.
    const size_t fill = 32 - (entries.size() + 16) % 32;
    entries += test::raw_entry(std::string(fill, 'x'), GgufType::uint32, test::raw(uint32_t{0}));
    test::write_text(gguf(), bytes.insert(kCountAt + sizeof keys, entries));
    const auto model = Model::load(gguf(), device_);
    return model ? "" : model.error().message;
  }

  static std::string golden_gguf() { return test::golden("llama/gqa/model.gguf"); }
};

TEST_F(Refusals, what_metadata_asks_for_and_no_part_here_does_is_named) {
  EXPECT_EQ(message_with("llama.attention.sliding_window", 2048), "");
  EXPECT_THAT(message_with("llama.attention.sliding_window", 64),
              HasSubstr("window of 64 tokens (llama.attention.sliding_window)"));
  EXPECT_THAT(message_with("llama.expert_count", 8), HasSubstr("llama with 8 experts"));
  EXPECT_THAT(message_with("llama.attention.value_length", 8),
              HasSubstr("keys of 16 and values of 8"));
  EXPECT_THAT(message_with("llama.attention.head_count_kv", 1), HasSubstr("head_count_kv"));
}

TEST_F(Refusals, an_unknown_kind_of_rope_in_metadata_is_named) {
  take("llama/yarn");
  change("model.gguf", std::string_view("type\x08\0\0\0\x04\0\0\0\0\0\0\0yarn", 20),
         std::string_view("type\x08\0\0\0\x04\0\0\0\0\0\0\0yern", 20));
  EXPECT_THAT(refusal(gguf()).message,
              HasSubstr("rope scaling 'yern' is not supported; known are none, linear, yarn"));
}

TEST_F(Refusals, attention_bias_needs_the_bias_of_the_output_projection_too) {
  patch("config.json", R"({"attention_bias": true})");
  EXPECT_THAT(message(),
              AllOf(HasSubstr("missing tensors"), HasSubstr("model.layers.0.self_attn.q_proj.bias"),
                    HasSubstr("model.layers.2.self_attn.o_proj.bias")));
}

TEST_F(Refusals, a_bias_that_the_configuration_denies_is_no_tensor_of_the_architecture) {
  take("llama/bias");
  patch("config.json", R"({"attention_bias": false})");
  EXPECT_THAT(message(),
              AllOf(HasSubstr("does not have"), HasSubstr("model.layers.0.self_attn.k_proj.bias")));
}

TEST_F(Refusals, qwen2_needs_its_biases_whatever_the_configuration_says) {
  patch("config.json", R"({"model_type": "qwen2", "attention_bias": false})");
  EXPECT_THAT(message(), AllOf(HasSubstr("missing tensors"),
                               HasSubstr("model.layers.1.self_attn.v_proj.bias")));
}

TEST_F(Refusals, a_head_that_is_not_tied_must_be_there) {
  take("qwen2/tied");
  patch("config.json", R"({"tie_word_embeddings": false})");
  EXPECT_THAT(message(), HasSubstr("missing tensors: lm_head.weight"));
}

TEST_F(Refusals, missing_extra_and_misshapen_tensors_are_one_error) {
  change("model.safetensors", "model.layers.1.mlp.up_proj.weight",
         "model.layers.1.mlp.up_prop.weight");
  patch("config.json", R"({"num_key_value_heads": 3})");
  EXPECT_THAT(message(),
              AllOf(HasSubstr("missing tensors: model.layers.1.mlp.up_proj.weight"),
                    HasSubstr("model.layers.0.self_attn.k_proj.weight is (16, 48), expected"),
                    HasSubstr("does not have: model.layers.1.mlp.up_prop.weight")));
}

TEST_F(Refusals, a_configuration_with_more_layers_lists_what_they_lack) {
  patch("config.json", R"({"num_hidden_layers": 4})");
  EXPECT_THAT(message(), HasSubstr("model.layers.3.self_attn.q_proj.weight"));
}

TEST_F(Refusals, more_experts_than_can_be_there_are_named_as_a_range) {
  take("olmoe/normed");
  patch("config.json", R"({"num_experts": 16384})");
  EXPECT_THAT(message(), HasSubstr("model.layers.1.mlp.experts.0 to 16383.up_proj.weight"));
  patch("config.json", R"({"num_hidden_layers": 4096})");
  EXPECT_NE(message().find(" more; tensors of the wrong shape"), std::string::npos);
}

TEST_F(Refusals, experts_are_checked_against_each_other) {
  take("olmoe/normed");
  patch("config.json", R"({"num_experts_per_tok": 13})");
  EXPECT_THAT(message(), HasSubstr("experts of a token is 13, expected 1 to 12"));
  patch("config.json", R"({"num_experts_per_tok": 0})");
  EXPECT_THAT(message(), HasSubstr("experts of a token is 0"));
  patch("config.json", R"({"num_experts": 0})");
  EXPECT_THAT(message(), HasSubstr("the number of experts is 0, expected 1 to 16384"));
  patch("config.json", R"({"num_experts": -1})");
  EXPECT_THAT(message(), HasSubstr("the number of experts is -1"));
  patch("config.json", R"({"num_experts": 12, "num_experts_per_tok": 3, "clip_qkv": 8.0})");
  EXPECT_THAT(message(), HasSubstr("clip_qkv"));
}

TEST_F(Refusals, layer_kinds_of_lfm2_must_fit) {
  take("lfm2/mixed");
  patch("config.json", R"({"layer_types": []})");
  EXPECT_THAT(message(), HasSubstr("layer_types is empty"));
  patch("config.json", R"({"layer_types": ["conv", "full_attention"]})");
  EXPECT_THAT(message(), HasSubstr("2 kinds of layer for 5 layers"));
  patch("config.json", R"({"layer_types": ["conv", "conv", "mamba", "conv", "conv"]})");
  EXPECT_THAT(message(), HasSubstr("'mamba'"));
  patch("config.json", R"({"layer_types": null})");
  EXPECT_THAT(message(), HasSubstr("full_attn_idxs"));
}

TEST_F(Refusals, lfm2_convolutions_and_sizes_must_fit) {
  take("lfm2/mixed");
  patch("config.json", R"({"conv_L_cache": 1})");
  EXPECT_THAT(message(), HasSubstr("convolutions over 1 tokens"));
  patch("config.json", R"({"conv_L_cache": 3})");
  EXPECT_THAT(message(), HasSubstr("conv.conv.weight is (64, 1, 4), expected (64, 1, 3)"));
  patch("config.json", R"({"block_auto_adjust_ff_dim": true,
                           "block_multiple_of": 9223372036854775807})");
  EXPECT_THAT(message(), HasSubstr("in steps of 9223372036854775807"));
  patch("config.json", R"({"block_multiple_of": 256, "block_ffn_dim_multiplier": 1e300})");
  EXPECT_THAT(message(), HasSubstr("feed-forward size"));
}

TEST_F(Refusals, ids_that_end_a_text_must_be_tokens) {
  patch("config.json", R"({"eos_token_id": 287})");  // a row of the embedding, but no token
  patch("generation_config.json", R"({"eos_token_id": null})");
  EXPECT_THAT(message(), AllOf(HasSubstr("287"), HasSubstr("280 tokens")));
  patch("generation_config.json", R"({"eos_token_id": [287, 4000]})");
  EXPECT_THAT(message(), HasSubstr("end-of-sequence id 4000 is outside the vocabulary of 288"));
}

TEST_F(Refusals, ids_that_disagree_are_told_of) {
  patch("tokenizer_config.json", R"({"eos_token": "<|im_start|>"})");
  std::string line;
  const LogSink log = [&](LogLevel, std::string_view said) { line = said; };
  const auto info = Model::inspect(folder_.string(), device_, {.log = log});
  ASSERT_TRUE(info) << info.error().message;
  EXPECT_THAT(line, AllOf(HasSubstr("the tokenizer's end-of-sequence id is 278"),
                          HasSubstr("the configuration has 279")));
  EXPECT_THAT(info->end_ids, testing::IsSupersetOf({278, 279}));
}

TEST_F(Refusals, without_tokenizer_config_everything_else_is_still_checked) {
  fs::remove(folder_ / "tokenizer_config.json");
  EXPECT_TRUE(Model::load(folder_.string(), device_));
  patch("generation_config.json", R"({"eos_token_id": 3})");
  EXPECT_THAT(message(), HasSubstr("eos_token_id 3 against 279"));
  patch("generation_config.json", R"({"eos_token_id": 287})");
  patch("config.json", R"({"eos_token_id": 287})");
  EXPECT_THAT(message(), HasSubstr("280 tokens"));
  patch("config.json", R"({"vocab_size": 270})");
  patch("config.json", R"({"eos_token_id": 2})");
  patch("generation_config.json", R"({"eos_token_id": 2})");
  EXPECT_THAT(message(), AllOf(HasSubstr("280 tokens"), HasSubstr("270 rows")));
}

TEST_F(Refusals, two_tokens_of_one_text_are_named) {
  change("tokenizer.json", "\"content\": \"<|im_end|>\"", "\"content\": \"<|im_start|>\"");
  EXPECT_THAT(message(), HasSubstr("tokens 278 and 279 have the same text"));
}

TEST_F(Refusals, a_merge_of_what_is_no_token_is_named) {
  json tokenizer = json::parse(test::read_text(folder_ / "tokenizer.json"));
  tokenizer["model"]["merges"].push_back(json::array({"zz", "zz"}));
  test::write_text(folder_ / "tokenizer.json", tokenizer.dump());
  EXPECT_THAT(message(), AllOf(HasSubstr("\"zz\""), HasSubstr("parts that are no tokens")));
}

TEST_F(Refusals, a_shard_outside_the_folder_is_not_opened) {
  take("qwen2/sharded");
  change("model.safetensors.index.json", "\"model-00002-of-00005.safetensors\"",
         "\"../model-00002-of-00005.safetensors\"");
  EXPECT_THAT(message(), HasSubstr("not the name of a file in that folder"));
}

TEST_F(Refusals, a_shard_that_is_not_there_is_named) {
  take("qwen2/sharded");
  fs::remove(folder_ / "model-00003-of-00005.safetensors");
  EXPECT_THAT(message(), HasSubstr("model-00003-of-00005.safetensors"));
}

TEST_F(Refusals, one_of_several_files_is_not_the_model) {
  take("qwen2/sharded");
  EXPECT_THAT(refusal((folder_ / "model-00002-of-00005.safetensors").string()).message,
              AllOf(HasSubstr("model.safetensors.index.json lists"), HasSubstr("open the folder")));
}

TEST_F(Refusals, a_folder_of_gguf_files_says_which) {
  fs::remove(folder_ / "config.json");
  const Error error = refusal();
  EXPECT_EQ(error.code, Error::not_found);
  EXPECT_THAT(error.message, HasSubstr("open one of model.gguf"));
}

TEST_F(Refusals, the_configuration_stands_for_its_folder) {
  EXPECT_TRUE(Model::load((folder_ / "config.json").string(), device_));
}

TEST_F(Refusals, a_part_of_a_split_file_that_is_not_there_is_named) {
  take("qwen2/sharded");
  fs::remove(folder_ / "model-00002-of-00003.gguf");
  EXPECT_THAT(refusal((folder_ / "model-00001-of-00003.gguf").string()).message,
              HasSubstr("model-00002-of-00003.gguf"));
}

}  // namespace
}  // namespace mummu
