// Softmax of one token's scores and the choice of its experts; ops.h states the order.

#include "device/cpu/kernel/ops.h"
#include "device/cpu/kernel/vector_exp.h"

namespace mummu::MUMMU_KERNEL_NAMESPACE {
namespace {

void softmax(float* p, int64_t experts) {
  float m = -__builtin_inff();
  for (int64_t e = 0; e < experts; ++e) m = p[e] > m ? p[e] : m;
  f32x16 sum = zero();
  for (int64_t e = 0; e < experts; e += 16) {
    const int64_t n = smaller(16, experts - e);
    const f32x16 v = exp(sub(load_first(p + e, n), all(m)));
    store_first(p + e, v, n);
    sum = add(sum, keep_first(v, n, zero()));
  }
  const f32x16 total = all(tree_sum(sum));
  for (int64_t e = 0; e < experts; e += 16) {
    const int64_t n = smaller(16, experts - e);
    store_first(p + e, div(load_first(p + e, n), total), n);
  }
}

// What is compared: probabilities are at least 0, a NaN is below them.
MUMMU_INLINE float key(float p) { return p == p ? p : -1.0F; }

}  // namespace

void route(const RouteRun& run) {
  float* p = run.scores;
  softmax(p, run.experts);
  for (int64_t n = 0; n < run.top_k; ++n) {
    int64_t best = -1;
    for (int64_t e = 0; e < run.experts; ++e) {
      bool taken = false;
      for (int64_t i = 0; i < n; ++i) taken = taken || run.chosen[i] == e;
      if (!taken && (best < 0 || key(p[e]) > key(p[best]))) best = e;
    }
    run.chosen[n] = static_cast<int32_t>(best);
  }
  for (int64_t n = 1; n < run.top_k; ++n) {
    const int32_t e = run.chosen[n];
    int64_t i = n;
    for (; i > 0 && run.chosen[i - 1] > e; --i) run.chosen[i] = run.chosen[i - 1];
    run.chosen[i] = e;
  }
  float sum = 0.0F;
  for (int64_t n = 0; n < run.top_k; ++n) {
    run.share[n] = p[run.chosen[n]];
    sum = sum + run.share[n];
  }
  for (int64_t n = 0; run.normalise && n < run.top_k; ++n) run.share[n] = run.share[n] / sum;
}

}  // namespace mummu::MUMMU_KERNEL_NAMESPACE
