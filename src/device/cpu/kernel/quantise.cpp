// Activations for block weights: int8 in blocks of 32 with one scale; ops.h states the arithmetic.
//
// A tile of T tokens holds for each block, ascending:
//   int8  q[T][32]
//   f32   d[T]     the scale
//   f32   s[T]     sum_a = d * f32(sum of q)
//   i32   c[T]     -8 * sum of q: what turns unsigned nibbles into signed ones
//   i32   h[T]     -32 * sum of the first 16 q: the same for the first half of a Q6_K block
// so that a kernel reads a tile front to back, every address a constant from one pointer.

#include "device/cpu/kernel/block.h"
#include "device/cpu/kernel/ops.h"
#include "device/cpu/kernel/tile.h"

namespace mummu::MUMMU_KERNEL_NAMESPACE {
namespace {

struct TileBlock {
  int8_t* q;
  float* d;
  float* s;
  int32_t* c;
  int32_t* h;
};

MUMMU_INLINE void write_block(const float* x, const TileBlock& out) {
  const Block block = quantise_block(load(x), load(x + 16));
  store_bytes(out.q, block.lo);
  store_bytes(out.q + 16, block.hi);
  const int32_t sum = integer_sum(add(block.lo, block.hi));
  *out.d = block.d;
  *out.s = block.d * static_cast<float>(sum);
  *out.c = -8 * sum;
  *out.h = -32 * integer_sum(block.lo);
}

}  // namespace

void quantise_tile(const PrepareRun& run, int64_t tile) {
  const int64_t first = first_token(run.split, tile);
  const int64_t tokens = first_token(run.split, tile + 1) - first;
  const int64_t blocks = run.columns / 32;
  std::byte* out = run.tiles + first * blocks * kTileBlockBytes;
  for (int64_t t = 0; t < tokens; ++t) {
    const float* x = run.x + (first + t) * run.columns;
    for (int64_t b = 0; b < blocks; ++b) {
      std::byte* block = out + b * tokens * kTileBlockBytes;
      float* floats = reinterpret_cast<float*>(block + tokens * 32) + t;
      auto* ints = reinterpret_cast<int32_t*>(floats + 2 * tokens);
      write_block(x + 32 * b, {reinterpret_cast<int8_t*>(block + t * 32), floats, floats + tokens,
                               ints, ints + tokens});
    }
  }
}

}  // namespace mummu::MUMMU_KERNEL_NAMESPACE
