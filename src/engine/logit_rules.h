#pragma once

// What changes logits before a token is picked, in this order: logit bias, penalties, the mask of
// ends and stops (min_tokens), the constraint. Where nothing of it is asked for, the raw row is
// used as it is.

#include <cstdint>
#include <span>
#include <vector>

#include "engine/token_counts.h"
#include "mummu/constraint.h"
#include "mummu/request.h"

namespace mummu {

struct LogitRules {
  const RequestOptions* options = nullptr;
  const TokenCounts* counts = nullptr;  // null: no penalties
  Constraint* constraint = nullptr;     // null: none
  std::span<const TokenId> ends{};      // ids that end the answer, stop_ids not among them
  bool mask_ends = false;               // fewer than min_tokens so far
};

class LogitEditor {
 public:
  // Allocates for rows of up to `columns` logits; apply allocates nothing after this.
  void reserve(int64_t columns);

  // The row after all rules; a view of `row` itself or of scratch. Columns from `vocab` on are left
  // out: they have no token.
  //   order    per id: x + bias; x > 0 ? x / repetition : x * repetition, for ids of prompt and
  //            output; x - frequency * f32(occurrences); x - presence; each rounded once in f32
  std::span<const float> apply(std::span<const float> row, int64_t vocab, const LogitRules& rules);

  // Whether the last apply returned scratch.
  bool changed() const { return changed_; }

 private:
  void penalise(const RequestOptions& options, const TokenCounts& counts);
  void constrain(const LogitRules& rules);

  std::vector<float> row_;
  std::vector<uint64_t> allowed_;
  bool changed_ = false;
};

}  // namespace mummu
