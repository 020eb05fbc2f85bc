#include "engine/sampler.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/philox.h"
#include "engine/weight.h"
#include "layer/double_math.h"

namespace mummu {
namespace {

constexpr float kMasked = -std::numeric_limits<float>::infinity();

// floor(a * b / 2^64)
uint64_t multiply_high(uint64_t a, uint64_t b) {
  __extension__ using Wide = unsigned __int128;
  return static_cast<uint64_t>((static_cast<Wide>(a) * b) >> 64);
}

uint64_t draw_bits(const Draw& draw) {
  const auto words = random_words(draw.seed, draw.position, draw.choice);
  return uint64_t{words[0]} << 32 | words[1];
}

}  // namespace

void Sampler::reserve(int64_t columns) {
  masked_.reserve(static_cast<size_t>(columns));
  ids_.reserve(static_cast<size_t>(columns));
  buckets_.resize(kBuckets);
}

double Sampler::distance(float logit) const {
  return (static_cast<double>(logit) - static_cast<double>(highest_)) * inverse_temperature_;
}

std::optional<TokenId> Sampler::pick(std::span<const float> row, RowScan& scan,
                                     const RequestOptions& options, const Draw& draw) {
  highest_ = scan.highest();
  if (highest_ == kMasked) return std::nullopt;
  if (options.temperature == 0) return scan.highest_id();

  row_ = row;
  inverse_temperature_ = 1.0 / static_cast<double>(options.temperature);
  buckets_weighed_ = false;
  const auto columns = static_cast<int64_t>(row.size());
  const int64_t top_k = options.top_k == 0 ? columns : std::min(options.top_k, columns);
  if (top_k <= kLongest) {
    prefix_ = scan.best(top_k);
    prefix_is_all_ = true;
  } else {
    if (top_k < columns) mask_after(top_k);
    prefix_ = scan.best(kPrefix);
    prefix_is_all_ = false;
  }
  return locate(multiply_high(draw_bits(draw), kept_weight(options))).id;
}

// Masks everything in row_ but the first `count` in order.
void Sampler::mask_after(int64_t count) {
  masked_.assign(row_.size(), kMasked);
  ids_.resize(row_.size());
  std::iota(ids_.begin(), ids_.end(), TokenId{0});
  std::nth_element(ids_.begin(), ids_.begin() + count, ids_.end(),
                   [this](TokenId a, TokenId b) { return comes_before(row_, a, b); });
  for (int64_t i = 0; i < count; ++i) {
    const auto id = static_cast<size_t>(ids_[static_cast<size_t>(i)]);
    masked_[id] = row_[id];
  }
  row_ = masked_;
}

// What all tokens that top_k, top_p and min_p keep weigh together. Each keeps a beginning of the
// order, so the shortest of them weighs least.
uint64_t Sampler::kept_weight(const RequestOptions& options) {
  const auto sum_from = [this](double floor) {
    if (!prefix_is_all_) return sum_weights(row_, highest_, inverse_temperature_, floor);
    uint64_t sum = 0;
    for (TokenId id : prefix_) {
      const double d = distance(row_[static_cast<size_t>(id)]);
      if (d >= floor) sum += token_weight(d);
    }
    return sum;
  };
  const uint64_t all = sum_from(kWeightFloor);
  uint64_t kept = all;
  if (options.top_p < 1) {
    const double least = std::ceil(static_cast<double>(options.top_p) * static_cast<double>(all));
    const auto needed = std::clamp<uint64_t>(static_cast<uint64_t>(least), 1, all);
    kept = locate(needed - 1).cumulative;
  }
  if (options.min_p > 0)
    kept = std::min(kept, sum_from(natural_log(static_cast<double>(options.min_p))));
  return kept;
}

// The first token in order whose cumulative weight exceeds target.
Sampler::Place Sampler::locate(uint64_t target) {
  Place place;
  for (TokenId id : prefix_) {
    place.id = id;
    place.cumulative += token_weight(distance(row_[static_cast<size_t>(id)]));
    if (place.cumulative > target) return place;
  }
  return prefix_is_all_ ? place : locate_in_bucket(target);
}

namespace {

// Distances 0 ... kWeightFloor in equal steps; equal logits share a bucket, and a higher bucket
// holds lower logits only.
template <size_t buckets>
size_t bucket_of(double d) {
  constexpr double kScale = static_cast<double>(buckets) / -kWeightFloor;
  const double at = -d * kScale;
  const auto last = static_cast<double>(buckets - 1);
  return static_cast<size_t>(at < last ? at : last);
}

}  // namespace

void Sampler::weigh_buckets() {
  std::fill(buckets_.begin(), buckets_.end(), 0);
  for (float logit : row_) {
    const double d = distance(logit);
    if (d >= kWeightFloor) buckets_[bucket_of<kBuckets>(d)] += token_weight(d);
  }
  buckets_weighed_ = true;
}

Sampler::Place Sampler::locate_in_bucket(uint64_t target) {
  if (!buckets_weighed_) weigh_buckets();
  size_t bucket = 0;
  Place place;
  while (bucket + 1 < kBuckets && place.cumulative + buckets_[bucket] <= target)
    place.cumulative += buckets_[bucket++];
  ids_.clear();
  for (size_t i = 0; i < row_.size(); ++i) {
    const double d = distance(row_[i]);
    if (d >= kWeightFloor && bucket_of<kBuckets>(d) == bucket)
      ids_.push_back(static_cast<TokenId>(i));
  }
  std::sort(ids_.begin(), ids_.end(),
            [this](TokenId a, TokenId b) { return comes_before(row_, a, b); });
  for (TokenId id : ids_) {
    place.id = id;
    place.cumulative += token_weight(distance(row_[static_cast<size_t>(id)]));
    if (place.cumulative > target) break;
  }
  return place;
}

}  // namespace mummu
