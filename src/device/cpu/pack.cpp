#include "device/cpu/pack.h"

#include <algorithm>
#include <cstring>
#include <span>

#include "base/checked.h"
#include "base/fail.h"
#include "device/cpu/memory.h"
#include "device/ops.h"

namespace mummu::cpu {
namespace {

constexpr int64_t kReadBytes = int64_t{2} << 20;

// Up to 16 rows as a file holds them, and the panel they become.
struct Panel {
  const std::byte* rows;
  int64_t count;
  int64_t row_bytes;
  std::byte* out;
};

template <typename Word>
void pack_words(const Panel& panel) {
  for (int64_t r = 0; r < panel.count; ++r) {
    const std::byte* row = panel.rows + r * panel.row_bytes;
    std::byte* to = panel.out + r * static_cast<int64_t>(sizeof(Word));
    for (int64_t at = 0; at < panel.row_bytes; at += sizeof(Word)) {
      std::memcpy(to + at * kPanelRows, row + at, sizeof(Word));
    }
  }
}

// A file's block is its f16 scales (one or two), then its weights.
void pack_blocks(const Panel& panel, int64_t scales, int64_t weight_bytes) {
  const int64_t block_bytes = 2 * scales + weight_bytes;
  std::byte* out = panel.out;
  for (int64_t at = 0; at < panel.row_bytes; at += block_bytes, out += block_bytes * kPanelRows) {
    for (int64_t r = 0; r < panel.count; ++r) {
      const std::byte* block = panel.rows + r * panel.row_bytes + at;
      for (int64_t i = 0; i < weight_bytes; i += 4) {
        std::memcpy(out + i * kPanelRows + 4 * r, block + 2 * scales + i, 4);
      }
      for (int64_t s = 0; s < scales; ++s) {
        std::memcpy(out + (weight_bytes + 2 * s) * kPanelRows + 2 * r, block + 2 * s, 2);
      }
    }
  }
}

void pack_panel(DType type, const Panel& panel) {
  switch (type) {
    case DType::f32:
      return pack_words<uint32_t>(panel);
    case DType::f16:
    case DType::bf16:
      return pack_words<uint16_t>(panel);
    case DType::q8_0:
      return pack_blocks(panel, 1, 32);
    case DType::q4_1:
      return pack_blocks(panel, 2, 16);
    default:
      return pack_blocks(panel, 1, 16);
  }
}

Result<int64_t> checked_packed_bytes(const WeightSource& source) {
  const DTypeInfo& type = info(source.type);
  const auto elements = checked_mul(source.columns, type.bytes * kPanelRows);
  const int64_t panels = source.rows / kPanelRows + (source.rows % kPanelRows != 0);
  const auto bytes = elements ? checked_mul(panels, *elements / type.elements) : elements;
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
  return type == DType::f32 || type == DType::f16 || type == DType::bf16 || type == DType::q8_0 ||
         type == DType::q4_0 || type == DType::q4_1;
}

int64_t panel_bytes(DType type, int64_t columns) { return kPanelRows * row_bytes(type, columns); }

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
