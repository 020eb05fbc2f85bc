// The generations of config.json say the same thing in other words: a checkpoint computes the same
// bits under each.

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "model/test/checkpoint.h"
#include "model/test_decoder.h"

namespace mummu {
namespace {

using nlohmann::json;

class Spelling : public test::CheckpointTest {
 protected:
  std::vector<float> logits() {
    const auto loaded = test::load_decoder(folder_.string(), device_);
    EXPECT_TRUE(loaded) << (loaded ? "" : loaded.error().message);
    if (!loaded) return {};
    test::Sequence sequence(*loaded, 20, DType::f32);
    std::vector<TokenId> ids(20);
    std::iota(ids.begin(), ids.end(), 5);
    sequence.feed(ids);
    return sequence.logits;
  }

  json config() const { return json::parse(test::read_text(folder_ / "config.json")); }
  void write(const json& config) { test::write_text(folder_ / "config.json", config.dump()); }
};

TEST_F(Spelling, of_rope_is_rope_scaling_or_rope_parameters_and_type_or_rope_type) {
  for (const char* name : {"llama/bias", "llama/llama3", "llama/yarn", "qwen2/sharded"}) {
    take(name);
    const auto expected = logits();
    json old = config();
    json scaling = old["rope_parameters"];
    old["rope_theta"] = scaling["rope_theta"];
    old.erase("rope_parameters");
    scaling.erase("rope_theta");
    old["rope_scaling"] = scaling;
    write(old);
    EXPECT_EQ(logits(), expected) << name;
    old["rope_scaling"]["type"] = scaling["rope_type"];
    old["rope_scaling"].erase("rope_type");
    write(old);
    EXPECT_EQ(logits(), expected) << name;
    old["rope_theta"] = 12345.0;
    write(old);
    EXPECT_NE(logits(), expected) << name;
  }
}

TEST_F(Spelling, of_a_window_that_nothing_uses_changes_nothing) {
  for (const char* name : {"qwen2/tied", "qwen3/wide"}) {
    take(name);
    const auto expected = logits();
    json used = config();
    used["sliding_window"] = 4;
    used["use_sliding_window"] = false;
    write(used);
    EXPECT_EQ(logits(), expected) << name;
    used.erase("layer_types");
    used["max_window_layers"] = 0;
    write(used);
    EXPECT_EQ(logits(), expected) << name;
  }
}

TEST_F(Spelling, of_lfm2_layers_is_their_types_or_the_indices_of_attention) {
  take("lfm2/untied");
  const auto expected = logits();
  json old = config();
  old.erase("layer_types");
  old["full_attn_idxs"] = {1};
  old["block_ff_dim"] = old["intermediate_size"];
  old["intermediate_size"] = 1;
  old["tie_embedding"] = false;
  old["tie_word_embeddings"] = true;
  write(old);
  EXPECT_EQ(logits(), expected);
}

}  // namespace
}  // namespace mummu
