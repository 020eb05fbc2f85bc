#include "model/parts.h"

namespace mummu {

std::unique_ptr<Attention> bind_attention(const ModelConfig& config, WeightPlan& plan,
                                          const AttentionNames& names, QueryKeyNorm norm,
                                          RowOrder order) {
  auto part = std::make_unique<Attention>();
  part->heads = config.heads;
  part->kv_heads = config.kv_heads;
  part->head_dim = config.head_dim;
  part->norm = norm;
  const int64_t query_rows = config.heads * config.head_dim;
  const int64_t key_rows = config.kv_heads * config.head_dim;
  plan.matrix(part->query, names.query, query_rows, config.hidden, order);
  plan.matrix(part->key, names.key, key_rows, config.hidden, order);
  plan.matrix(part->value, names.value, key_rows, config.hidden);
  plan.matrix(part->output, names.output, config.hidden, query_rows);
  if (config.qkv_bias) {
    plan.bias(part->query_bias, names.query, query_rows, order);
    plan.bias(part->key_bias, names.key, key_rows, order);
    plan.bias(part->value_bias, names.value, key_rows);
  }
  if (config.output_bias) plan.bias(part->output_bias, names.output, config.hidden);
  if (norm != QueryKeyNorm::none) {
    const bool row = norm == QueryKeyNorm::row;
    bind_norm(config, plan, names.query_norm, row ? query_rows : config.head_dim, part->query_norm);
    bind_norm(config, plan, names.key_norm, row ? key_rows : config.head_dim, part->key_norm);
  }
  return part;
}

std::unique_ptr<GatedMlp> bind_gated(const ModelConfig& config, WeightPlan& plan,
                                     const GatedNames& names) {
  auto part = std::make_unique<GatedMlp>();
  plan.matrix(part->gate, names.gate, config.ffn, config.hidden);
  plan.matrix(part->up, names.up, config.ffn, config.hidden);
  plan.matrix(part->down, names.down, config.hidden, config.ffn);
  return part;
}

void bind_norm(const ModelConfig& config, WeightPlan& plan, Name name, int64_t columns,
               RmsNorm& norm) {
  norm.eps = static_cast<float>(config.norm_eps);
  plan.weight_vector(norm.weight, name, columns);
}

void bind_frame(const ModelConfig& config, WeightPlan& plan, Name final_norm, Decoder& decoder) {
  decoder.hidden = config.hidden;
  decoder.vocab_rows = config.vocab;
  decoder.context_tokens = config.context;
  decoder.rope = config.rope;
  decoder.layers = std::vector<DecoderLayer>(static_cast<size_t>(config.layers));

  plan.at({"", ""});
  decoder.has_head = config.tied_head || !plan.is_bare() || plan.has({"lm_head", "output"});
  if (config.tied_head) {
    plan.ignore({"lm_head", "output"});
  } else if (decoder.has_head) {
    plan.matrix(decoder.head, {"lm_head", "output"}, config.vocab, config.hidden);
  }
  plan.at({"model.", ""});
  plan.matrix(decoder.embedding, {"embed_tokens", "token_embd"}, config.vocab, config.hidden);
  bind_norm(config, plan, final_norm, config.hidden, decoder.final_norm);
  if (plan.format() == Format::gguf && plan.has({"", "rope_freqs"}))
    plan.host_vector(decoder.rope.divisors, {"", "rope_freqs"}, config.rope.rotary_dim / 2);
}

}  // namespace mummu
