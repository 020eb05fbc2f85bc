#pragma once

// What device/ops.h requires of the arguments of each op, as far as their shapes, types and numbers
// say it: one function an op, pure, with the op's own parameters. They read ids, positions and row
// numbers, so the views are host memory. The order of calls is the check layer's (check.h).

#include <span>

#include "device/ops.h"

namespace mummu {

// What a call violates, in words; null if nothing.
using Violation = const char*;

Violation check_embedding(const Weight& table, View ids, View out);
Violation check_gather(View x, View from, View out);
Violation check_rms_norm(View x, View weight, View out);
Violation check_matmul(View x, std::span<const MatmulOut> outs);
Violation check_gated(View x, const Weight& gate, const Weight& up, View out);
Violation check_rope(View x, int64_t heads, View positions, View cos_sin);
Violation check_kv_write(View k, View v, const KvLayer& layer, std::span<const Segment> segments);
Violation check_attention(View q, int64_t heads, const KvLayer& layer,
                          std::span<const Segment> segments, View out);
Violation check_short_conv(View bcx, View kernel, View bias, const ConvLayer& layer,
                           std::span<const Segment> segments, View out);
Violation check_route(View scores, View chosen, View share);
Violation check_experts(View x, const Experts& experts, View chosen, View share, View out);
Violation check_pool(View x, std::span<const PoolRun> runs, View out);
Violation check_layer_norm(View x, View weight, View bias, View out);
Violation check_same(View x, View out);  // gelu and add
Violation check_l2_norm(View x, View out);

}  // namespace mummu
