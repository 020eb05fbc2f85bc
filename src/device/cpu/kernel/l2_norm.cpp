// One row of length 1; ops.h states the order.

#include "device/cpu/kernel/ops.h"
#include "device/cpu/kernel/simd.h"

namespace mummu::MUMMU_KERNEL_NAMESPACE {

void l2_norm(const float* x, int64_t columns, float* out) {
  f32x16 sum = zero();
  int64_t i = 0;
  for (; i + 16 <= columns; i += 16) {
    const f32x16 v = load(x + i);
    sum = fma(v, v, sum);
  }
  // The other lanes add +0 to a sum that is never -0.
  const f32x16 end = load_first(x + i, columns - i);
  sum = fma(end, end, sum);
  const float root = _mm_cvtss_f32(_mm_sqrt_ss(_mm_set_ss(tree_sum(sum))));
  const f32x16 r = all(root < 1e-12F ? 1e-12F : root);
  for (i = 0; i + 16 <= columns; i += 16) store(out + i, div(load(x + i), r));
  store_first(out + i, div(load_first(x + i, columns - i), r), columns - i);
}

}  // namespace mummu::MUMMU_KERNEL_NAMESPACE
