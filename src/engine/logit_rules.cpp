#include "engine/logit_rules.h"

#include <algorithm>
#include <limits>

namespace mummu {
namespace {

constexpr float kMasked = -std::numeric_limits<float>::infinity();

}  // namespace

void LogitEditor::reserve(int64_t columns) {
  row_.reserve(static_cast<size_t>(columns));
  allowed_.resize(static_cast<size_t>((columns + 63) / 64));
}

std::span<const float> LogitEditor::apply(std::span<const float> row, int64_t vocab,
                                          const LogitRules& rules) {
  const RequestOptions& options = *rules.options;
  row = row.first(static_cast<size_t>(vocab));
  changed_ = !options.logit_bias.empty() || rules.counts || rules.mask_ends || rules.constraint;
  if (!changed_) return row;
  row_.assign(row.begin(), row.end());
  for (const auto& [id, bias] : options.logit_bias) row_[static_cast<size_t>(id)] += bias;
  if (rules.counts) penalise(options, *rules.counts);
  if (rules.mask_ends) {
    if (!options.ignore_eos)
      for (TokenId id : rules.ends) row_[static_cast<size_t>(id)] = kMasked;
    for (TokenId id : options.stop_ids) row_[static_cast<size_t>(id)] = kMasked;
  }
  if (rules.constraint) constrain(rules);
  return row_;
}

void LogitEditor::penalise(const RequestOptions& options, const TokenCounts& counts) {
  for (const TokenCounts::Entry& entry : counts.entries()) {
    if (entry.id < 0) continue;
    float& logit = row_[static_cast<size_t>(entry.id)];
    const float factor = options.repetition_penalty;
    if (factor != 1) logit = logit > 0 ? logit / factor : logit * factor;
    if (entry.output == 0) continue;
    logit -= options.frequency_penalty * static_cast<float>(entry.output);
    logit -= options.presence_penalty;
  }
}

void LogitEditor::constrain(const LogitRules& rules) {
  std::fill(allowed_.begin(), allowed_.end(), ~uint64_t{0});
  rules.constraint->mask(allowed_);
  const bool may_end = rules.constraint->is_complete() && !rules.options->ignore_eos;
  for (TokenId id : rules.ends) {
    const uint64_t bit = uint64_t{1} << (id % 64);
    uint64_t& word = allowed_[static_cast<size_t>(id / 64)];
    word = may_end ? word | bit : word & ~bit;
  }
  for (size_t at = 0; at < row_.size(); at += 64) {
    const uint64_t allowed = allowed_[at / 64];
    const size_t size = std::min<size_t>(64, row_.size() - at);
    if (allowed == 0) std::fill_n(row_.begin() + static_cast<std::ptrdiff_t>(at), size, kMasked);
    if (allowed == 0 || allowed == ~uint64_t{0}) continue;
    for (size_t i = 0; i < size; ++i)
      if ((allowed >> i & 1) == 0) row_[at + i] = kMasked;
  }
}

}  // namespace mummu
