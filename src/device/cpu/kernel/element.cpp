// The ops that work on every element by itself; gelu is that of device/gelu.h.

#include "device/cpu/kernel/ops.h"
#include "device/cpu/kernel/vector_exp.h"
#include "device/gelu.h"

namespace mummu::MUMMU_KERNEL_NAMESPACE {
namespace {

MUMMU_INLINE f32x16 gelu16(f32x16 x) {
  const f32x16 one = all(1.0F);
  const f32x16 a = mul(from_bits(both(bits(x), all(INT32_MAX))), all(kGeluRoot));
  const f32x16 t = div(one, fma(all(kGeluP), a, one));
  f32x16 q = all(kGelu5);
  q = fma(q, t, all(kGelu4));
  q = fma(q, t, all(kGelu3));
  q = fma(q, t, all(kGelu2));
  q = fma(q, t, all(kGelu1));
  const f32x16 h = mul(mul(q, t), exp(negate(mul(a, a))));
  return mul(mul(all(0.5F), x), where_negative(x, h, sub(all(2.0F), h)));
}

// Calls work(first, n): 16 elements at a time, the last time what is left.
template <typename Work>
MUMMU_INLINE void for_vectors(int64_t count, Work work) {
  for (int64_t i = 0; i < count; i += 16) work(i, smaller(16, count - i));
}

}  // namespace

void gelu(const float* x, int64_t count, float* out) {
  for_vectors(count,
              [&](int64_t i, int64_t n) { store_first(out + i, gelu16(load_first(x + i, n)), n); });
}

void add(const float* x, int64_t count, float* out) {
  for_vectors(count, [&](int64_t i, int64_t n) {
    store_first(out + i, add(load_first(out + i, n), load_first(x + i, n)), n);
  });
}

void add_product(float factor, const float* x, int64_t count, float* out) {
  const f32x16 f = all(factor);
  for_vectors(count, [&](int64_t i, int64_t n) {
    store_first(out + i, fma(f, load_first(x + i, n), load_first(out + i, n)), n);
  });
}

}  // namespace mummu::MUMMU_KERNEL_NAMESPACE
