#include "model/config.h"

#include <cmath>

#include "base/fail.h"
#include "device/ops.h"

namespace mummu {

namespace {

// Far above any known checkpoint, far below where a product of two could overflow.
constexpr int64_t kMaxLayers = 1 << 12;
constexpr int64_t kMaxWidth = 1 << 24;
constexpr int64_t kMaxContext = 1 << 30;
constexpr int64_t kMaxExperts = 1 << 14;
constexpr int64_t kMaxTypes = 1 << 14;

Result<void> within(std::string_view where, std::string_view what, int64_t value, int64_t most) {
  if (value >= 1 && value <= most) return {};
  return fail(Error::corrupt, "{}: {} is {}, expected 1 to {}", where, what, value, most);
}

Result<void> positive(std::string_view where, std::string_view what, double value) {
  if (std::isfinite(value) && value > 0) return {};
  return fail(Error::corrupt, "{}: {} is {}, expected a positive finite number", where, what,
              value);
}

Result<void> check_llama3(const RopeConfig& rope, std::string_view where) {
  MUMMU_TRY(positive(where, "rope low_freq_factor", rope.low_freq_factor));
  MUMMU_TRY(positive(where, "rope high_freq_factor", rope.high_freq_factor));
  if (rope.high_freq_factor > rope.low_freq_factor) return {};
  return fail(Error::corrupt, "{}: rope high_freq_factor {} is not above low_freq_factor {}", where,
              rope.high_freq_factor, rope.low_freq_factor);
}

Result<void> check_yarn(const RopeConfig& rope, std::string_view where) {
  MUMMU_TRY(positive(where, "rope beta_fast", rope.beta_fast));
  MUMMU_TRY(positive(where, "rope beta_slow", rope.beta_slow));
  MUMMU_TRY(positive(where, "rope attention_factor", rope.attention_factor));
  if (rope.theta > 1) return {};
  return fail(Error::corrupt, "{}: rope theta is {}, yarn needs more than 1", where, rope.theta);
}

// Below one, angles would grow without bound.
Result<void> at_least_one(std::string_view where, std::string_view what, double value) {
  MUMMU_TRY(positive(where, what, value));
  if (value >= 1) return {};
  return fail(Error::corrupt, "{}: {} is {}, expected 1 or more", where, what, value);
}

Result<void> check_rope(const ModelConfig& config, std::string_view where) {
  const RopeConfig& rope = config.rope;
  MUMMU_TRY(at_least_one(where, "rope theta", rope.theta));
  MUMMU_TRY(at_least_one(where, "rope factor", rope.factor));
  if (rope.rotary_dim < 2 || rope.rotary_dim % 2 != 0 || rope.rotary_dim > config.head_dim)
    return fail(
        Error::corrupt,
        "{}: {} components of a head are rotated, expected an even number up to head_dim {}", where,
        rope.rotary_dim, config.head_dim);
  if (rope.kind == RopeKind::llama3 || rope.kind == RopeKind::yarn)
    MUMMU_TRY(positive(where, "rope original_max_position_embeddings", rope.original_context));
  if (rope.kind == RopeKind::llama3) return check_llama3(rope, where);
  if (rope.kind == RopeKind::yarn) return check_yarn(rope, where);
  return {};
}

Result<void> check_experts(const ModelConfig& config, std::string_view where) {
  if (!config.mixture) return {};
  MUMMU_TRY(within(where, "the number of experts", config.experts, kMaxExperts));
  return within(where, "the number of experts of a token", config.top_k, config.experts);
}

Result<void> check_hybrid(const ModelConfig& config, std::string_view where) {
  const auto kinds = static_cast<int64_t>(config.attention_layers.size());
  if (kinds == 0) return {};
  if (kinds != config.layers)
    return fail(Error::corrupt, "{}: {} kinds of layer for {} layers", where, kinds, config.layers);
  if (config.conv_length >= 2 && config.conv_length <= kPageTokens) return {};
  return fail(Error::unsupported, "{}: convolutions over {} tokens are not supported; 2 to {} are",
              where, config.conv_length, kPageTokens);
}

}  // namespace

Result<void> check_config(const ModelConfig& config, std::string_view where) {
  MUMMU_TRY(within(where, "the number of layers", config.layers, kMaxLayers));
  MUMMU_TRY(within(where, "the hidden size", config.hidden, kMaxWidth));
  MUMMU_TRY(within(where, "the feed-forward size", config.ffn, kMaxWidth));
  MUMMU_TRY(within(where, "the number of heads", config.heads, kMaxWidth));
  MUMMU_TRY(within(where, "the number of kv_heads", config.kv_heads, config.heads));
  MUMMU_TRY(within(where, "head_dim", config.head_dim, kMaxWidth));
  MUMMU_TRY(within(where, "heads * head_dim", config.heads * config.head_dim, kMaxWidth));
  MUMMU_TRY(within(where, "the vocabulary size", config.vocab, int64_t{1} << 30));
  MUMMU_TRY(within(where, "the context length", config.context, kMaxContext));
  MUMMU_TRY(positive(where, "the norm's eps", config.norm_eps));
  if (config.heads % config.kv_heads != 0)
    return fail(Error::corrupt, "{}: {} heads cannot share {} kv_heads evenly", where, config.heads,
                config.kv_heads);
  for (TokenId id : config.end_ids)
    if (id < 0 || id >= config.vocab)
      return fail(Error::corrupt, "{}: end-of-sequence id {} is outside the vocabulary of {}",
                  where, id, config.vocab);
  MUMMU_TRY(check_experts(config, where));
  MUMMU_TRY(check_hybrid(config, where));
  if (config.token_types != 0)
    return within(where, "the number of token types", config.token_types, kMaxTypes);
  return check_rope(config, where);
}

}  // namespace mummu
