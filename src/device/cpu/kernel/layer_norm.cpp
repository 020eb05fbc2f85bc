// Norm by mean and variance of one row; ops.h states the order.

#include "device/cpu/kernel/ops.h"
#include "device/cpu/kernel/simd.h"

namespace mummu::MUMMU_KERNEL_NAMESPACE {
namespace {

float row_sum(const float* x, int64_t columns) {
  f32x16 sum = zero();
  int64_t i = 0;
  for (; i + 16 <= columns; i += 16) sum = add(sum, load(x + i));
  // The other lanes add +0 to a sum that started from +0.
  if (i < columns) sum = add(sum, load_first(x + i, columns - i));
  return tree_sum(sum);
}

float sum_of_squares(const float* x, f32x16 mean, int64_t columns) {
  f32x16 sum = zero();
  int64_t i = 0;
  for (; i + 16 <= columns; i += 16) {
    const f32x16 d = sub(load(x + i), mean);
    sum = fma(d, d, sum);
  }
  const int64_t rest = columns - i;
  if (rest > 0) {
    const f32x16 d = keep_first(sub(load_first(x + i, rest), mean), rest, zero());
    sum = fma(d, d, sum);
  }
  return tree_sum(sum);
}

}  // namespace

void layer_norm(const float* x, const float* weight, const float* bias, int64_t columns, float eps,
                float* out) {
  const f32x16 mean = all(row_sum(x, columns) / static_cast<float>(columns));
  const float variance = sum_of_squares(x, mean, columns) / static_cast<float>(columns);
  const float root = _mm_cvtss_f32(_mm_sqrt_ss(_mm_set_ss(variance + eps)));
  const f32x16 r = all(1.0F / root);
  int64_t i = 0;
  for (; i + 16 <= columns; i += 16) {
    store(out + i, fma(mul(sub(load(x + i), mean), r), load(weight + i), load(bias + i)));
  }
  const int64_t rest = columns - i;
  if (rest > 0) {
    const f32x16 d = mul(sub(load_first(x + i, rest), mean), r);
    store_first(out + i, fma(d, load_first(weight + i, rest), load_first(bias + i, rest)), rest);
  }
}

}  // namespace mummu::MUMMU_KERNEL_NAMESPACE
