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

// Stays in a core's cache while it is re-laid.
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

// Some rows of one source, and where their panels go.
struct Piece {
  const WeightSource* source;
  int64_t first, count;
  std::byte* out;

  int64_t read_bytes() const { return count * row_bytes(source->type, source->columns); }
};

// The pieces [begin, end) whose panels begin in one stretch of memory; `next` is to be packed next.
struct Stretch {
  size_t begin = 0, end = 0;
  std::atomic<size_t> next = 0;

  // Its owner has packed a piece, so the system has given it its memory.
  bool begun() const { return next > begin + 1; }
};

// The pieces of a matrix in order; none goes beyond the end of a stretch by more than a panel.
void cut(const WeightSource& source, std::byte* out, int64_t stretch_bytes,
         std::vector<Piece>& pieces) {
  const int64_t panel = std::max<int64_t>(1, panel_bytes(source.type, source.columns));
  const auto stretch = static_cast<uintptr_t>(stretch_bytes);
  for (int64_t first = 0; first < source.rows;) {
    const uintptr_t room = stretch - reinterpret_cast<uintptr_t>(out) % stretch;
    const int64_t to_end = (static_cast<int64_t>(room) + panel - 1) / panel;
    const int64_t panels = std::min(to_end, std::max<int64_t>(1, kPieceBytes / panel));
    const int64_t count = std::min(source.rows - first, panels * kPanelRows);
    pieces.push_back({&source, first, count, out});
    first += count;
    out += panels * panel;
  }
}

std::vector<Stretch> group(std::span<const Piece> pieces, int64_t stretch_bytes) {
  const auto stretch = [&](size_t i) {
    return reinterpret_cast<uintptr_t>(pieces[i].out) / static_cast<uintptr_t>(stretch_bytes);
  };
  std::vector<size_t> begins;
  for (size_t i = 0; i < pieces.size(); ++i) {
    if (i == 0 || stretch(i) != stretch(i - 1)) begins.push_back(i);
  }
  std::vector<Stretch> stretches(begins.size());
  for (size_t i = 0; i < begins.size(); ++i) {
    stretches[i].begin = stretches[i].next = begins[i];
    stretches[i].end = i + 1 < begins.size() ? begins[i + 1] : pieces.size();
  }
  return stretches;
}

// Reads a piece into `buffer` and lays its panels.
Result<void> pack_piece(const Piece& piece, std::byte* buffer) {
  const WeightSource& source = *piece.source;
  const int64_t row = row_bytes(source.type, source.columns);
  const int64_t panel = panel_bytes(source.type, source.columns);
  MUMMU_TRY(source.read(piece.first, piece.count,
                        std::span(buffer, static_cast<size_t>(piece.read_bytes()))));
  std::byte* out = piece.out;
  for (int64_t r = 0; r < piece.count; r += kPanelRows, out += panel) {
    pack_panel(source.type, {buffer + r * row, std::min(kPanelRows, piece.count - r), row, out});
  }
  return {};
}

// Threads that pack together: each takes a stretch after another, and when none is left helps with
// those that are begun.
class Packing {
 public:
  Packing(std::span<const Piece> pieces, std::span<Stretch> stretches)
      : pieces_(pieces), stretches_(stretches) {}

  // One thread's part.
  Result<void> run(std::byte* buffer) {
    for (size_t i = next_++; i < stretches_.size(); i = next_++) {
      MUMMU_TRY(pack(stretches_[i], buffer));
    }
    for (Stretch& stretch : stretches_) {
      if (stretch.begun()) MUMMU_TRY(pack(stretch, buffer));
    }
    return {};
  }

 private:
  Result<void> pack(Stretch& stretch, std::byte* buffer) {
    for (size_t i = stretch.next++; i < stretch.end && !failed_; i = stretch.next++) {
      Result<void> packed = at_edge([&] { return pack_piece(pieces_[i], buffer); });
      if (packed) continue;
      failed_ = true;
      return packed;
    }
    return {};
  }

  std::span<const Piece> pieces_;
  std::span<Stretch> stretches_;
  std::atomic<size_t> next_ = 0;
  std::atomic<bool> failed_ = false;
};

Result<void> pack_pieces(std::span<const Piece> pieces, int64_t stretch_bytes, Scratch& scratch,
                         Schedule& schedule) {
  const int64_t threads = std::min<int64_t>(std::ssize(pieces), schedule.width());
  int64_t bytes = 0;
  for (const Piece& piece : pieces) bytes = std::max(bytes, piece.read_bytes());
  MUMMU_TRY(std::byte* const buffers, scratch.take(threads * bytes, "reading a weight"));
  std::vector<Stretch> stretches = group(pieces, stretch_bytes);
  Packing packing(pieces, stretches);
  std::vector<Result<void>> results(static_cast<size_t>(threads));
  schedule.each(threads, [&](int64_t thread) {
    results[static_cast<size_t>(thread)] = packing.run(buffers + thread * bytes);
  });
  for (const Result<void>& result : results) MUMMU_TRY(result);
  return {};
}

// A large page where there is one for each thread; or what shares all of it out.
int64_t share(int64_t packed_bytes, int threads) {
  return std::clamp(packed_bytes / threads, kPieceBytes, kLargePage);
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

Result<std::vector<Weight>> pack_all(std::span<const WeightSource> sources, Arena& arena,
                                     Scratch& scratch, Schedule& schedule) {
  arena.seal();
  std::vector<Weight> weights;
  std::vector<std::byte*> outs;
  int64_t packed = 0;
  for (const WeightSource& source : sources) {
    MUMMU_TRY(check_source(source));
    MUMMU_TRY(const int64_t bytes, checked_packed_bytes(source));
    MUMMU_TRY(auto memory, arena.allocate(bytes, "a weight"));
    outs.push_back(static_cast<std::byte*>(memory->data()));
    weights.emplace_back(std::move(memory), source.type, source.rows, source.columns, bytes);
    packed += bytes;
  }
  const int64_t stretch_bytes = share(packed, schedule.width());
  // Several threads would meet in one large page.
  if (stretch_bytes < kLargePage && schedule.width() > 1) arena.touch_ahead(schedule);
  std::vector<Piece> pieces;
  for (size_t i = 0; i < sources.size(); ++i) cut(sources[i], outs[i], stretch_bytes, pieces);
  MUMMU_TRY(pack_pieces(pieces, stretch_bytes, scratch, schedule));
  return weights;
}

}  // namespace mummu::cpu
