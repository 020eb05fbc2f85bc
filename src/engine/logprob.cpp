#include "engine/logprob.h"

#include "engine/weight.h"
#include "layer/double_math.h"

namespace mummu {

RowLogprobs::RowLogprobs(std::span<const float> row, float highest) : row_(row) {
  const uint64_t sum = sum_weights(row, highest, 1, kWeightFloor);
  log_sum_ = static_cast<double>(highest) + natural_log(static_cast<double>(sum) / kWeightOne);
}

float RowLogprobs::of(TokenId id) const {
  return static_cast<float>(static_cast<double>(row_[static_cast<size_t>(id)]) - log_sum_);
}

void fill_logprob(TokenLogprob& entry, TokenId id, const RowLogprobs& logprobs, RowScan& scan,
                  int64_t top) {
  entry.id = id;
  entry.logprob = logprobs.of(id);
  entry.top.clear();
  if (top == 0) return;
  for (TokenId other : scan.best(top)) entry.top.push_back({other, logprobs.of(other)});
}

}  // namespace mummu
