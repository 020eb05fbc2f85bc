// Attention: the (token, head) pairs that share a kv head are cut into runs of as many as the
// kernel takes; runs of all sequences and kv heads are handed out in one region, a sequence's
// longest first.

#include "device/cpu/cpu_ops.h"

namespace mummu::cpu {
namespace {

constexpr double kFlopsPerNs = 40;

// The pairs of one sequence and kv head.
struct Pairs {
  int64_t count;
  int64_t runs;

  int64_t first(int64_t run) const { return count * run / runs; }
};

Pairs pairs_of(const Segment& segment, int64_t group, int64_t most) {
  const int64_t count = segment.tokens * group;
  return {count, (count + most - 1) / most};
}

double cost(const Segment& segment, int64_t heads, int64_t head_dim) {
  const double keys =
      static_cast<double>(segment.position) + 0.5 * static_cast<double>(segment.tokens);
  return 4 * keys * static_cast<double>(segment.tokens * heads * head_dim) / kFlopsPerNs;
}

}  // namespace

void CpuOps::attention(View q, int64_t heads, float scale, const KvLayer& layer,
                       std::span<const Segment> segments, View out) {
  const int64_t group = heads / layer.kv_heads;
  const int64_t kv_head_bytes = layer.keys_bytes() / layer.kv_heads;
  const std::byte* keys = layer.pool.as<std::byte>() + layer.layer_offset_bytes;
  int64_t units = 0;
  double nanoseconds = 0;
  for (const Segment& segment : segments) {
    units += layer.kv_heads * pairs_of(segment, group, kernels_.attention_pairs).runs;
    nanoseconds += cost(segment, heads, layer.head_dim);
  }
  const auto run_one = [&](const Segment& segment, int64_t kv_head, const Pairs& pairs,
                           int64_t run) {
    const int64_t first_head = segment.first_row * q.columns + kv_head * group * layer.head_dim;
    kernels_.attention({.q = q.as<float>() + first_head,
                        .out = out.as<float>() + first_head,
                        .stride = q.columns,
                        .group = group,
                        .first_pair = pairs.first(run),
                        .pairs = pairs.first(run + 1) - pairs.first(run),
                        .position = segment.position,
                        .head_dim = layer.head_dim,
                        .scale = scale,
                        .keys = keys + kv_head * kv_head_bytes,
                        .values = keys + layer.keys_bytes() + kv_head * kv_head_bytes,
                        .page_bytes = layer.pool.columns,
                        .pages = segment.pages.data(),
                        .type = layer.type});
  };
  schedule_.run(units, nanoseconds, [&](int64_t first, int64_t last) {
    for (const Segment& segment : segments) {
      const Pairs pairs = pairs_of(segment, group, kernels_.attention_pairs);
      const int64_t count = layer.kv_heads * pairs.runs;
      for (int64_t i = std::max<int64_t>(first, 0); i < std::min(last, count); ++i) {
        run_one(segment, i % layer.kv_heads, pairs, pairs.runs - 1 - i / layer.kv_heads);
      }
      first -= count;
      last -= count;
    }
  });
}

}  // namespace mummu::cpu
