#include "model/llama_layers.h"

namespace mummu {

void bind_llama_layers(const ModelConfig& config, WeightPlan& plan, QueryKeyNorm norm,
                       RowOrder order, Decoder& decoder) {
  bind_frame(config, plan, {"norm", "output_norm"}, decoder);
  // Older files repeat the frequencies that follow from the configuration.
  plan.ignore_suffix(".rotary_emb.inv_freq");
  for (int64_t i = 0; i < config.layers; ++i) {
    DecoderLayer& layer = decoder.layers[static_cast<size_t>(i)];
    plan.at_layer(kLayers, i);
    bind_norm(config, plan, {"input_layernorm", "attn_norm"}, config.hidden, layer.mixer_norm);
    layer.mixer = bind_attention(config, plan, kAttentionNames, norm, order);
    bind_norm(config, plan, {"post_attention_layernorm", "ffn_norm"}, config.hidden,
              layer.ffn_norm);
    layer.ffn = bind_gated(config, plan, kGatedNames);
  }
}

}  // namespace mummu
