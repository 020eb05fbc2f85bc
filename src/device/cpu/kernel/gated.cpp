// silu(gate . x) * (up . x) for a run of panels of both weights; ops.h states the order.

#include "device/cpu/kernel/ops.h"
#include "device/cpu/kernel/tile.h"
#include "device/cpu/kernel/vector_exp.h"

namespace mummu::MUMMU_KERNEL_NAMESPACE {

void gated(const GatedRun& run) {
  alignas(64) float g[16 * kMaxTile];
  alignas(64) float u[16 * kMaxTile];
  const PanelRun& gate = run.gate;
  const PanelRun& up = run.up;
  for (int64_t tile = 0; tile < gate.split.count; ++tile) {
    const int64_t first = first_token(gate.split, tile);
    const int64_t tokens = first_token(gate.split, tile + 1) - first;
    const TileKernel gate_kernel = tile_kernel(gate.type, tokens);
    const TileKernel up_kernel = tile_kernel(up.type, tokens);
    const std::byte* gate_tile = gate.tiles + first * token_bytes(gate.type, gate.columns);
    const std::byte* up_tile = up.tiles + first * token_bytes(up.type, up.columns);
    for (int64_t panel = 0; panel < gate.panels; ++panel) {
      gate_kernel(gate.packed + panel * gate.panel_bytes, gate.columns, gate_tile, g);
      up_kernel(up.packed + panel * up.panel_bytes, up.columns, up_tile, u);
      const int64_t rows = smaller(16, gate.rows - panel * 16);
      float* out = gate.out + first * gate.stride + panel * 16;
      for (int64_t t = 0; t < tokens; ++t) {
        const f32x16 v = mul(silu(load(g + 16 * t)), load(u + 16 * t));
        store_first(out + t * gate.stride, v, rows);
      }
    }
  }
}

}  // namespace mummu::MUMMU_KERNEL_NAMESPACE
