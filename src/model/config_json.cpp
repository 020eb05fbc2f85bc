#include "model/config_json.h"

#include <nlohmann/json.hpp>

#include "base/fail.h"
#include "file/quote.h"

namespace mummu {

namespace {

// Reads a key that may be absent.
template <typename T, typename Find>
Result<T> value_or(const JsonObject& config, Find find, std::string_view key, T fallback) {
  MUMMU_TRY(const auto found, (config.*find)(key));
  return found ? static_cast<T>(*found) : fallback;
}

Result<int64_t> int_or(const JsonObject& config, std::string_view key, int64_t fallback) {
  return value_or<int64_t>(config, &JsonObject::find_int, key, fallback);
}

Result<double> double_or(const JsonObject& config, std::string_view key, double fallback) {
  return value_or<double>(config, &JsonObject::find_double, key, fallback);
}

Result<bool> bool_or(const JsonObject& config, std::string_view key, bool fallback) {
  return value_or<bool>(config, &JsonObject::find_bool, key, fallback);
}

Result<void> refuse_unknown_arithmetic(const JsonObject& config) {
  MUMMU_TRY(const auto activation, config.find_string("hidden_act"));
  if (activation && *activation != "silu" && *activation != "swish")
    return fail(Error::unsupported, "{}: hidden_act {} is not supported; known is silu",
                config.where(), quote(*activation));
  MUMMU_TRY(const bool mlp_bias, bool_or(config, "mlp_bias", false));
  if (mlp_bias) return fail(Error::unsupported, "{}: mlp_bias is not supported", config.where());
  if (config.has("quantization_config"))
    return fail(Error::unsupported,
                "{}: quantization_config is not supported; take the unquantised checkpoint or a "
                "GGUF file",
                config.where());
  return {};
}

Result<void> read_sizes(const JsonObject& config, const JsonDefaults& defaults,
                        ModelConfig& model) {
  MUMMU_TRY(model.layers, config.get_int("num_hidden_layers"));
  MUMMU_TRY(model.hidden, config.get_int("hidden_size"));
  const bool other_ffn = !defaults.other_ffn_key.empty() && config.has(defaults.other_ffn_key);
  MUMMU_TRY(model.ffn, config.get_int(other_ffn ? defaults.other_ffn_key : "intermediate_size"));
  MUMMU_TRY(model.heads, config.get_int("num_attention_heads"));
  MUMMU_TRY(model.kv_heads, int_or(config, "num_key_value_heads", model.heads));
  MUMMU_TRY(model.vocab, config.get_int("vocab_size"));
  MUMMU_TRY(model.context, config.get_int("max_position_embeddings"));
  MUMMU_TRY(const auto head_dim, config.find_int("head_dim"));
  if (head_dim || defaults.head_dim > 0) {
    model.head_dim = head_dim.value_or(defaults.head_dim);
    return {};
  }
  if (model.heads < 1 || model.hidden % model.heads != 0)
    return fail(Error::corrupt, "{}: a hidden_size of {} cannot be split over {} heads",
                config.where(), model.hidden, model.heads);
  model.head_dim = model.hidden / model.heads;
  return {};
}

}  // namespace

Result<std::vector<TokenId>> read_end_ids(const JsonObject& config) {
  const nlohmann::json* value = config.find("eos_token_id");
  if (!value) return std::vector<TokenId>();
  std::vector<int64_t> ids;
  if (value->is_array()) {
    MUMMU_TRY(ids, config.get_ints("eos_token_id"));
  } else {
    MUMMU_TRY(const int64_t id, config.get_int("eos_token_id"));
    ids.push_back(id);
  }
  std::vector<TokenId> out;
  for (int64_t id : ids) {
    if (id < 0 || id > INT32_MAX)
      return fail(Error::corrupt, "{}: eos_token_id {} is not a token id", config.where(), id);
    out.push_back(static_cast<TokenId>(id));
  }
  return out;
}

Result<void> refuse_window(const JsonObject& config, const ModelConfig& model,
                           const WindowDefaults& defaults) {
  MUMMU_TRY(const auto window, config.find_int("sliding_window"));
  MUMMU_TRY(const bool used, bool_or(config, "use_sliding_window", defaults.used));
  if (!window || !used || *window >= model.context) return {};
  const auto refusal = fail(
      Error::unsupported, "{}: an attention window of {} tokens (sliding_window) is not supported",
      config.where(), *window);
  MUMMU_TRY(const auto layer_types, config.find_strings("layer_types"));
  if (layer_types) {
    for (const std::string& type : *layer_types)
      if (type.find("sliding") != std::string::npos) return refusal;
    return {};
  }
  MUMMU_TRY(const int64_t first, int_or(config, "max_window_layers", defaults.first_layer));
  if (first >= model.layers) return {};
  return refusal;
}

Result<ModelConfig> read_config_json(const JsonObject& config, const JsonDefaults& defaults) {
  ModelConfig model;
  MUMMU_TRY(refuse_unknown_arithmetic(config));
  MUMMU_TRY(read_sizes(config, defaults, model));
  MUMMU_TRY(model.norm_eps, double_or(config, defaults.eps_key, defaults.eps));
  MUMMU_TRY(model.tied_head, bool_or(config, defaults.tied_key, defaults.tied_head));
  MUMMU_TRY(model.qkv_bias, bool_or(config, "attention_bias", false));
  model.output_bias = model.qkv_bias;
  MUMMU_TRY(model.rope, read_rope_json(config, model, defaults.theta));
  MUMMU_TRY(model.end_ids, read_end_ids(config));
  return model;
}

}  // namespace mummu
