#pragma once

// One row of logits and the questions a sampler asks of it, without sorting it: the highest, the m
// highest in order, the sum of weights. "Order" below is descending logit, then ascending id.

#include <cstdint>
#include <span>
#include <vector>

#include "mummu/tokenizer.h"

namespace mummu {

// Logits are told apart by this comparison alone; -0 equals +0.
inline bool comes_before(std::span<const float> row, TokenId a, TokenId b) {
  const float x = row[static_cast<size_t>(a)];
  const float y = row[static_cast<size_t>(b)];
  return x > y || (x == y && a < b);
}

// Scratch for rows of one vocabulary; look() is told the row that the others answer about.
class RowScan {
 public:
  // Allocates for rows of up to `columns` logits.
  void reserve(int64_t columns);

  // Reads the row once. Returns whether every logit is finite, or, where `allow_masked`, finite or
  // -infinity. The row must live until the last question.
  bool look(std::span<const float> row, bool allow_masked);

  float highest() const { return highest_; }
  TokenId highest_id() const;

  // The `count` first ids in order.
  //   requires  0 < count <= row size
  //   returns   a view into scratch, valid until the next call
  std::span<const TokenId> best(int64_t count);

 private:
  static constexpr int64_t kBlock = 64;

  void gather(float at_least);

  std::span<const float> row_;
  float highest_ = 0;
  std::vector<float> block_highest_;
  std::vector<float> order_;  // scratch of best
  std::vector<TokenId> candidates_;
};

// The sum of token_weight((row[i] - highest) * inverse_temperature) over all i where that argument
// is at least `floor`.
uint64_t sum_weights(std::span<const float> row, float highest, double inverse_temperature,
                     double floor);

}  // namespace mummu
