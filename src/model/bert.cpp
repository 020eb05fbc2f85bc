// BERT: an encoder with learned positions and kinds of token, biases everywhere, a norm after each
// part, gelu. Its tokens' vectors are what it makes; what pools them stands above.
//   source   arXiv 1810.04805; transformers models/bert

#include <nlohmann/json.hpp>

#include "base/fail.h"
#include "file/quote.h"
#include "model/config_gguf.h"
#include "model/family.h"

namespace mummu {

namespace {

// Keys of config.json that other recipes set, and the only value that this one computes.
Result<void> refuse_other_recipes(const JsonObject& file) {
  MUMMU_TRY(const auto activation, file.find_string("hidden_act"));
  if (activation.value_or("gelu") != "gelu")
    return fail(Error::unsupported, "{}: hidden_act {} is not supported; known is gelu",
                file.where(), quote(*activation));
  MUMMU_TRY(const auto positions, file.find_string("position_embedding_type"));
  if (positions.value_or("absolute") != "absolute")
    return fail(Error::unsupported,
                "{}: position_embedding_type {} is not supported; known is absolute", file.where(),
                quote(*positions));
  for (const char* key : {"is_decoder", "add_cross_attention"}) {
    MUMMU_TRY(const auto set, file.find_bool(key));
    if (set.value_or(false))
      return fail(Error::unsupported, "{}: {} is not supported", file.where(), key);
  }
  if (file.has("quantization_config"))
    return fail(Error::unsupported,
                "{}: quantization_config is not supported; take the unquantised checkpoint or a "
                "GGUF file",
                file.where());
  return {};
}

// The heads share the hidden size evenly; keys and values are as many.
Result<void> split_heads(ModelConfig& config, const std::string& where) {
  if (config.heads < 1 || config.hidden % config.heads != 0)
    return fail(Error::corrupt, "{}: a hidden size of {} cannot be split over {} heads", where,
                config.hidden, config.heads);
  config.kv_heads = config.heads;
  config.head_dim = config.hidden / config.heads;
  return {};
}

Result<ModelConfig> from_json(const JsonObject& file) {
  MUMMU_TRY(refuse_other_recipes(file));
  ModelConfig config;
  MUMMU_TRY(config.layers, file.get_int("num_hidden_layers"));
  MUMMU_TRY(config.hidden, file.get_int("hidden_size"));
  MUMMU_TRY(config.ffn, file.get_int("intermediate_size"));
  MUMMU_TRY(config.heads, file.get_int("num_attention_heads"));
  MUMMU_TRY(config.vocab, file.get_int("vocab_size"));
  MUMMU_TRY(config.context, file.get_int("max_position_embeddings"));
  MUMMU_TRY(const auto types, file.find_int("type_vocab_size"));
  config.token_types = types.value_or(2);
  if (config.token_types == 0)
    return fail(Error::corrupt, "{}: type_vocab_size is 0", file.where());
  MUMMU_TRY(const auto eps, file.find_double("layer_norm_eps"));
  config.norm_eps = eps.value_or(1e-12);
  MUMMU_TRY(split_heads(config, file.where()));
  return config;
}

Result<ModelConfig> from_gguf(const Gguf& file) {
  MUMMU_TRY(const auto causal, file.find_bool("bert.attention.causal"));
  if (causal.value_or(false))
    return fail(Error::unsupported, "{}: bert.attention.causal is not supported", file.path());
  MUMMU_TRY(auto config, read_config_gguf(file, "attention.layer_norm_epsilon"));
  const TensorInfo* types = file.find("token_types.weight");
  config.token_types = types && !types->shape.empty() ? types->shape[0] : 2;
  config.end_ids.clear();
  MUMMU_TRY(split_heads(config, file.path()));
  return config;
}

void bind_norm(const ModelConfig& config, WeightPlan& plan, Name name, LayerNorm& norm) {
  norm.eps = static_cast<float>(config.norm_eps);
  plan.weight_vector(norm.weight, name, config.hidden);
  plan.bias(norm.bias, name, config.hidden);
}

// A matrix and its bias, in the order of its outputs.
void bind_dense(WeightPlan& plan, Name name, int64_t rows, int64_t columns, Weight& weight,
                Tensor& bias) {
  plan.matrix(weight, name, rows, columns);
  plan.bias(bias, name, rows);
}

void bind_layer(const ModelConfig& config, WeightPlan& plan, EncoderLayer& layer) {
  const int64_t hidden = config.hidden;
  layer.heads = config.heads;
  layer.head_dim = config.head_dim;
  bind_dense(plan, {"attention.self.query", "attn_q"}, hidden, hidden, layer.query,
             layer.query_bias);
  bind_dense(plan, {"attention.self.key", "attn_k"}, hidden, hidden, layer.key, layer.key_bias);
  bind_dense(plan, {"attention.self.value", "attn_v"}, hidden, hidden, layer.value,
             layer.value_bias);
  bind_dense(plan, {"attention.output.dense", "attn_output"}, hidden, hidden, layer.output,
             layer.output_bias);
  bind_norm(config, plan, {"attention.output.LayerNorm", "attn_output_norm"}, layer.attention_norm);
  bind_dense(plan, {"intermediate.dense", "ffn_up"}, config.ffn, hidden, layer.up, layer.up_bias);
  bind_dense(plan, {"output.dense", "ffn_down"}, hidden, config.ffn, layer.down, layer.down_bias);
  bind_norm(config, plan, {"output.LayerNorm", "layer_output_norm"}, layer.ffn_norm);
}

void bind(const ModelConfig& config, WeightPlan& plan, Encoder& encoder) {
  encoder.hidden = config.hidden;
  encoder.vocab_rows = config.vocab;
  encoder.context_tokens = config.context;
  encoder.layers = std::vector<EncoderLayer>(static_cast<size_t>(config.layers));
  // Checkpoints of a whole training model hold the encoder under its name, beside heads.
  const bool whole = plan.table().find("bert.embeddings.word_embeddings.weight") != nullptr;
  plan.at({whole ? "bert.embeddings." : "embeddings.", ""});
  plan.matrix(encoder.words, {"word_embeddings", "token_embd"}, config.vocab, config.hidden);
  plan.matrix(encoder.positions, {"position_embeddings", "position_embd"}, config.context,
              config.hidden);
  plan.matrix(encoder.types, {"token_type_embeddings", "token_types"}, config.token_types,
              config.hidden);
  bind_norm(config, plan, {"LayerNorm", "token_embd_norm"}, encoder.embedding_norm);
  for (int64_t i = 0; i < config.layers; ++i) {
    plan.at_layer({whole ? "bert.encoder.layer" : "encoder.layer", "blk"}, i);
    bind_layer(config, plan, encoder.layers[static_cast<size_t>(i)]);
  }
  // Older files hold the numbers 0 to context - 1.
  plan.ignore_suffix("embeddings.position_ids");
  // The part behind the first token, and the heads of training: no part of the tokens' vectors.
  plan.ignore_suffix("pooler.dense.weight");
  plan.ignore_suffix("pooler.dense.bias");
  if (whole) plan.ignore_prefix("cls.");
}

}  // namespace

constinit const Family kBert = {"bert", from_json, from_gguf, nullptr, bind};

}  // namespace mummu
