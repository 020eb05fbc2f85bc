#pragma once

// The raw logits of every position of a text: for measuring a model, not for generating. Runs on
// the calling thread.

#include <cstdint>
#include <functional>
#include <span>

#include "mummu/engine.h"
#include "mummu/export.h"
#include "mummu/model.h"
#include "mummu/result.h"

namespace mummu {

// Called once per position, in order, with logits (vocab) f32 that live until the next call.
using OnLogits = std::function<void(int64_t position, std::span<const float> logits)>;

//   errors   invalid (no ids, or an id outside the vocabulary), too_long, no_memory, device_lost
MUMMU_API Result<void> compute_logits(const Model& model, std::span<const TokenId> ids, KvType kv,
                                      const OnLogits& on_logits);

}  // namespace mummu
