// Attention of some (token, head) pairs of one sequence over its pages; ops.h states the
// order.
//
// Up to kAttentionPairs pairs share every key and value that is read. Scores: 16 keys of a page
// stand in the lanes, one accumulator for each pair and page. Values: 16 components stand in the
// lanes, one accumulator for each pair and vector. Scores of a span stay on the stack.

#include "device/cpu/kernel/ops.h"
#include "device/cpu/kernel/vector_exp.h"

namespace mummu::MUMMU_KERNEL_NAMESPACE {
namespace {

constexpr int64_t kSpan = 512;
constexpr int64_t kPage = 16;
constexpr int64_t kDims = 256;  // components of q that are laid side by side at once

// A page's keys and values of one head as floats: 16 keys of component d, 16 (or the first n)
// components of a value from d on.
template <int64_t kBytes, typename Widen>
struct Plain {
  MUMMU_INLINE static f32x16 key(const std::byte* head, int64_t, int64_t d) {
    return Widen::all16(head + d * kPage * kBytes);
  }
  MUMMU_INLINE static f32x16 value(const std::byte* head, int64_t head_dim, int64_t t, int64_t d) {
    return Widen::all16(head + (t * head_dim + d) * kBytes);
  }
  MUMMU_INLINE static f32x16 value_first(const std::byte* head, int64_t head_dim, int64_t t,
                                         int64_t d, int64_t n) {
    alignas(64) std::byte copy[16 * kBytes] = {};
    __builtin_memcpy(copy, head + (t * head_dim + d) * kBytes, static_cast<size_t>(n * kBytes));
    return Widen::all16(copy);
  }
};

struct WidenF32 {
  MUMMU_INLINE static f32x16 all16(const std::byte* p) {
    return load(reinterpret_cast<const float*>(p));
  }
};
struct WidenF16 {
  MUMMU_INLINE static f32x16 all16(const std::byte* p) {
    return load_f16(reinterpret_cast<const uint16_t*>(p));
  }
};
struct WidenBf16 {
  MUMMU_INLINE static f32x16 all16(const std::byte* p) {
    return load_bf16(reinterpret_cast<const uint16_t*>(p));
  }
};
using F32 = Plain<4, WidenF32>;
using F16 = Plain<2, WidenF16>;
using Bf16 = Plain<2, WidenBf16>;

// int8 with an f16 scale for 32 components of a token: the product is exact.
struct Q8 {
  MUMMU_INLINE static f32x16 key(const std::byte* head, int64_t head_dim, int64_t d) {
    const std::byte* scales = head + head_dim * kPage + d / 32 * kPage * 2;
    return mul(load_f16(reinterpret_cast<const uint16_t*>(scales)), numbers(head + d * kPage));
  }
  MUMMU_INLINE static f32x16 value(const std::byte* head, int64_t head_dim, int64_t t, int64_t d) {
    return mul(scale(head, head_dim, t, d), numbers(head + t * head_dim + d));
  }
  MUMMU_INLINE static f32x16 value_first(const std::byte* head, int64_t head_dim, int64_t t,
                                         int64_t d, int64_t n) {
    std::byte copy[16] = {};
    __builtin_memcpy(copy, head + t * head_dim + d, static_cast<size_t>(n));
    return mul(scale(head, head_dim, t, d), numbers(copy));
  }

 private:
  MUMMU_INLINE static f32x16 numbers(const std::byte* p) {
    return load_i8(reinterpret_cast<const int8_t*>(p));
  }
  MUMMU_INLINE static f32x16 scale(const std::byte* head, int64_t head_dim, int64_t t, int64_t d) {
    const int64_t blocks = (head_dim + 31) / 32;
    const std::byte* at = head + head_dim * kPage + (t * blocks + d / 32) * 2;
    return all(_cvtsh_ss(*reinterpret_cast<const uint16_t*>(at)));
  }
};

// What one run keeps between its spans.
template <int kPairs>
struct State {
  alignas(64) float q[kDims * kPairs];      // (components, pairs)
  alignas(64) float score[kPairs * kSpan];  // (pairs, keys), then the exponentials
  alignas(64) float maximum[16];            // of the spans so far, one lane for each pair
  alignas(64) float sum[16];
  alignas(64) float old_factor[16];  // of this merge
  alignas(64) float new_factor[16];
  int64_t visible[kPairs];  // keys of this span, <= 0 if none
};

MUMMU_INLINE int64_t token_of(const AttentionRun& run, int64_t pair) {
  return (run.first_pair + pair) / run.group;
}

// Keys that a pair sees.
MUMMU_INLINE int64_t keys_of(const AttentionRun& run, int64_t pair) {
  return run.common_keys > 0 ? run.common_keys : run.position + token_of(run, pair) + 1;
}

MUMMU_INLINE int64_t offset_of(const AttentionRun& run, int64_t pair) {
  return token_of(run, pair) * run.stride + (run.first_pair + pair) % run.group * run.head_dim;
}

// Where a pair's values go: to out, or behind the sums of a partial result.
MUMMU_INLINE float* output_of(const AttentionRun& run, int64_t pair) {
  return run.partial != nullptr ? run.partial + 32 + pair * run.head_dim
                                : run.out + offset_of(run, pair);
}

template <int kPairs>
void lay_out_queries(const AttentionRun& run, int64_t first_dim, int64_t dims, float* q) {
  for (int64_t p = 0; p < kPairs; ++p) {
    const float* from = run.q + offset_of(run, p) + first_dim;
    for (int64_t d = 0; d < dims; ++d) q[d * kPairs + p] = from[d];
  }
}

// Continues the scores of kPages pages over components [first, first + dims).
template <typename Format, int kPairs, int kPages>
MUMMU_INLINE void score_pages(const std::byte* const* keys, const float* q, int64_t head_dim,
                              int64_t first, int64_t dims, float* score) {
  f32x16 sum[kPages][kPairs];
  MUMMU_UNROLL
  for (int i = 0; i < kPages; ++i) {
    MUMMU_UNROLL
    for (int p = 0; p < kPairs; ++p) {
      sum[i][p] = first == 0 ? zero() : load(score + p * kSpan + i * kPage);
    }
  }
  for (int64_t d = 0; d < dims; ++d) {
    f32x16 key[kPages];
    MUMMU_UNROLL
    for (int i = 0; i < kPages; ++i) key[i] = Format::key(keys[i], head_dim, first + d);
    MUMMU_UNROLL
    for (int p = 0; p < kPairs; ++p) {
      const f32x16 component = all(q[d * kPairs + p]);
      MUMMU_UNROLL
      for (int i = 0; i < kPages; ++i) sum[i][p] = fma(component, key[i], sum[i][p]);
    }
  }
  MUMMU_UNROLL
  for (int i = 0; i < kPages; ++i) {
    MUMMU_UNROLL
    for (int p = 0; p < kPairs; ++p) store(score + p * kSpan + i * kPage, sum[i][p]);
  }
}

// The scores of `pages` pages of a span, before the scale.
template <typename Format, int kPairs>
void score_span(const AttentionRun& run, const int32_t* pages, int64_t count,
                State<kPairs>& state) {
  for (int64_t first = 0; first < run.head_dim; first += kDims) {
    const int64_t dims = smaller(kDims, run.head_dim - first);
    if (run.head_dim > kDims) lay_out_queries<kPairs>(run, first, dims, state.q);
    int64_t i = 0;
    for (; i + kScorePages <= count; i += kScorePages) {
      const std::byte* at[kScorePages];
      for (int j = 0; j < kScorePages; ++j) at[j] = run.keys + pages[i + j] * run.page_bytes;
      score_pages<Format, kPairs, kScorePages>(at, state.q, run.head_dim, first, dims,
                                               state.score + i * kPage);
    }
    for (; i < count; ++i) {
      const std::byte* at = run.keys + pages[i] * run.page_bytes;
      score_pages<Format, kPairs, 1>(&at, state.q, run.head_dim, first, dims,
                                     state.score + i * kPage);
    }
  }
}

// Scales the scores of one pair and returns their maximum.
float scale_scores(float* score, int64_t visible, float scale) {
  const f32x16 lowest = all(-__builtin_inff());
  f32x16 maximum = lowest;
  for (int64_t t = 0; t < visible; t += 16) {
    const f32x16 s = mul(load(score + t), all(scale));
    store(score + t, s);
    maximum = greater(keep_first(s, smaller(16, visible - t), lowest), maximum);
  }
  return largest(maximum);
}

// Turns the scores of one pair into exponentials and returns their sum.
float weigh_scores(float* score, int64_t visible, float maximum) {
  f32x16 sum = zero();
  for (int64_t t = 0; t < visible; t += 16) {
    const f32x16 p = exp(sub(load(score + t), all(maximum)));
    store(score + t, p);
    // A lane without a key adds +0 to a sum that is never -0.
    sum = add(sum, keep_first(p, smaller(16, visible - t), zero()));
  }
  return tree_sum(sum);
}

// The running maxima and sums of up to 16 pairs, one lane for each.
struct Merged {
  f32x16 maximum;
  f32x16 sum;
  f32x16 old_factor;  // what the values so far are multiplied with
  f32x16 new_factor;  // what the new span's are
};

// Merges a later span; ops.h states the formula.
MUMMU_INLINE Merged merge_sums(f32x16 old_maximum, f32x16 old_sum, f32x16 maximum, f32x16 sum) {
  const f32x16 highest = greater(maximum, old_maximum);
  const f32x16 a = exp(sub(old_maximum, highest));
  const f32x16 b = exp(sub(maximum, highest));
  return {highest, fma(sum, b, mul(old_sum, a)), a, b};
}

MUMMU_INLINE f32x16 merge_values(f32x16 old, f32x16 old_factor, f32x16 o, f32x16 new_factor) {
  return fma(o, new_factor, mul(old, old_factor));
}

// Maximum, exponentials, sum and the factors of the merge, for each pair that sees this span.
template <int kPairs>
void soften(const AttentionRun& run, bool first_span, State<kPairs>& state) {
  alignas(64) float maximum[16] = {};
  alignas(64) float sum[16] = {};
  for (int p = 0; p < kPairs; ++p) {
    if (state.visible[p] <= 0) continue;
    float* score = state.score + p * kSpan;
    maximum[p] = scale_scores(score, state.visible[p], run.scale);
    sum[p] = weigh_scores(score, state.visible[p], maximum[p]);
  }
  if (!first_span) {
    const Merged merged =
        merge_sums(load(state.maximum), load(state.sum), load(maximum), load(sum));
    store(state.old_factor, merged.old_factor);
    store(state.new_factor, merged.new_factor);
    store(maximum, merged.maximum);
    store(sum, merged.sum);
  }
  for (int p = 0; p < kPairs; ++p) {
    if (state.visible[p] <= 0) continue;
    state.maximum[p] = maximum[p];
    state.sum[p] = sum[p];
  }
}

// Weighted values of kVectors * 16 components over the keys of a span.
template <typename Format, int kPairs, int kVectors>
MUMMU_INLINE void weigh_values(const AttentionRun& run, const int32_t* pages, int64_t common,
                               int64_t end, int64_t first_dim, const State<kPairs>& state,
                               f32x16 (&sum)[kPairs][kVectors]) {
  const bool whole = first_dim + kVectors * 16 <= run.head_dim;
  for (int64_t t = 0; t < end; ++t) {
    const std::byte* head = run.values + pages[t / kPage] * run.page_bytes;
    f32x16 value[kVectors];
    MUMMU_UNROLL
    for (int i = 0; i < kVectors; ++i) {
      const int64_t d = first_dim + i * 16;
      value[i] = whole ? Format::value(head, run.head_dim, t % kPage, d)
                       : Format::value_first(head, run.head_dim, t % kPage, d, run.head_dim - d);
    }
    MUMMU_UNROLL
    for (int p = 0; p < kPairs; ++p) {
      if (t >= common && t >= state.visible[p]) continue;
      const f32x16 weight = all(state.score[p * kSpan + t]);
      MUMMU_UNROLL
      for (int i = 0; i < kVectors; ++i) sum[p][i] = fma(weight, value[i], sum[p][i]);
    }
  }
}

// Adds the span to out for kVectors * 16 components (fewer at the end of a head).
template <typename Format, int kPairs, int kVectors>
void add_values(const AttentionRun& run, const int32_t* pages, bool first_span, int64_t first_dim,
                const State<kPairs>& state) {
  int64_t common = kSpan;
  for (int p = 0; p < kPairs; ++p) common = smaller(common, state.visible[p]);
  f32x16 sum[kPairs][kVectors];
  MUMMU_UNROLL
  for (int p = 0; p < kPairs; ++p) {
    MUMMU_UNROLL
    for (int i = 0; i < kVectors; ++i) sum[p][i] = zero();
  }
  weigh_values<Format, kPairs, kVectors>(run, pages, common, state.visible[kPairs - 1], first_dim,
                                         state, sum);
  MUMMU_UNROLL
  for (int p = 0; p < kPairs; ++p) {
    if (state.visible[p] <= 0) continue;
    float* out = output_of(run, p) + first_dim;
    MUMMU_UNROLL
    for (int i = 0; i < kVectors; ++i) {
      const int64_t n = smaller(16, run.head_dim - first_dim - i * 16);
      f32x16 o = sum[p][i];
      if (!first_span) {
        const f32x16 old = load_first(out + i * 16, n);
        o = merge_values(old, all(state.old_factor[p]), o, all(state.new_factor[p]));
      }
      store_first(out + i * 16, o, n);
    }
  }
}

MUMMU_INLINE void divide_by_sum(float* out, int64_t head_dim, f32x16 sum) {
  for (int64_t d = 0; d < head_dim; d += 16) {
    const int64_t n = smaller(16, head_dim - d);
    store_first(out + d, div(load_first(out + d, n), sum), n);
  }
}

template <typename Format, int kPairs>
void attend_span(const AttentionRun& run, int64_t span, bool first_span, State<kPairs>& state) {
  for (int p = 0; p < kPairs; ++p) {
    state.visible[p] = smaller(kSpan, keys_of(run, p) - span * kSpan);
  }
  const int32_t* pages = run.pages + span * (kSpan / kPage);
  const int64_t count = (state.visible[kPairs - 1] + kPage - 1) / kPage;
  score_span<Format, kPairs>(run, pages, count, state);
  soften<kPairs>(run, first_span, state);
  int64_t d = 0;
  for (; d + kValueVectors * 16 <= run.head_dim; d += kValueVectors * 16) {
    add_values<Format, kPairs, kValueVectors>(run, pages, first_span, d, state);
  }
  for (; d < run.head_dim; d += 16) {
    add_values<Format, kPairs, 1>(run, pages, first_span, d, state);
  }
}

template <typename Format, int kPairs>
void attend(const AttentionRun& run) {
  State<kPairs> state;
  if (run.head_dim <= kDims) lay_out_queries<kPairs>(run, 0, run.head_dim, state.q);
  if (run.partial != nullptr) {
    attend_span<Format, kPairs>(run, run.span, true, state);
    store(run.partial, load(state.maximum));
    return store(run.partial + 16, load(state.sum));
  }
  const int64_t keys = keys_of(run, kPairs - 1);
  for (int64_t span = 0; span * kSpan < keys; ++span) {
    attend_span<Format, kPairs>(run, span, span == 0, state);
  }
  for (int p = 0; p < kPairs; ++p) {
    divide_by_sum(output_of(run, p), run.head_dim, all(state.sum[p]));
  }
}

// Merges the partial results of one pair.
void merge_pair(const AttentionRun& run, int64_t pair, int64_t spans, float* out) {
  const float* partial = run.partial;
  f32x16 maximum = all(partial[pair]);
  f32x16 sum = all(partial[16 + pair]);
  __builtin_memcpy(out, partial + 32 + pair * run.head_dim, sizeof(float) * run.head_dim);
  for (int64_t span = 1; span < spans; ++span) {
    partial += run.partial_stride;
    const Merged merged = merge_sums(maximum, sum, all(partial[pair]), all(partial[16 + pair]));
    const float* values = partial + 32 + pair * run.head_dim;
    for (int64_t d = 0; d < run.head_dim; d += 16) {
      const int64_t n = smaller(16, run.head_dim - d);
      store_first(out + d,
                  merge_values(load_first(out + d, n), merged.old_factor, load_first(values + d, n),
                               merged.new_factor),
                  n);
    }
    maximum = merged.maximum;
    sum = merged.sum;
  }
  divide_by_sum(out, run.head_dim, sum);
}

using Attend = void (*)(const AttentionRun& run);

template <typename Format>
constexpr Attend kAttend[] = {
    attend<Format, 1>,  attend<Format, 2>,  attend<Format, 3>,
    attend<Format, 4>,  attend<Format, 5>,  attend<Format, 6>,
#if defined(__AVX512F__)
    attend<Format, 7>,  attend<Format, 8>,  attend<Format, 9>,
    attend<Format, 10>, attend<Format, 11>, attend<Format, 12>,
#endif
};
static_assert(sizeof kAttend<F32> / sizeof(Attend) == kAttentionPairs);

}  // namespace

void attention(const AttentionRun& run) {
  if (run.type == DType::f32) return kAttend<F32>[run.pairs - 1](run);
  if (run.type == DType::f16) return kAttend<F16>[run.pairs - 1](run);
  if (run.type == DType::bf16) return kAttend<Bf16>[run.pairs - 1](run);
  kAttend<Q8>[run.pairs - 1](run);
}

void merge_attention(const AttentionRun& run) {
  for (int64_t p = 0; p < run.pairs; ++p) {
    const int64_t keys = keys_of(run, p);
    float* out = run.out + offset_of(run, p);
    merge_pair(run, p, (keys + kSpan - 1) / kSpan, out);
  }
}

}  // namespace mummu::MUMMU_KERNEL_NAMESPACE
