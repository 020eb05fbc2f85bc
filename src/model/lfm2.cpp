// LFM2 and LFM2.5 (dense): attention with a norm of every head of q and k in some layers, a gated
// short convolution in the others.
//   source   arXiv 2511.23404; transformers models/lfm2

#include <algorithm>
#include <cmath>

#include "base/fail.h"
#include "file/quote.h"
#include "layer/short_conv.h"
#include "model/config_gguf.h"
#include "model/config_json.h"
#include "model/family.h"
#include "model/parts.h"

namespace mummu {

namespace {

constexpr AttentionNames kNames = {
    .query = {"self_attn.q_proj", "attn_q"},
    .key = {"self_attn.k_proj", "attn_k"},
    .value = {"self_attn.v_proj", "attn_v"},
    .output = {"self_attn.out_proj", "attn_output"},
    .query_norm = {"self_attn.q_layernorm", "attn_q_norm"},
    .key_norm = {"self_attn.k_layernorm", "attn_k_norm"},
};

constexpr GatedNames kGated = {
    .gate = {"feed_forward.w1", "ffn_gate"},
    .up = {"feed_forward.w3", "ffn_up"},
    .down = {"feed_forward.w2", "ffn_down"},
};

// The file states a size from which the real one follows.
Result<void> adjust_ffn(const JsonObject& file, ModelConfig& config) {
  MUMMU_TRY(const auto adjust, file.find_bool("block_auto_adjust_ff_dim"));
  if (!adjust.value_or(true)) return {};
  MUMMU_TRY(const auto factor, file.find_double("block_ffn_dim_multiplier"));
  MUMMU_TRY(const auto multiple, file.find_int("block_multiple_of"));
  constexpr int64_t kMaxWidth = 1 << 30;  // what is left to check_config
  const int64_t step = multiple.value_or(256);
  const double width =
      std::floor(factor.value_or(1) * std::floor(2.0 * static_cast<double>(config.ffn) / 3));
  if (step < 1 || step > kMaxWidth || !(width >= 1 && width <= kMaxWidth))
    return fail(Error::corrupt, "{}: a feed-forward size of {} in steps of {}", file.where(), width,
                step);
  config.ffn = (static_cast<int64_t>(width) + step - 1) / step * step;
  return {};
}

Result<void> read_layer_kinds(const JsonObject& file, ModelConfig& config) {
  MUMMU_TRY(const auto types, file.find_strings("layer_types"));
  if (types) {
    for (const std::string& type : *types) {
      if (type != "conv" && type != "full_attention")
        return fail(Error::unsupported,
                    "{}: layer type {} is not supported; known are conv, full_attention",
                    file.where(), quote(type));
      config.attention_layers.push_back(type == "full_attention");
    }
    if (types->empty()) return fail(Error::corrupt, "{}: layer_types is empty", file.where());
    return {};
  }
  MUMMU_TRY(const auto indices, file.get_ints("full_attn_idxs"));
  for (int64_t i = 0; i < std::min<int64_t>(config.layers, 1 << 12); ++i)
    config.attention_layers.push_back(std::find(indices.begin(), indices.end(), i) !=
                                      indices.end());
  return {};
}

Result<ModelConfig> from_json(const JsonObject& file) {
  const bool short_key = file.has("tie_embedding");
  MUMMU_TRY(auto config,
            read_config_json(file, {.eps_key = "norm_eps",
                                    .eps = 1e-5,
                                    .theta = 1000000,
                                    .tied_head = true,
                                    .tied_key = short_key ? "tie_embedding" : "tie_word_embeddings",
                                    .other_ffn_key = "block_ff_dim"}));
  MUMMU_TRY(adjust_ffn(file, config));
  MUMMU_TRY(read_layer_kinds(file, config));
  MUMMU_TRY(const auto length, file.find_int("conv_L_cache"));
  config.conv_length = length.value_or(3);
  MUMMU_TRY(const auto bias, file.find_bool("conv_bias"));
  config.conv_bias = bias.value_or(false);
  config.qkv_bias = config.output_bias = false;
  return config;
}

Result<ModelConfig> from_gguf(const Gguf& file) {
  MUMMU_TRY(auto config, read_config_gguf(file, "attention.layer_norm_rms_epsilon"));
  MUMMU_TRY(const auto kv_heads,
            read_by_layer(file, "lfm2.attention.head_count_kv", config.layers));
  for (int64_t heads : kv_heads) {
    if (heads != 0 && heads != config.kv_heads)
      return fail(Error::unsupported, "{}: {} and {} kv_heads in one model are not supported",
                  file.path(), heads, config.kv_heads);
    config.attention_layers.push_back(heads != 0);
  }
  MUMMU_TRY(config.conv_length, file.get_i64("lfm2.shortconv.l_cache"));
  const auto is_bias = [](const TensorInfo& tensor) {
    return tensor.name.ends_with(".shortconv.conv.bias");
  };
  config.conv_bias = std::any_of(file.tensors().begin(), file.tensors().end(), is_bias);
  config.qkv_bias = config.output_bias = false;
  return config;
}

std::unique_ptr<ShortConv> bind_conv(const ModelConfig& config, WeightPlan& plan) {
  constexpr Name kIn = {"conv.in_proj", "shortconv.in_proj"};
  constexpr Name kKernel = {"conv.conv", "shortconv.conv"};
  constexpr Name kOut = {"conv.out_proj", "shortconv.out_proj"};
  auto part = std::make_unique<ShortConv>();
  part->length = config.conv_length;
  part->hidden = config.hidden;
  plan.matrix(part->in, kIn, 3 * config.hidden, config.hidden);
  plan.kernel(part->kernel, kKernel, config.hidden, config.conv_length);
  plan.matrix(part->out, kOut, config.hidden, config.hidden);
  if (config.conv_bias) {
    plan.bias(part->in_bias, kIn, 3 * config.hidden);
    plan.bias(part->bias, kKernel, config.hidden);
    plan.bias(part->out_bias, kOut, config.hidden);
  }
  return part;
}

void bind(const ModelConfig& config, WeightPlan& plan, Decoder& decoder) {
  // GGUF files name the last norm after the embedding; some newer ones after the output.
  plan.at({"", ""});
  const bool output_norm = plan.has({"", "output_norm"});
  bind_frame(config, plan, {"embedding_norm", output_norm ? "output_norm" : "token_embd_norm"},
             decoder);
  for (int64_t i = 0; i < config.layers; ++i) {
    DecoderLayer& layer = decoder.layers[static_cast<size_t>(i)];
    plan.at_layer(kLayers, i);
    bind_norm(config, plan, {"operator_norm", "attn_norm"}, config.hidden, layer.mixer_norm);
    if (config.attention_layers[static_cast<size_t>(i)]) {
      layer.mixer = bind_attention(config, plan, kNames, QueryKeyNorm::head);
    } else {
      layer.mixer = bind_conv(config, plan);
    }
    bind_norm(config, plan, {"ffn_norm", "ffn_norm"}, config.hidden, layer.ffn_norm);
    layer.ffn = bind_gated(config, plan, kGated);
  }
}

}  // namespace

constinit const Family kLfm2 = {"lfm2", from_json, from_gguf, bind};

}  // namespace mummu
