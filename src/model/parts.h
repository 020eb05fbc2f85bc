#pragma once

// Parts as the families bind them: which tensors each needs, under the names that the families
// share. All weights and biases of a part are asked of the plan; they are empty until it is loaded.

#include <memory>

#include "layer/attention.h"
#include "layer/gated_mlp.h"
#include "model/config.h"
#include "model/decoder.h"
#include "model/weight_plan.h"

namespace mummu {

// The tensors of an attention part, below the layer's prefix.
struct AttentionNames {
  Name query, key, value, output, query_norm, key_norm;
};

inline constexpr AttentionNames kAttentionNames = {
    .query = {"self_attn.q_proj", "attn_q"},
    .key = {"self_attn.k_proj", "attn_k"},
    .value = {"self_attn.v_proj", "attn_v"},
    .output = {"self_attn.o_proj", "attn_output"},
    .query_norm = {"self_attn.q_norm", "attn_q_norm"},
    .key_norm = {"self_attn.k_norm", "attn_k_norm"},
};

struct GatedNames {
  Name gate, up, down;
};

inline constexpr GatedNames kGatedNames = {
    .gate = {"mlp.gate_proj", "ffn_gate"},
    .up = {"mlp.up_proj", "ffn_up"},
    .down = {"mlp.down_proj", "ffn_down"},
};

inline constexpr Name kLayers = {"model.layers", "blk"};

// `order` is that of the rows of q and k.
std::unique_ptr<Attention> bind_attention(const ModelConfig& config, WeightPlan& plan,
                                          const AttentionNames& names, QueryKeyNorm norm,
                                          RowOrder order = {});
std::unique_ptr<GatedMlp> bind_gated(const ModelConfig& config, WeightPlan& plan,
                                     const GatedNames& names);
void bind_norm(const ModelConfig& config, WeightPlan& plan, Name name, int64_t columns,
               RmsNorm& norm);

// Embedding, final norm, head, and the sizes that every decoder has; `layers` empty ones. Leaves
// the plan's prefix at the network's.
void bind_frame(const ModelConfig& config, WeightPlan& plan, Name final_norm, Decoder& decoder);

}  // namespace mummu
