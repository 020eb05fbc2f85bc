#include "device/cpu/pack.h"

#include <algorithm>
#include <span>

#include "base/checked.h"
#include "base/fail.h"
#include "device/cpu/memory.h"
#include "device/cpu/pack_panel.h"
#include "device/ops.h"

namespace mummu::cpu {
namespace {

constexpr int64_t kReadBytes = int64_t{2} << 20;

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

Result<Weight> pack(const WeightSource& source, Arena& arena) {
  MUMMU_TRY(check_source(source));
  MUMMU_TRY(const int64_t bytes, checked_packed_bytes(source));
  MUMMU_TRY(auto memory, arena.allocate(bytes, "a weight"));
  const int64_t panel = panel_bytes(source.type, source.columns);
  const int64_t row = row_bytes(source.type, source.columns);
  const int64_t panels_at_once = std::max<int64_t>(1, kReadBytes / std::max<int64_t>(1, panel));
  const int64_t rows_at_once = std::min(source.rows, panels_at_once * kPanelRows);
  MUMMU_TRY(auto buffer, allocate(rows_at_once * row, "reading a weight"));
  auto* read = static_cast<std::byte*>(buffer->data());
  auto* out = static_cast<std::byte*>(memory->data());
  for (int64_t first = 0; first < source.rows; first += rows_at_once) {
    const int64_t count = std::min(rows_at_once, source.rows - first);
    MUMMU_TRY(source.read(first, count, std::span(read, static_cast<size_t>(count * row))));
    for (int64_t r = 0; r < count; r += kPanelRows, out += panel) {
      pack_panel(source.type, {read + r * row, std::min(kPanelRows, count - r), row, out});
    }
  }
  return Weight(std::move(memory), source.type, source.rows, source.columns, bytes);
}

}  // namespace mummu::cpu
