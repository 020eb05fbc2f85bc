// Root mean square norm of one row; ops.h states the order.

#include "device/cpu/kernel/ops.h"
#include "device/cpu/kernel/simd.h"

namespace mummu::MUMMU_KERNEL_NAMESPACE {
namespace {

float sum_of_squares(const float* x, int64_t columns) {
  f32x16 sum = zero();
  int64_t i = 0;
  for (; i + 16 <= columns; i += 16) {
    const f32x16 v = load(x + i);
    sum = fma(v, v, sum);
  }
  if (i < columns) {
    // The other lanes add +0 to a sum that is never -0.
    const f32x16 v = load_first(x + i, columns - i);
    sum = fma(v, v, sum);
  }
  return tree_sum(sum);
}

}  // namespace

void rms_norm(const float* x, const float* weight, int64_t columns, float eps, float* out) {
  const float mean = sum_of_squares(x, columns) / static_cast<float>(columns);
  const float root = _mm_cvtss_f32(_mm_sqrt_ss(_mm_set_ss(mean + eps)));
  const f32x16 r = all(1.0F / root);
  int64_t i = 0;
  for (; i + 16 <= columns; i += 16) store(out + i, mul(mul(load(x + i), r), load(weight + i)));
  const int64_t rest = columns - i;
  if (rest > 0) {
    const f32x16 v = mul(mul(load_first(x + i, rest), r), load_first(weight + i, rest));
    store_first(out + i, v, rest);
  }
}

}  // namespace mummu::MUMMU_KERNEL_NAMESPACE
