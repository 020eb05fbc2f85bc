#pragma once

#include "layer/step.h"
#include "mummu/result.h"

namespace mummu {

// Buffers for steps of up to `tokens` rows.
//   errors   no_memory
Result<Scratch> make_scratch(Ops& ops, int64_t tokens, const ScratchSize& size);

}  // namespace mummu
