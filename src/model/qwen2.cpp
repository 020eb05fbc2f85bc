// Qwen2 and Qwen2.5: as llama, with biases of q, k and v.
//   source   arXiv 2407.10671; transformers models/qwen2

#include "model/family.h"
#include "model/llama_layers.h"

namespace mummu {

namespace {

Result<ModelConfig> from_json(const JsonObject& file) {
  MUMMU_TRY(auto config, read_config_json(file, {}));
  // The architecture has these biases whatever the file says, and none of the output projection.
  config.qkv_bias = true;
  config.output_bias = false;
  MUMMU_TRY(refuse_window(file, config, {.used = false, .first_layer = 28}));
  return config;
}

Result<ModelConfig> from_gguf(const Gguf& file) {
  MUMMU_TRY(auto config, read_config_gguf(file, kRmsEps));
  config.qkv_bias = true;
  config.output_bias = false;
  return config;
}

void bind(const ModelConfig& config, WeightPlan& plan, Decoder& decoder) {
  bind_llama_layers(config, plan, QueryKeyNorm::none, {}, decoder);
}

}  // namespace

constinit const Family kQwen2 = {"qwen2", from_json, from_gguf, bind};

}  // namespace mummu
