#include <algorithm>
#include <cmath>
#include <limits>

#include "device/reference/fma.h"
#include "device/reference/kv_page.h"
#include "device/reference/reference_ops.h"
#include "device/reference/scalar.h"

namespace mummu::reference {
namespace {

// One query head of one token over its sequence's keys.
class Query {
 public:
  Query(const float* q, float scale, const KvLayer& layer, const Segment& segment, int64_t kv_head)
      : q_(q), scale_(scale), layer_(layer), segment_(segment), kv_head_(kv_head) {}

  // Attends to the keys of positions [0, last] and writes (head_dim) values to out.
  MUMMU_FMA void attend(int64_t last, float* out) {
    for (int64_t first = 0; first <= last; first += kSpanTokens) {
      const int64_t visible = std::min(kSpanTokens, last + 1 - first);
      const float maximum = score(first, visible);
      const float sum = weigh(visible, maximum);
      merge(first, visible, maximum, sum, out);
    }
    for (int64_t d = 0; d < layer_.head_dim; ++d) out[d] = out[d] / sum_;
  }

 private:
  // Fills p_ with the scores of a span and returns their maximum.
  float score(int64_t first, int64_t visible) {
    float maximum = -std::numeric_limits<float>::infinity();
    for (int64_t page = 0; page < visible; page += kPageTokens) {
      const KvRow key = key_at(layer_, segment_, first + page, kv_head_);
      float s[kPageTokens] = {}, x[kPageTokens];
      for (int64_t d = 0; d < layer_.head_dim; ++d) {
        load_keys(key, d, x);
        for (int64_t t = 0; t < kPageTokens; ++t) s[t] = std::fma(q_[d], x[t], s[t]);
      }
      for (int64_t t = page; t < std::min(visible, page + kPageTokens); ++t) {
        p_[t] = s[t - page] * scale_;
        maximum = p_[t] > maximum ? p_[t] : maximum;
      }
    }
    return maximum;
  }

  // Turns the scores in p_ into exponentials and returns their sum.
  float weigh(int64_t visible, float maximum) {
    Lanes lanes;
    for (int64_t t = 0; t < visible; ++t) {
      p_[t] = exp(p_[t] - maximum);
      lanes.lane[t % 16] += p_[t];
    }
    return lanes.total();
  }

  // Adds the span's weighted values to those of the spans before it.
  void merge(int64_t first, int64_t visible, float maximum, float sum, float* out) {
    const float highest = maximum > maximum_ ? maximum : maximum_;
    const float a = exp(maximum_ - highest);
    const float b = exp(maximum - highest);
    for (int64_t block = 0; block < layer_.head_dim; block += kBlock) {
      const int64_t here = std::min(kBlock, layer_.head_dim - block);
      float o[kBlock] = {}, x[kBlock] = {};
      for (int64_t t = 0; t < visible; ++t) {
        load_value(value_at(layer_, segment_, first + t, kv_head_), block, here, x);
        for (int64_t d = 0; d < kBlock; ++d) o[d] = std::fma(p_[t], x[d], o[d]);
      }
      float* to = out + block;
      for (int64_t d = 0; d < here; ++d) to[d] = first == 0 ? o[d] : std::fma(o[d], b, to[d] * a);
    }
    sum_ = first == 0 ? sum : std::fma(sum, b, sum_ * a);
    maximum_ = first == 0 ? maximum : highest;
  }

  const float* q_;
  float scale_;
  const KvLayer& layer_;
  const Segment& segment_;
  int64_t kv_head_;
  float p_[kSpanTokens];
  float maximum_ = 0.0F;  // of the spans so far, as sum_
  float sum_ = 0.0F;
};

}  // namespace

void ReferenceOps::attention(View q, int64_t heads, float scale, const KvLayer& layer,
                             std::span<const Segment> segments, View out) {
  const int64_t group = heads / layer.kv_heads;
  for (const Segment& segment : segments) {
    parallel_.for_each(segment.tokens * heads, [&](int64_t piece) {
      const int64_t token = piece / heads;
      const int64_t head = piece % heads;
      const int64_t row = segment.first_row + token;
      const float* input = q.slice(row, 1).as<float>() + head * layer.head_dim;
      float* output = out.slice(row, 1).as<float>() + head * layer.head_dim;
      const int64_t last = segment.both_ways ? segment.tokens - 1 : token;
      Query(input, scale, layer, segment, head / group).attend(segment.position + last, output);
    });
  }
}

}  // namespace mummu::reference
