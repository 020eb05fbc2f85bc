#pragma once

// config.json of the Hugging Face hub: the keys that all families share.

#include <string_view>

#include "file/json.h"
#include "model/config.h"
#include "mummu/result.h"

namespace mummu {

// What a family's reference takes for a key that the file leaves out.
struct JsonDefaults {
  std::string_view eps_key = "rms_norm_eps";
  double eps = 1e-6;
  double theta = 10000;
  bool tied_head = false;
  std::string_view tied_key = "tie_word_embeddings";
  int64_t head_dim = 0;                 // 0: hidden_size / num_attention_heads
  std::string_view other_ffn_key = "";  // wins over intermediate_size where it is there
};

//   errors   corrupt (missing, mistyped or contradictory values), unsupported (names what would
//            change the result: activation, rope kind, attention window, quantisation)
Result<ModelConfig> read_config_json(const JsonObject& config, const JsonDefaults& defaults);

// The rotary embedding of a config: rope_theta, rope_scaling, rope_parameters.
//   errors   as above
Result<RopeConfig> read_rope_json(const JsonObject& config, const ModelConfig& model,
                                  double default_theta);

// eos_token_id: a number, a list of numbers, or nothing.
Result<std::vector<TokenId>> read_end_ids(const JsonObject& config);

// Refuses an attention window that is shorter than the context and that some layer would use. What
// the reference takes where the file does not say: whether a window is used, and from which layer.
struct WindowDefaults {
  bool used = true;
  int64_t first_layer = 0;
};
Result<void> refuse_window(const JsonObject& config, const ModelConfig& model,
                           const WindowDefaults& defaults);

}  // namespace mummu
