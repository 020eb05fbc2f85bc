#include "device/cpu/pack.h"

#include <algorithm>
#include <atomic>
#include <span>
#include <vector>

#include "base/checked.h"
#include "base/edge.h"
#include "base/fail.h"
#include "device/cpu/memory.h"
#include "device/cpu/pack_panel.h"
#include "device/ops.h"

namespace mummu::cpu {
namespace {

// Stays in a core's cache while it is re-laid, and a small matrix still has one for each thread.
constexpr int64_t kPieceBytes = int64_t{64} << 10;

Result<int64_t> checked_packed_bytes(const WeightSource& source) {
  const int64_t block = block_panel_bytes(source.type);
  const int64_t panels = source.rows / kPanelRows + (source.rows % kPanelRows != 0);
  const auto panel = checked_mul(source.columns / info(source.type).elements, block);
  const auto bytes = panel ? checked_mul(panels, *panel) : panel;
  if (!bytes) {
    return fail(Error::no_memory, "no memory for a weight of {} x {}", source.rows, source.columns);
  }
  return *bytes;
}

Result<void> check_source(const WeightSource& source) {
  if (!can_pack(source.type)) {
    return fail(Error::unsupported, "weights of type {} are not supported", name(source.type));
  }
  const int64_t elements = info(source.type).elements;
  if (source.columns % elements != 0) {
    return fail(Error::unsupported, "{} weights need rows of a multiple of {} elements, got {}",
                name(source.type), elements, source.columns);
  }
  return {};
}

// Reads rows [first, first + count) into `buffer` and lays their panels at `out`.
Result<void> pack_rows(const WeightSource& source, int64_t first, int64_t count, std::byte* buffer,
                       std::byte* out) {
  const int64_t row = row_bytes(source.type, source.columns);
  const int64_t panel = panel_bytes(source.type, source.columns);
  MUMMU_TRY(source.read(first, count, std::span(buffer, static_cast<size_t>(count * row))));
  for (int64_t r = 0; r < count; r += kPanelRows, out += panel) {
    pack_panel(source.type, {buffer + r * row, std::min(kPanelRows, count - r), row, out});
  }
  return {};
}

}  // namespace

bool can_pack(DType type) {
  return type == DType::f32 || type == DType::f16 || type == DType::bf16 || is_quantised(type);
}

int64_t panel_bytes(DType type, int64_t columns) {
  return columns / info(type).elements * block_panel_bytes(type);
}

int64_t packed_bytes(DType type, int64_t rows, int64_t columns) {
  return (rows + kPanelRows - 1) / kPanelRows * panel_bytes(type, columns);
}

Result<Weight> pack(const WeightSource& source, Arena& arena, Scratch& scratch,
                    Schedule& schedule) {
  MUMMU_TRY(check_source(source));
  MUMMU_TRY(const int64_t bytes, checked_packed_bytes(source));
  MUMMU_TRY(auto memory, arena.allocate(bytes, "a weight", schedule));
  const int64_t panel = panel_bytes(source.type, source.columns);
  const int64_t panels_at_once = std::max<int64_t>(1, kPieceBytes / std::max<int64_t>(1, panel));
  const int64_t rows_at_once = std::clamp<int64_t>(source.rows, 1, panels_at_once * kPanelRows);
  const int64_t pieces = (source.rows + rows_at_once - 1) / rows_at_once;
  const int64_t at_once = std::min<int64_t>(pieces, schedule.width());
  const int64_t buffer_bytes = rows_at_once * row_bytes(source.type, source.columns);
  MUMMU_TRY(std::byte* const read, scratch.take(at_once * buffer_bytes, "reading a weight"));
  auto* out = static_cast<std::byte*>(memory->data());
  std::atomic<int64_t> next = 0;
  std::vector<Result<void>> results(static_cast<size_t>(at_once));
  schedule.each(at_once, [&](int64_t thread) {
    Result<void>& result = results[static_cast<size_t>(thread)];
    for (int64_t piece = next++; piece < pieces && result; piece = next++) {
      const int64_t first = piece * rows_at_once;
      result = at_edge([&] {
        return pack_rows(source, first, std::min(rows_at_once, source.rows - first),
                         read + thread * buffer_bytes, out + first / kPanelRows * panel);
      });
    }
    if (!result) next = pieces;
  });
  for (const Result<void>& result : results) MUMMU_TRY(result);
  return Weight(std::move(memory), source.type, source.rows, source.columns, bytes);
}

}  // namespace mummu::cpu
