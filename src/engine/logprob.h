#pragma once

// Log-probabilities of the raw logits of one row, over all its columns.

#include <cstdint>
#include <span>

#include "engine/row.h"
#include "mummu/request.h"

namespace mummu {

class RowLogprobs {
 public:
  // Reads the row once.
  //   requires  scan has looked at this row
  RowLogprobs(std::span<const float> row, float highest);

  // ln of the probability of an id.
  //   order    f32(f64(row[id]) - (f64(highest) + ln(sum * 2^-45))), the sum of weights as in
  //            weight.h, at temperature 1
  float of(TokenId id) const;

 private:
  std::span<const float> row_;
  double log_sum_;
};

// One entry, with the `top` likeliest ids of the first `vocab` columns. Fills the vector that
// `entry` already has.
//   requires  scan has looked at row.first(vocab) if top > 0
void fill_logprob(TokenLogprob& entry, TokenId id, const RowLogprobs& logprobs, RowScan& scan,
                  int64_t top);

}  // namespace mummu
