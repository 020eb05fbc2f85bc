// OLMoE: attention with a norm over all heads of q and of k together, and a mixture of experts.
//   source   arXiv 2409.02060; transformers models/olmoe

#include "base/fail.h"
#include "layer/moe_mlp.h"
#include "model/config_gguf.h"
#include "model/config_json.h"
#include "model/family.h"
#include "model/parts.h"

namespace mummu {

namespace {

Result<ModelConfig> from_json(const JsonObject& file) {
  MUMMU_TRY(auto config, read_config_json(file, {.eps = 1e-5}));
  MUMMU_TRY(refuse_window(file, config, {}));
  if (file.has("clip_qkv"))
    return fail(Error::unsupported, "{}: clip_qkv is not supported", file.where());
  config.mixture = true;
  MUMMU_TRY(config.experts, file.get_int("num_experts"));
  MUMMU_TRY(config.top_k, file.get_int("num_experts_per_tok"));
  MUMMU_TRY(const auto normalise, file.find_bool("norm_topk_prob"));
  config.normalise_shares = normalise.value_or(false);
  return config;
}

Result<ModelConfig> from_gguf(const Gguf& file) {
  MUMMU_TRY(auto config, read_config_gguf(file, "attention.layer_norm_rms_epsilon"));
  config.mixture = true;
  MUMMU_TRY(config.experts, file.get_i64("olmoe.expert_count"));
  MUMMU_TRY(config.top_k, file.get_i64("olmoe.expert_used_count"));
  MUMMU_TRY(const auto normalise, file.find_bool("olmoe.expert_weights_norm"));
  config.normalise_shares = normalise.value_or(false);
  return config;
}

std::unique_ptr<MoeMlp> bind_experts(const ModelConfig& config, WeightPlan& plan) {
  auto part = std::make_unique<MoeMlp>();
  part->top_k = config.top_k;
  part->normalise = config.normalise_shares;
  const int64_t count = config.experts, ffn = config.ffn, hidden = config.hidden;
  plan.router(part->router, {"mlp.gate", "ffn_gate_inp"}, count, hidden);
  const std::string_view before = "mlp.experts";
  plan.experts(part->gate, before, {"gate_proj", "ffn_gate_exps"}, count, ffn, hidden);
  plan.experts(part->up, before, {"up_proj", "ffn_up_exps"}, count, ffn, hidden);
  plan.experts(part->down, before, {"down_proj", "ffn_down_exps"}, count, hidden, ffn);
  return part;
}

void bind(const ModelConfig& config, WeightPlan& plan, Decoder& decoder) {
  bind_frame(config, plan, {"norm", "output_norm"}, decoder);
  for (int64_t i = 0; i < config.layers; ++i) {
    DecoderLayer& layer = decoder.layers[static_cast<size_t>(i)];
    plan.at_layer(kLayers, i);
    bind_norm(config, plan, {"input_layernorm", "attn_norm"}, config.hidden, layer.mixer_norm);
    layer.mixer = bind_attention(config, plan, kAttentionNames, QueryKeyNorm::row);
    bind_norm(config, plan, {"post_attention_layernorm", "ffn_norm"}, config.hidden,
              layer.ffn_norm);
    layer.ffn = bind_experts(config, plan);
  }
}

}  // namespace

constinit const Family kOlmoe = {"olmoe", from_json, from_gguf, bind};

}  // namespace mummu
