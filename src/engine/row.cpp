#include "engine/row.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <numeric>

#include "engine/weight.h"

namespace mummu {
namespace {

// Sixteen lanes in the compiler's own vector types: whatever the machine has, one element never
// meets another.
using F32x16 = float __attribute__((vector_size(64)));
using I32x16 = int32_t __attribute__((vector_size(64)));

constexpr float kMasked = -std::numeric_limits<float>::infinity();

struct BlockScan {
  float highest = kMasked;
  bool bad = false;
};

// Sixty-four logits. A logit is bad when its exponent is all ones, and it is not a permitted -inf.
BlockScan scan_block(const float* block, bool allow_masked) {
  F32x16 highest;
  std::memcpy(&highest, block, sizeof highest);
  I32x16 bad = {};
  const int32_t permitted = allow_masked ? static_cast<int32_t>(0xff800000U) : 0;
  for (int part = 0; part < 4; ++part) {
    F32x16 x;
    I32x16 bits;
    std::memcpy(&x, block + 16 * part, sizeof x);
    std::memcpy(&bits, block + 16 * part, sizeof bits);
    highest = x > highest ? x : highest;
    bad |= ((bits & 0x7f800000) == 0x7f800000) & (bits != permitted);
  }
  BlockScan out;
  int32_t any = 0;
  for (int lane = 0; lane < 16; ++lane) {
    out.highest = highest[lane] > out.highest ? highest[lane] : out.highest;
    any |= bad[lane];
  }
  out.bad = any != 0;
  return out;
}

}  // namespace

void RowScan::reserve(int64_t columns) {
  const auto blocks = static_cast<size_t>((columns + kBlock - 1) / kBlock);
  block_highest_.reserve(blocks);
  order_.reserve(blocks);
  candidates_.reserve(static_cast<size_t>(columns));
}

bool RowScan::look(std::span<const float> row, bool allow_masked) {
  row_ = row;
  highest_ = kMasked;
  block_highest_.clear();
  bool bad = false;
  for (size_t at = 0; at < row.size(); at += kBlock) {
    float last[kBlock];
    const float* block = row.data() + at;
    if (row.size() - at < kBlock) {  // the rest repeats the last logit, which changes no answer
      std::fill_n(last, kBlock, row.back());
      std::copy(row.begin() + static_cast<std::ptrdiff_t>(at), row.end(), last);
      block = last;
    }
    const BlockScan scan = scan_block(block, allow_masked);
    block_highest_.push_back(scan.highest);
    bad |= scan.bad;
    highest_ = scan.highest > highest_ ? scan.highest : highest_;
  }
  return !bad;
}

TokenId RowScan::highest_id() const {
  const auto block = std::find(block_highest_.begin(), block_highest_.end(), highest_);
  auto at = static_cast<size_t>(block - block_highest_.begin()) * kBlock;
  while (row_[at] != highest_) ++at;
  return static_cast<TokenId>(at);
}

// Collects every id whose logit is at least this.
void RowScan::gather(float at_least) {
  candidates_.clear();
  for (size_t block = 0; block < block_highest_.size(); ++block) {
    if (block_highest_[block] < at_least) continue;
    const size_t end = std::min(row_.size(), (block + 1) * kBlock);
    for (size_t i = block * kBlock; i < end; ++i)
      if (row_[i] >= at_least) candidates_.push_back(static_cast<TokenId>(i));
  }
}

std::span<const TokenId> RowScan::best(int64_t count) {
  const auto wanted = static_cast<size_t>(count);
  if (wanted < block_highest_.size()) {
    // The count-th highest block holds a logit that at least `count` logits reach.
    order_ = block_highest_;
    const auto nth = order_.begin() + static_cast<std::ptrdiff_t>(wanted - 1);
    std::nth_element(order_.begin(), nth, order_.end(), std::greater<>());
    gather(*nth);
  } else {
    candidates_.resize(row_.size());
    std::iota(candidates_.begin(), candidates_.end(), TokenId{0});
  }
  const auto before = [this](TokenId a, TokenId b) { return comes_before(row_, a, b); };
  const auto end = candidates_.begin() + static_cast<std::ptrdiff_t>(wanted);
  if (end != candidates_.end())
    std::nth_element(candidates_.begin(), end, candidates_.end(), before);
  std::sort(candidates_.begin(), end, before);
  return {candidates_.data(), wanted};
}

uint64_t sum_weights(std::span<const float> row, float highest, double inverse_temperature,
                     double floor) {
  constexpr size_t kLanes = 8;
  uint64_t lanes[kLanes] = {};
  const double top = highest;
  const size_t whole = row.size() / kLanes * kLanes;
  const auto weight = [&](float x) {
    const double d = (static_cast<double>(x) - top) * inverse_temperature;
    return d >= floor ? token_weight(d) : uint64_t{0};
  };
  for (size_t i = 0; i < whole; i += kLanes)
    for (size_t lane = 0; lane < kLanes; ++lane) lanes[lane] += weight(row[i + lane]);
  for (size_t i = whole; i < row.size(); ++i) lanes[0] += weight(row[i]);
  return std::accumulate(std::begin(lanes), std::end(lanes), uint64_t{0});
}

}  // namespace mummu
