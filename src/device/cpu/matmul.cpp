// Matmul and gated: tokens are prepared once (quantised for block weights, laid side by side for
// float weights), then runs of panels are handed out. Many tokens pass in groups.

#include <algorithm>

#include "device/cpu/cpu_ops.h"
#include "device/cpu/pack.h"

namespace mummu::cpu {
namespace {

// Rough costs of one thread, for the schedule only.
constexpr double kBytesPerNs = 22;
constexpr double kBlockOpsPerNs = 250;
constexpr double kFloatOpsPerNs = 80;
constexpr double kPrepareNsPerElement = 0.25;

int64_t panel_count(const Weight& weight) { return (weight.rows() + kPanelRows - 1) / kPanelRows; }

double cost(const Weight& weight, int64_t tokens) {
  const double elements = 2.0 * static_cast<double>(weight.rows() * weight.columns());
  const double rate = is_quantised(weight.type()) ? kBlockOpsPerNs : kFloatOpsPerNs;
  return std::max(static_cast<double>(weight.bytes()) / kBytesPerNs,
                  elements * static_cast<double>(tokens) / rate);
}

Tiles split_tokens(int64_t tokens, int64_t tile) {
  return {.tokens = tokens, .count = (tokens + tile - 1) / tile};
}

// Panels [first, first + panels) of one output.
PanelRun panel_run(const MatmulOut& out, View x, const Tiles& split, const std::byte* tiles,
                   int64_t first_token, int64_t first, int64_t panels) {
  const Weight& weight = *out.weight;
  const int64_t bytes = panel_bytes(weight.type(), weight.columns());
  const int64_t row = first * kPanelRows;
  return {.type = weight.type(),
          .packed = static_cast<const std::byte*>(weight.data()) + first * bytes,
          .panel_bytes = bytes,
          .panels = panels,
          .columns = x.columns,
          .rows = weight.rows() - row,
          .tiles = tiles,
          .split = split,
          .bias = out.bias.data == nullptr ? nullptr : out.bias.as<float>() + row,
          .out = out.out.as<float>() + first_token * weight.rows() + row,
          .stride = weight.rows(),
          .add = out.add};
}

// Calls work(rows of x of one group, its first token), groups as equal as can be.
template <typename Work>
void for_groups(View x, int64_t group_tokens, Work&& work) {
  const int64_t groups = (x.rows + group_tokens - 1) / group_tokens;
  for (int64_t g = 0; g < groups; ++g) {
    const int64_t first = x.rows * g / groups;
    work(x.slice(first, x.rows * (g + 1) / groups - first), first);
  }
}

}  // namespace

int64_t CpuOps::largest_tile(bool blocks) const {
  return blocks ? kernels_.block_tile : kernels_.float_tile;
}

CpuOps::Prepared CpuOps::prepare_blocks(View x, int64_t tile) {
  const PrepareRun run = {.x = x.as<float>(),
                          .columns = x.columns,
                          .split = split_tokens(x.rows, tile),
                          .tiles = blocks_.view().as<std::byte>()};
  schedule_.run(run.split.count, kPrepareNsPerElement * static_cast<double>(x.rows * x.columns),
                [&](int64_t first, int64_t last) {
                  for (int64_t i = first; i < last; ++i) kernels_.quantise_tile(run, i);
                });
  return {run.split, run.tiles};
}

CpuOps::Prepared CpuOps::prepare_floats(View x, int64_t tile) {
  const PrepareRun run = {.x = x.as<float>(),
                          .columns = x.columns,
                          .split = split_tokens(x.rows, tile),
                          .tiles = floats_.view().as<std::byte>()};
  // A tile of one token is its row.
  if (x.rows == 1) return {run.split, x.as<std::byte>()};
  schedule_.run(run.split.count, kPrepareNsPerElement * static_cast<double>(x.rows * x.columns),
                [&](int64_t first, int64_t last) {
                  for (int64_t i = first; i < last; ++i) kernels_.interleave_tile(run, i);
                });
  return {run.split, run.tiles};
}

CpuOps::Prepared CpuOps::prepare(View x, bool blocks, int64_t tile) {
  return blocks ? prepare_blocks(x, tile) : prepare_floats(x, tile);
}

void CpuOps::matmul(View x, std::span<const MatmulOut> outs) {
  for_groups(x, kGroupTokens,
             [&](View group, int64_t first_token) { matmul_group(group, outs, first_token); });
}

void CpuOps::matmul_group(View x, std::span<const MatmulOut> outs, int64_t first_token) {
  Prepared prepared[2] = {};
  int64_t panels = 0;
  double nanoseconds = 0;
  for (const MatmulOut& out : outs) {
    const bool blocks = is_quantised(out.weight->type());
    if (prepared[blocks].tiles == nullptr) {
      prepared[blocks] = prepare(x, blocks, largest_tile(blocks));
    }
    panels += panel_count(*out.weight);
    nanoseconds += cost(*out.weight, x.rows);
  }
  // Panels of all outputs are numbered one after another.
  schedule_.run(panels, nanoseconds, [&](int64_t first, int64_t last) {
    for (const MatmulOut& out : outs) {
      const int64_t count = panel_count(*out.weight);
      const int64_t begin = std::max<int64_t>(first, 0);
      const int64_t end = std::min(last, count);
      const Prepared& tokens = prepared[is_quantised(out.weight->type())];
      if (begin < end) {
        kernels_.matmul(
            panel_run(out, x, tokens.split, tokens.tiles, first_token, begin, end - begin));
      }
      first -= count;
      last -= count;
    }
  });
}

void CpuOps::gated(View x, const Weight& gate, const Weight& up, View out) {
  for_groups(x, kGroupTokens, [&](View group, int64_t first_token) {
    gated_group(group, gate, up, out.slice(first_token, group.rows));
  });
}

void CpuOps::gated_group(View x, const Weight& gate, const Weight& up, View out) {
  const bool gate_blocks = is_quantised(gate.type());
  const bool up_blocks = is_quantised(up.type());
  const int64_t tile = std::min(largest_tile(gate_blocks), largest_tile(up_blocks));
  const Prepared for_gate = prepare(x, gate_blocks, tile);
  const Prepared for_up = gate_blocks == up_blocks ? for_gate : prepare(x, up_blocks, tile);
  schedule_.run(
      panel_count(gate), cost(gate, x.rows) + cost(up, x.rows), [&](int64_t first, int64_t last) {
        const MatmulOut gate_out = {.weight = &gate, .bias = {}, .out = out};
        const MatmulOut up_out = {.weight = &up, .bias = {}, .out = out};
        kernels_.gated(
            {.gate = panel_run(gate_out, x, for_gate.split, for_gate.tiles, 0, first, last - first),
             .up = panel_run(up_out, x, for_up.split, for_up.tiles, 0, first, last - first)});
      });
}

}  // namespace mummu::cpu
