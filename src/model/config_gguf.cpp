#include "model/config_gguf.h"

#include <algorithm>

#include "base/fail.h"
#include "file/quote.h"

namespace mummu {

namespace {

// One architecture's keys.
struct Keys {
  const Gguf& file;
  std::string prefix;

  std::string operator()(std::string_view key) const { return prefix + std::string(key); }

  Result<int64_t> int_or(std::string_view key, int64_t fallback) const {
    MUMMU_TRY(const auto found, file.find_i64((*this)(key)));
    return found.value_or(fallback);
  }
  Result<double> double_or(std::string_view key, double fallback) const {
    MUMMU_TRY(const auto found, file.find_f64((*this)(key)));
    return found.value_or(fallback);
  }
};

Result<Keys> keys_of(const Gguf& file) {
  MUMMU_TRY(const auto architecture, file.get_string("general.architecture"));
  return Keys{file, std::string(architecture) + "."};
}

Result<int64_t> same_for_all(const Keys& keys, std::string_view key, int64_t layers) {
  MUMMU_TRY(const auto values, read_by_layer(keys.file, keys(key), layers));
  for (int64_t value : values)
    if (value != values.front())
      return fail(Error::unsupported, "{}: {} differs between layers, which is not supported here",
                  keys.file.path(), keys(key));
  return values.front();
}

Result<void> read_sizes(const Keys& keys, ModelConfig& model) {
  MUMMU_TRY(model.layers, keys.file.get_i64(keys("block_count")));
  if (model.layers < 1)
    return fail(Error::corrupt, "{}: {} is {}", keys.file.path(), keys("block_count"),
                model.layers);
  MUMMU_TRY(model.context, keys.file.get_i64(keys("context_length")));
  MUMMU_TRY(model.hidden, keys.file.get_i64(keys("embedding_length")));
  MUMMU_TRY(model.ffn, same_for_all(keys, "feed_forward_length", model.layers));
  MUMMU_TRY(model.heads, same_for_all(keys, "attention.head_count", model.layers));
  model.kv_heads = model.heads;
  if (keys.file.has(keys("attention.head_count_kv"))) {
    MUMMU_TRY(const auto by_layer,
              read_by_layer(keys.file, keys("attention.head_count_kv"), model.layers));
    // Layers that are not attention have none.
    model.kv_heads = *std::max_element(by_layer.begin(), by_layer.end());
  }
  const int64_t even =
      model.heads > 0 && model.hidden % model.heads == 0 ? model.hidden / model.heads : 0;
  MUMMU_TRY(model.head_dim, keys.int_or("attention.key_length", even));
  MUMMU_TRY(const int64_t value_dim, keys.int_or("attention.value_length", model.head_dim));
  if (value_dim != model.head_dim)
    return fail(Error::unsupported, "{}: keys of {} and values of {} components are not supported",
                keys.file.path(), model.head_dim, value_dim);
  return {};
}

Result<void> read_vocab(const Keys& keys, ModelConfig& model) {
  const TensorInfo* embedding = keys.file.find("token_embd.weight");
  MUMMU_TRY(const auto stated, keys.file.find_i64(keys("vocab_size")));
  const int64_t tokens = keys.file.array_size("tokenizer.ggml.tokens");
  model.vocab =
      embedding && !embedding->shape.empty() ? embedding->shape[0] : stated.value_or(tokens);
  if (stated && *stated > model.vocab)
    return fail(Error::corrupt, "{}: {} is {}, token_embd.weight has {} rows", keys.file.path(),
                keys("vocab_size"), *stated, model.vocab);
  if (tokens > model.vocab)
    return fail(Error::corrupt, "{}: {} tokens, token_embd.weight has {} rows", keys.file.path(),
                tokens, model.vocab);
  return {};
}

Result<void> read_yarn(const Keys& keys, RopeConfig& rope) {
  MUMMU_TRY(rope.beta_fast, keys.double_or("rope.scaling.yarn_beta_fast", 32));
  MUMMU_TRY(rope.beta_slow, keys.double_or("rope.scaling.yarn_beta_slow", 1));
  MUMMU_TRY(const double extra, keys.double_or("rope.scaling.attn_factor", 1));
  rope.attention_factor = extra * yarn_attention_factor(rope.factor);
  return {};
}

Result<RopeConfig> read_rope(const Keys& keys, const ModelConfig& model) {
  RopeConfig rope;
  MUMMU_TRY(rope.theta, keys.double_or("rope.freq_base", 10000));
  MUMMU_TRY(rope.rotary_dim, keys.int_or("rope.dimension_count", model.head_dim));
  MUMMU_TRY(const auto kind, keys.file.find_string(keys("rope.scaling.type")));
  MUMMU_TRY(const double old_linear, keys.double_or("rope.scale_linear", 1));
  MUMMU_TRY(rope.factor, keys.double_or("rope.scaling.factor", old_linear));
  MUMMU_TRY(rope.original_context, keys.double_or("rope.scaling.original_context_length",
                                                  static_cast<double>(model.context)));
  if (!kind && rope.factor != 1) {
    rope.kind = RopeKind::linear;
  } else if (!kind || *kind == "none") {
    rope.factor = 1;
  } else if (*kind == "linear") {
    rope.kind = RopeKind::linear;
  } else if (*kind == "yarn") {
    rope.kind = RopeKind::yarn;
    MUMMU_TRY(read_yarn(keys, rope));
  } else {
    return fail(Error::unsupported,
                "{}: rope scaling {} is not supported; known are none, linear, yarn",
                keys.file.path(), quote(*kind));
  }
  return rope;
}

Result<void> refuse_window(const Keys& keys, const ModelConfig& model) {
  MUMMU_TRY(const int64_t window, keys.int_or("attention.sliding_window", 0));
  if (window <= 0 || window >= model.context) return {};
  return fail(Error::unsupported, "{}: an attention window of {} tokens ({}) is not supported",
              keys.file.path(), window, keys("attention.sliding_window"));
}

}  // namespace

Result<std::string> architecture_key(const Gguf& file, std::string_view key) {
  MUMMU_TRY(const Keys keys, keys_of(file));
  return keys(key);
}

Result<std::vector<int64_t>> read_by_layer(const Gguf& file, const std::string& key,
                                           int64_t layers) {
  if (!file.is_array(key)) {
    MUMMU_TRY(const int64_t value, file.get_i64(key));
    return std::vector<int64_t>{value};
  }
  MUMMU_TRY(const auto values, file.get_i32s(key));
  if (static_cast<int64_t>(values.size()) != layers || layers == 0)
    return fail(Error::corrupt, "{}: {} has {} values for {} layers", file.path(), key,
                values.size(), layers);
  return std::vector<int64_t>(values.begin(), values.end());
}

Result<ModelConfig> read_config_gguf(const Gguf& file, std::string_view eps_key) {
  MUMMU_TRY(const Keys keys, keys_of(file));
  ModelConfig model;
  MUMMU_TRY(const auto name, file.find_string("general.name"));
  model.name = name.value_or("");
  MUMMU_TRY(read_sizes(keys, model));
  MUMMU_TRY(read_vocab(keys, model));
  MUMMU_TRY(model.norm_eps, file.get_f64(keys(eps_key)));
  MUMMU_TRY(model.rope, read_rope(keys, model));
  MUMMU_TRY(refuse_window(keys, model));
  model.tied_head = file.find("output.weight") == nullptr;
  model.qkv_bias = file.find("blk.0.attn_q.bias") != nullptr;
  model.output_bias = file.find("blk.0.attn_output.bias") != nullptr;
  return model;
}

}  // namespace mummu
