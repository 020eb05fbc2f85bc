#pragma once

// The layers of llama and of the families that differ from it only by biases, a norm of q and k,
// and how the file orders the rows of q and k.

#include "model/config_gguf.h"
#include "model/config_json.h"
#include "model/parts.h"

namespace mummu {

inline constexpr std::string_view kRmsEps = "attention.layer_norm_rms_epsilon";

void bind_llama_layers(const ModelConfig& config, WeightPlan& plan, QueryKeyNorm norm,
                       RowOrder order, Decoder& decoder);

}  // namespace mummu
