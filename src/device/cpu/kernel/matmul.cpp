// Products of a run of panels with all tiles of a step, then bias and add; ops.h states the order.
//
// Tiles outside, panels inside: a tile stays in L1 while the run's panels pass from L2, so memory
// reads every weight once.

#include "device/cpu/kernel/ops.h"
#include "device/cpu/kernel/simd.h"
#include "device/cpu/kernel/tile.h"

namespace mummu::MUMMU_KERNEL_NAMESPACE {
namespace {

// Writes `rows` of the 16 outputs of each token.
MUMMU_INLINE void finish_tile(const float* y, int64_t tokens, int64_t rows, const float* bias,
                              float* out, int64_t stride, bool add_to_out) {
  const f32x16 b = bias == nullptr ? zero() : load_first(bias, rows);
  for (int64_t t = 0; t < tokens; ++t) {
    f32x16 v = load(y + 16 * t);
    float* to = out + t * stride;
    if (bias != nullptr) v = add(v, b);
    if (add_to_out) v = add(load_first(to, rows), v);
    store_first(to, v, rows);
  }
}

}  // namespace

void matmul(const PanelRun& run) {
  alignas(64) float y[16 * kMaxTile];
  const int64_t bytes = token_bytes(run.type, run.columns);
  for (int64_t tile = 0; tile < run.split.count; ++tile) {
    const int64_t first = first_token(run.split, tile);
    const int64_t tokens = first_token(run.split, tile + 1) - first;
    const TileKernel kernel = tile_kernel(run.type, tokens);
    for (int64_t panel = 0; panel < run.panels; ++panel) {
      const int64_t row = panel * 16;
      kernel(run.packed + panel * run.panel_bytes, run.columns, run.tiles + first * bytes, y);
      finish_tile(y, tokens, smaller(16, run.rows - row),
                  run.bias == nullptr ? nullptr : run.bias + row,
                  run.out + first * run.stride + row, run.stride, run.add);
    }
  }
}

}  // namespace mummu::MUMMU_KERNEL_NAMESPACE
