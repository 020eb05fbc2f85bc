// Keys and values of one token into their place in a page; ops.h states the layout.

#include "device/cpu/kernel/ops.h"
#include "device/cpu/kernel/simd.h"

namespace mummu::MUMMU_KERNEL_NAMESPACE {
namespace {

struct F32 {
  using Stored = float;
  MUMMU_INLINE static void narrow(float* p, f32x16 v) { store(p, v); }
};
struct F16 {
  using Stored = uint16_t;
  MUMMU_INLINE static void narrow(uint16_t* p, f32x16 v) { store_f16(p, v); }
};

template <typename Format>
void write_token(const KvRun& run) {
  using Stored = typename Format::Stored;
  auto* keys = reinterpret_cast<Stored*>(run.page_keys) + run.slot;
  auto* values = reinterpret_cast<Stored*>(run.page_values) + run.slot * run.head_dim;
  for (int64_t h = 0; h < run.kv_heads; ++h) {
    for (int64_t i = 0; i < run.head_dim; i += 16) {
      alignas(64) Stored k[16];
      alignas(64) Stored v[16];
      const int64_t n = smaller(16, run.head_dim - i);
      Format::narrow(k, load_first(run.k + h * run.head_dim + i, n));
      Format::narrow(v, load_first(run.v + h * run.head_dim + i, n));
      Stored* key = keys + (h * run.head_dim + i) * 16;
      Stored* value = values + h * 16 * run.head_dim + i;
      for (int64_t j = 0; j < n; ++j) key[j * 16] = k[j];
      for (int64_t j = 0; j < n; ++j) value[j] = v[j];
    }
  }
}

}  // namespace

void kv_write(const KvRun& run) {
  if (run.type == DType::f32) return write_token<F32>(run);
  write_token<F16>(run);
}

}  // namespace mummu::MUMMU_KERNEL_NAMESPACE
