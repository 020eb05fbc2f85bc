// Attention: the (token, head) pairs that share a kv head are cut into runs of as many as the
// kernel takes; runs of all sequences and kv heads are handed out in one region, a sequence's
// longest first. Where a step has few runs over many keys (a long sequence's decode), a run is cut
// into its spans too, and their partial results are merged in order afterwards: the same
// operations, since every span stands for itself.

#include <algorithm>

#include "device/cpu/cpu_ops.h"

namespace mummu::cpu {
namespace {

constexpr double kFlopsPerNs = 40;
// With more runs than this for each thread there is nothing to gain from cutting them.
constexpr int64_t kFewRuns = 8;

int64_t round_up_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

// One call of Ops::attention: what its kernel runs are. Pieces are numbered over all sequences; of
// one sequence the span turns fastest, then the kv head, then the run, last run first.
class Launch {
 public:
  Launch(View q, View out, int64_t heads, float scale, const KvLayer& layer, int64_t most_pairs)
      : layer_(layer),
        group_(heads / layer.kv_heads),
        most_pairs_(most_pairs),
        q_(q.as<float>()),
        out_(out.as<float>()),
        columns_(q.columns),
        scale_(scale),
        keys_(layer.pool.as<std::byte>() + layer.layer_offset_bytes) {}

  int64_t runs(const Segment& segment) const {
    return round_up_div(segment.tokens * group_, most_pairs_);
  }
  int64_t units(const Segment& segment) const { return layer_.kv_heads * runs(segment); }
  static int64_t spans(const Segment& segment) {
    return round_up_div(segment.position + segment.tokens, kSpanTokens);
  }
  // Floats of one partial result.
  int64_t partial_floats() const { return 32 + most_pairs_ * layer_.head_dim; }

  double nanoseconds(const Segment& segment) const {
    const int64_t ahead = segment.both_ways ? segment.tokens : segment.tokens / 2 + 1;
    const auto keys = static_cast<double>(segment.position + ahead);
    const int64_t outputs = segment.tokens * layer_.kv_heads * group_ * layer_.head_dim;
    return 4 * keys * static_cast<double>(outputs) / kFlopsPerNs;
  }

  // Unit `unit` of a sequence.
  AttentionRun run(const Segment& segment, int64_t unit) const {
    const int64_t kv_head = unit % layer_.kv_heads;
    const int64_t index = runs(segment) - 1 - unit / layer_.kv_heads;
    const int64_t pairs = segment.tokens * group_;
    const int64_t first = pairs * index / runs(segment);
    const int64_t from = segment.first_row * columns_ + kv_head * group_ * layer_.head_dim;
    return {.q = q_ + from,
            .out = out_ + from,
            .stride = columns_,
            .group = group_,
            .first_pair = first,
            .pairs = pairs * (index + 1) / runs(segment) - first,
            .position = segment.position,
            .common_keys = segment.both_ways ? segment.position + segment.tokens : 0,
            .head_dim = layer_.head_dim,
            .scale = scale_,
            .keys = keys_ + kv_head * layer_.head_bytes(),
            .values = keys_ + layer_.keys_bytes() + kv_head * layer_.head_bytes(),
            .page_bytes = layer_.pool.columns,
            .pages = segment.pages.data(),
            .type = layer_.type,
            .partial = nullptr,
            .partial_stride = partial_floats(),
            .span = 0};
  }

 private:
  const KvLayer& layer_;
  int64_t group_;
  int64_t most_pairs_;
  const float* q_;
  float* out_;
  int64_t columns_;
  float scale_;
  const std::byte* keys_;
};

// Calls work(segment, i, before) for pieces [first, last) of all sequences; i counts within the
// segment, after `before` pieces of those before it.
template <typename Count, typename Work>
void for_pieces(std::span<const Segment> segments, int64_t first, int64_t last, Count&& count,
                Work&& work) {
  int64_t before = 0;
  for (const Segment& segment : segments) {
    const int64_t end = before + count(segment);
    for (int64_t i = std::max(first, before); i < std::min(last, end); ++i) {
      work(segment, i - before, before);
    }
    before = end;
  }
}

}  // namespace

void CpuOps::attention(View q, int64_t heads, float scale, const KvLayer& layer,
                       std::span<const Segment> segments, View out) {
  const Launch launch(q, out, heads, scale, layer, kernels_.attention_pairs);
  int64_t units = 0;
  int64_t pieces = 0;
  double nanoseconds = 0;
  for (const Segment& segment : segments) {
    units += launch.units(segment);
    pieces += launch.units(segment) * Launch::spans(segment);
    nanoseconds += launch.nanoseconds(segment);
  }
  const auto count_units = [&](const Segment& segment) { return launch.units(segment); };
  const auto count_pieces = [&](const Segment& segment) {
    return launch.units(segment) * Launch::spans(segment);
  };
  const bool few = schedule_.width() > 1 && units < kFewRuns * schedule_.width() && pieces > units;
  if (!few || pieces * launch.partial_floats() > partials_.view().columns) {
    return schedule_.run(units, nanoseconds, [&](int64_t first, int64_t last) {
      for_pieces(segments, first, last, count_units,
                 [&](const Segment& segment, int64_t unit, int64_t) {
                   kernels_.attention(launch.run(segment, unit));
                 });
    });
  }
  const auto partial = [&](int64_t piece) {
    return partials_.view().as<float>() + piece * launch.partial_floats();
  };
  schedule_.run(pieces, nanoseconds, [&](int64_t first, int64_t last) {
    for_pieces(segments, first, last, count_pieces,
               [&](const Segment& segment, int64_t piece, int64_t before) {
                 AttentionRun run = launch.run(segment, piece / Launch::spans(segment));
                 run.partial = partial(before + piece);
                 run.span = piece % Launch::spans(segment);
                 kernels_.attention(run);
               });
  });
  for_pieces(segments, 0, pieces, count_pieces,
             [&](const Segment& segment, int64_t piece, int64_t before) {
               if (piece % Launch::spans(segment) != 0) return;
               AttentionRun run = launch.run(segment, piece / Launch::spans(segment));
               run.partial = partial(before + piece);
               kernels_.merge_attention(run);
             });
}

}  // namespace mummu::cpu
