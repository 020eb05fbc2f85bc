// Keys and values of one token into their place in a page; ops.h states the layout.

#include "device/cpu/kernel/block.h"
#include "device/cpu/kernel/ops.h"

namespace mummu::MUMMU_KERNEL_NAMESPACE {
namespace {

constexpr int64_t kPage = 16;

struct F32 {
  using Stored = float;
  MUMMU_INLINE static void narrow(float* p, f32x16 v) { store(p, v); }
};
struct F16 {
  using Stored = uint16_t;
  MUMMU_INLINE static void narrow(uint16_t* p, f32x16 v) { store_f16(p, v); }
};
struct Bf16 {
  using Stored = uint16_t;
  MUMMU_INLINE static void narrow(uint16_t* p, f32x16 v) { store_bf16(p, v); }
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
      Stored* key = keys + (h * run.head_dim + i) * kPage;
      Stored* value = values + h * kPage * run.head_dim + i;
      for (int64_t j = 0; j < n; ++j) key[j * kPage] = k[j];
      for (int64_t j = 0; j < n; ++j) value[j] = v[j];
    }
  }
}

// One head's key or value in blocks: component i at numbers + i * stride, the scale of block b at
// scales + b * scale_stride.
void write_blocks(const float* from, int64_t head_dim, int8_t* numbers, int64_t stride,
                  uint16_t* scales, int64_t scale_stride) {
  for (int64_t i = 0; i < head_dim; i += 32) {
    alignas(64) int8_t q[32];
    alignas(64) uint16_t scale[16];
    const int64_t n = smaller(32, head_dim - i);
    const f32x16 hi = n > 16 ? load_first(from + i + 16, n - 16) : zero();
    const Block block = quantise_block(load_first(from + i, smaller(16, n)), hi);
    store_bytes(q, block.lo);
    store_bytes(q + 16, block.hi);
    store_f16(scale, all(block.d));
    for (int64_t j = 0; j < n; ++j) numbers[(i + j) * stride] = q[j];
    scales[i / 32 * scale_stride] = scale[0];
  }
}

void write_token_in_blocks(const KvRun& run) {
  const int64_t blocks = (run.head_dim + 31) / 32;
  for (int64_t h = 0; h < run.kv_heads; ++h) {
    auto* keys = reinterpret_cast<int8_t*>(run.page_keys + h * run.head_bytes);
    auto* values = reinterpret_cast<int8_t*>(run.page_values + h * run.head_bytes);
    auto* key_scales = reinterpret_cast<uint16_t*>(keys + run.head_dim * kPage);
    auto* value_scales = reinterpret_cast<uint16_t*>(values + run.head_dim * kPage);
    write_blocks(run.k + h * run.head_dim, run.head_dim, keys + run.slot, kPage,
                 key_scales + run.slot, kPage);
    write_blocks(run.v + h * run.head_dim, run.head_dim, values + run.slot * run.head_dim, 1,
                 value_scales + run.slot * blocks, 1);
  }
}

}  // namespace

void kv_write(const KvRun& run) {
  if (run.type == DType::f32) return write_token<F32>(run);
  if (run.type == DType::f16) return write_token<F16>(run);
  if (run.type == DType::bf16) return write_token<Bf16>(run);
  write_token_in_blocks(run);
}

}  // namespace mummu::MUMMU_KERNEL_NAMESPACE
