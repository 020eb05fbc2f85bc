// Llama: attention and gated feed-forward parts, each behind a norm.
//   source   arXiv 2302.13971; transformers models/llama

#include "base/fail.h"
#include "model/config_gguf.h"
#include "model/config_json.h"
#include "model/family.h"
#include "model/parts.h"

namespace mummu {

namespace {

Result<ModelConfig> from_json(const JsonObject& file) {
  MUMMU_TRY(auto config, read_config_json(file, {}));
  MUMMU_TRY(refuse_window(file, config));
  return config;
}

Result<ModelConfig> from_gguf(const Gguf& file) {
  MUMMU_TRY(const auto experts, file.find_i64("llama.expert_count"));
  if (experts.value_or(0) > 0)
    return fail(Error::unsupported, "{}: llama with {} experts is not supported", file.path(),
                *experts);
  return read_config_gguf(file, "attention.layer_norm_rms_epsilon");
}

void bind(const ModelConfig& config, WeightPlan& plan, Decoder& decoder) {
  bind_frame(config, plan, {"norm", "output_norm"}, decoder);
  // Older files repeat the frequencies that follow from the configuration.
  plan.ignore_suffix(".rotary_emb.inv_freq");
  const RowOrder order{plan.format() == Format::gguf ? config.head_dim : 0};
  for (int64_t i = 0; i < config.layers; ++i) {
    DecoderLayer& layer = decoder.layers[static_cast<size_t>(i)];
    plan.at_layer(kLayers, i);
    bind_norm(config, plan, {"input_layernorm", "attn_norm"}, config.hidden, layer.mixer_norm);
    layer.mixer = bind_attention(config, plan, kAttentionNames, QueryKeyNorm::none, order);
    bind_norm(config, plan, {"post_attention_layernorm", "ffn_norm"}, config.hidden,
              layer.ffn_norm);
    layer.ffn = bind_gated(config, plan, kGatedNames);
  }
}

}  // namespace

constinit const Family kLlama = {"llama", from_json, from_gguf, bind};

}  // namespace mummu
