// What configurations are refused for, by name.

#include "model/config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "base/test_fixture.h"
#include "model/test/config.h"

namespace mummu {
namespace {

using nlohmann::json;
using test::ConfigRefusal;
using testing::HasSubstr;

json plain() {
  return json::parse(R"({
    "model_type": "llama", "hidden_size": 64, "intermediate_size": 96, "num_hidden_layers": 2,
    "num_attention_heads": 4, "num_key_value_heads": 2, "vocab_size": 100,
    "max_position_embeddings": 128, "rms_norm_eps": 1e-5, "rope_theta": 10000.0,
    "hidden_act": "silu", "eos_token_id": 2})");
}

class Refused : public testing::TestWithParam<ConfigRefusal> {};

TEST_P(Refused, says_what_is_wrong) {
  json config = plain();
  config.merge_patch(json::parse(GetParam().patch));
  test::expect_refused(config, GetParam());
}

constexpr ConfigRefusal kCorrupt[] = {
    {R"({"num_hidden_layers": 0})", Error::corrupt, "layers is 0"},
    {R"({"num_hidden_layers": -3})", Error::corrupt, "layers is -3"},
    {R"({"num_hidden_layers": 1000000000})", Error::corrupt, "layers is 1000000000"},
    {R"({"num_attention_heads": 0})", Error::corrupt, "heads"},
    {R"({"num_key_value_heads": 0})", Error::corrupt, "kv_heads is 0"},
    {R"({"num_key_value_heads": 3})", Error::corrupt, "4 heads cannot share 3 kv_heads"},
    {R"({"num_key_value_heads": 8})", Error::corrupt, "kv_heads is 8"},
    {R"({"num_attention_heads": 5, "num_key_value_heads": 5})", Error::corrupt,
     "split over 5 heads"},
    {R"({"head_dim": 0})", Error::corrupt, "head_dim is 0"},
    {R"({"head_dim": 15})", Error::corrupt, "even number"},
    {R"({"hidden_size": 0})", Error::corrupt, "hidden size is 0"},
    {R"({"hidden_size": "64"})", Error::corrupt, "hidden_size"},
    {R"({"hidden_size": null})", Error::corrupt, "hidden_size"},
    {R"({"intermediate_size": 0})", Error::corrupt, "feed-forward"},
    {R"({"vocab_size": 0})", Error::corrupt, "vocabulary"},
    {R"({"max_position_embeddings": 0})", Error::corrupt, "context length is 0"},
    {R"({"rms_norm_eps": 0})", Error::corrupt, "eps is 0"},
    {R"({"rms_norm_eps": -1e-5})", Error::corrupt, "eps"},
    {R"({"rope_theta": 0})", Error::corrupt, "theta is 0"},
    {R"({"rope_theta": -10000})", Error::corrupt, "theta"},
    {R"({"eos_token_id": 100})", Error::corrupt, "id 100 is outside the vocabulary"},
    {R"({"eos_token_id": [2, -1]})", Error::corrupt, "-1"},
    {R"({"rope_theta": 0.5})", Error::corrupt, "theta is 0.5"},
    {R"({"rope_theta": "10000"})", Error::corrupt, "rope_theta"},
    {R"({"rope_scaling": {"rope_type": "linear", "factor": 0.25}})", Error::corrupt,
     "factor is 0.25"},
    {R"({"rope_scaling": {"rope_type": "linear"}})", Error::corrupt, "factor"},
    {R"({"rope_scaling": {"rope_type": "linear", "factor": 0}})", Error::corrupt, "factor is 0"},
    {R"({"rope_scaling": {"rope_type": "linear", "type": "yarn", "factor": 2}})", Error::corrupt,
     "against type"},
    {R"({"rope_scaling": {"rope_type": "linear", "factor": 2},
         "rope_parameters": {"rope_type": "linear", "factor": 4}})",
     Error::corrupt, "contradict"},
    {R"({"rope_scaling": {"type": "llama3", "factor": 8, "low_freq_factor": 1,
         "high_freq_factor": 4},
         "rope_parameters": {"rope_type": "llama3", "factor": 8, "low_freq_factor": 2,
         "high_freq_factor": 4}})",
     Error::corrupt, "contradict"},
    {R"({"rope_parameters": {"rope_theta": 500.0, "rope_type": "default"}})", Error::corrupt,
     "rope_theta 10000"},
    {R"({"rope_scaling": {"rope_type": "llama3", "factor": 8, "low_freq_factor": 4,
         "high_freq_factor": 1}})",
     Error::corrupt, "high_freq_factor"},
};

constexpr ConfigRefusal kUnsupported[] = {
    {R"({"model_type": "gpt2"})", Error::unsupported, "known are llama"},
    {R"({"hidden_act": "gelu"})", Error::unsupported, "hidden_act 'gelu'"},
    {R"({"partial_rotary_factor": 0.5})", Error::unsupported, "partial_rotary_factor of 0.5"},
    {R"({"rope_parameters": {"rope_type": "default", "partial_rotary_factor": 0.25}})",
     Error::unsupported, "partial_rotary_factor of 0.25"},
    {R"({"model_type": "qwen2", "use_sliding_window": true, "sliding_window": 64,
         "max_window_layers": 1})",
     Error::unsupported, "window of 64"},
    {R"({"mlp_bias": true})", Error::unsupported, "mlp_bias"},
    {R"({"quantization_config": {"bits": 4}})", Error::unsupported, "quantization_config"},
    {R"({"rope_scaling": {"type": "dynamic", "factor": 2}})", Error::unsupported, "'dynamic'"},
    {R"({"rope_scaling": {"rope_type": "longrope"}})", Error::unsupported, "'longrope'"},
    {R"({"sliding_window": 64})", Error::unsupported, "window of 64"},
    {R"({"sliding_window": 64, "layer_types": ["full_attention", "sliding_attention"]})",
     Error::unsupported, "window of 64"},
};

INSTANTIATE_TEST_SUITE_P(Corrupt, Refused, testing::ValuesIn(kCorrupt));
INSTANTIATE_TEST_SUITE_P(Unsupported, Refused, testing::ValuesIn(kUnsupported));

ModelConfig patched(const char* patch) {
  json config = plain();
  config.merge_patch(json::parse(patch));
  auto result = test::read_config(config);
  EXPECT_TRUE(result) << (result ? "" : result.error().message);
  return result ? *result : ModelConfig();
}

TEST(Config, a_plain_one_is_read) {
  const ModelConfig config = patched("{}");
  EXPECT_EQ(config.layers, 2);
  EXPECT_EQ(config.head_dim, 16);
  EXPECT_EQ(config.rope.rotary_dim, 16);
  EXPECT_FALSE(config.tied_head);
  EXPECT_THAT(config.end_ids, testing::ElementsAre(2));
}

TEST(Config, a_window_that_changes_nothing_is_none) {
  patched(R"({"sliding_window": 128})");
  patched(R"({"sliding_window": 64, "use_sliding_window": false})");
  patched(R"({"sliding_window": 64, "max_window_layers": 2})");
  patched(R"({"sliding_window": 64, "layer_types": ["full_attention", "full_attention"]})");
}

TEST(Config, qwen_uses_no_window_unless_the_file_says_so) {
  for (const char* family : {"qwen2", "qwen3"}) {
    const std::string patch = std::string(R"({"sliding_window": 64, "max_window_layers": 0,
      "model_type": ")") + family +
                              "\"}";
    patched(patch.c_str());
  }
}

TEST(Config, shares_of_experts_add_up_to_one_only_where_the_file_says_so) {
  constexpr const char* kOlmoe =
      R"({"model_type": "olmoe", "num_experts": 8, "num_experts_per_tok": 2})";
  EXPECT_FALSE(patched(kOlmoe).normalise_shares);
  json config = plain();
  config.merge_patch(json::parse(kOlmoe));
  config["norm_topk_prob"] = true;
  EXPECT_TRUE(test::read_config(config)->normalise_shares);
}

TEST(Config, heads_are_tied_as_the_architecture_does_it_where_the_file_says_nothing) {
  EXPECT_FALSE(patched("{}").tied_head);
  EXPECT_FALSE(patched(R"({"model_type": "qwen2"})").tied_head);
  EXPECT_FALSE(patched(R"({"model_type": "qwen3"})").tied_head);
  EXPECT_TRUE(patched(R"({"model_type": "lfm2", "full_attn_idxs": [1]})").tied_head);
  EXPECT_FALSE(patched(R"({"model_type": "lfm2", "full_attn_idxs": [1], "tie_embedding": false})")
                   .tied_head);
}

TEST(Config, the_older_spelling_of_lfm2_is_the_same) {
  const ModelConfig config = patched(R"({"model_type": "lfm2", "full_attn_idxs": [1],
      "block_ff_dim": 12288, "block_auto_adjust_ff_dim": true, "block_multiple_of": 256})");
  EXPECT_EQ(config.ffn, 8192);
  EXPECT_THAT(config.attention_layers, testing::ElementsAre(false, true));
  EXPECT_EQ(config.conv_length, 3);
  EXPECT_EQ(config.rope.theta, 10000);
}

TEST(Config, the_three_spellings_of_rope_scaling_are_the_same) {
  for (const char* patch :
       {R"({"rope_scaling": {"type": "linear", "factor": 4.0}})",
        R"({"rope_scaling": {"rope_type": "linear", "factor": 4.0}})",
        R"({"rope_parameters": {"rope_type": "linear", "factor": 4.0}})",
        R"({"rope_parameters": {"rope_type": "linear", "factor": 4.0, "rope_theta": 10000.0},
            "rope_scaling": {"type": "linear", "factor": 4.0}})"}) {
    const ModelConfig config = patched(patch);
    EXPECT_EQ(config.rope.kind, RopeKind::linear) << patch;
    EXPECT_EQ(config.rope.factor, 4) << patch;
    EXPECT_EQ(config.rope.theta, 10000) << patch;
  }
}

TEST(Config, attention_bias_is_also_one_of_the_output_projection) {
  const ModelConfig config = patched(R"({"attention_bias": true})");
  EXPECT_TRUE(config.qkv_bias);
  EXPECT_TRUE(config.output_bias);
}

// A copy of a golden GGUF file with a u32 or f32 value of its metadata changed.
template <typename T>
Result<ModelConfig> read_gguf_with(std::string_view key, T value) {
  std::ifstream file(test::golden("llama/gqa/model.gguf"), std::ios::binary);
  std::string text((std::istreambuf_iterator<char>(file)), {});
  const size_t at = text.find(key);
  EXPECT_NE(at, std::string::npos) << key;
  std::memcpy(text.data() + at + key.size() + 4, &value, sizeof value);
  const auto* bytes = reinterpret_cast<const std::byte*>(text.data());
  MUMMU_TRY(const auto gguf,
            Gguf::open(FileReader::from_bytes("a.gguf", {bytes, bytes + text.size()})));
  MUMMU_TRY(const auto name, gguf.get_string("general.architecture"));
  MUMMU_TRY(const Family* family, find_family(name, "a.gguf"));
  MUMMU_TRY(auto config, family->from_gguf(gguf));
  MUMMU_TRY(check_config(config, "a.gguf"));
  return config;
}

template <typename T>
std::string refusal(std::string_view key, T value) {
  const auto result = read_gguf_with(key, value);
  EXPECT_FALSE(result) << key;
  if (result) return {};
  EXPECT_EQ(result.error().code, Error::Code::corrupt);
  EXPECT_THAT(result.error().message, HasSubstr("a.gguf"));
  return result.error().message;
}

TEST(Config, metadata_of_gguf_is_checked_the_same) {
  EXPECT_TRUE(read_gguf_with("llama.block_count", uint32_t{3}));
  EXPECT_THAT(refusal("llama.block_count", uint32_t{0}), HasSubstr("block_count"));
  EXPECT_THAT(refusal("llama.context_length", uint32_t{0}), HasSubstr("context"));
  EXPECT_THAT(refusal("llama.attention.head_count_kv", uint32_t{2}), HasSubstr("cannot share"));
  EXPECT_THAT(refusal("llama.rope.dimension_count", uint32_t{18}), HasSubstr("rotated"));
  EXPECT_THAT(refusal("llama.rope.freq_base", -1.0F), HasSubstr("theta"));
  EXPECT_THAT(refusal("llama.rope.freq_base", NAN), HasSubstr("theta"));
  EXPECT_THAT(refusal("llama.attention.layer_norm_rms_epsilon", 0.0F), HasSubstr("eps"));
  EXPECT_THAT(refusal("llama.attention.layer_norm_rms_epsilon", INFINITY), HasSubstr("eps"));
  EXPECT_THAT(refusal("llama.vocab_size", uint32_t{289}), HasSubstr("288 rows"));
}

}  // namespace
}  // namespace mummu
