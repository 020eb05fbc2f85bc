// Llama: attention and gated feed-forward parts, each behind a norm.
//   source   arXiv 2302.13971; transformers models/llama

#include "base/fail.h"
#include "model/family.h"
#include "model/llama_layers.h"

namespace mummu {

namespace {

Result<ModelConfig> from_json(const JsonObject& file) {
  MUMMU_TRY(auto config, read_config_json(file, {}));
  MUMMU_TRY(refuse_window(file, config, {}));
  return config;
}

Result<ModelConfig> from_gguf(const Gguf& file) {
  MUMMU_TRY(const auto experts, file.find_i64("llama.expert_count"));
  if (experts.value_or(0) > 0)
    return fail(Error::unsupported, "{}: llama with {} experts is not supported", file.path(),
                *experts);
  return read_config_gguf(file, kRmsEps);
}

void bind(const ModelConfig& config, WeightPlan& plan, Decoder& decoder) {
  const RowOrder order{plan.format() == Format::gguf ? config.head_dim : 0};
  bind_llama_layers(config, plan, QueryKeyNorm::none, order, decoder);
}

}  // namespace

constinit const Family kLlama = {"llama", from_json, from_gguf, bind};

}  // namespace mummu
