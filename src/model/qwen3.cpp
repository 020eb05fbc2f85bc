// Qwen3 (dense): as llama, with a head_dim of its own and a norm of every head of q and k.
//   source   arXiv 2505.09388; transformers models/qwen3

#include "model/family.h"
#include "model/llama_layers.h"

namespace mummu {

namespace {

Result<ModelConfig> from_json(const JsonObject& file) {
  MUMMU_TRY(auto config, read_config_json(file, {.head_dim = 128}));
  MUMMU_TRY(refuse_window(file, config, {.used = false, .first_layer = 28}));
  return config;
}

Result<ModelConfig> from_gguf(const Gguf& file) { return read_config_gguf(file, kRmsEps); }

void bind(const ModelConfig& config, WeightPlan& plan, Decoder& decoder) {
  bind_llama_layers(config, plan, QueryKeyNorm::head, {}, decoder);
}

}  // namespace

constinit const Family kQwen3 = {"qwen3", from_json, from_gguf, bind};

}  // namespace mummu
