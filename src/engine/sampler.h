#pragma once

// Picks the next token from a row of logits. The definition, which no shortcut below changes:
//
//   greedy (temperature 0): the highest logit, the lowest id among equals.
//   else, over ids in order (descending logit, then ascending id), with weights as in weight.h:
//     top_k   keeps the first k
//     top_p   keeps the shortest beginning that weighs at least ceil(top_p * (weight of all kept))
//     min_p   keeps those with d >= ln(min_p)
//     the pick is the first whose cumulative weight exceeds floor(r * (weight of all kept) / 2^64),
//     where r is the 64-bit number that Philox gives for (seed, position, choice).
//
// A masked token (-infinity) weighs nothing and is never picked. One Sampler serves one thread.

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "engine/row.h"
#include "mummu/request.h"
#include "mummu/tokenizer.h"

namespace mummu {

// What a pick depends on besides the logits.
struct Draw {
  uint64_t seed = 0;
  int64_t position = 0;  // of the token that is picked, in its sequence
  int64_t choice = 0;
};

class Sampler {
 public:
  // Allocates for rows of up to `columns` logits; pick allocates nothing after this.
  void reserve(int64_t columns);

  // The picked id; empty where nothing is allowed (all logits are -infinity).
  //   requires  scan has looked at row; no NaN, no +infinity
  std::optional<TokenId> pick(std::span<const float> row, RowScan& scan,
                              const RequestOptions& options, const Draw& draw);

 private:
  struct Place {  // a token in order, and the weight of everything up to and including it
    TokenId id = -1;
    uint64_t cumulative = 0;
  };

  void mask_after(int64_t count);
  uint64_t kept_weight(const RequestOptions& options);
  Place locate(uint64_t target);
  Place locate_in_bucket(uint64_t target);
  void weigh_buckets();
  double distance(float logit) const;

  static constexpr int64_t kPrefix = 256;    // looked at in order before buckets are used
  static constexpr int64_t kLongest = 1024;  // a top_k up to this is handled as a sorted list
  static constexpr size_t kBuckets = 2048;   // over distances 0 ... kWeightFloor

  std::span<const float> row_;
  float highest_ = 0;
  double inverse_temperature_ = 1;
  std::span<const TokenId> prefix_;  // the first ids in order
  bool prefix_is_all_ = false;
  bool buckets_weighed_ = false;
  std::vector<float> masked_;  // the row after a long top_k
  std::vector<TokenId> ids_;   // scratch
  std::vector<uint64_t> buckets_;
};

}  // namespace mummu
