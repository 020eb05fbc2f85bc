#pragma once

// How many tokens a step may compute so that it takes about as long as asked: the last budget,
// corrected by what its step took. It moves speed only; no bit of a result depends on it.

#include <algorithm>
#include <cstdint>

namespace mummu {

class StepBudget {
 public:
  // `fixed` > 0: always that many. Else what takes about `target_ms`, at most `most`.
  StepBudget(int64_t fixed, double target_ms, int64_t most)
      : fixed_(fixed), target_ms_(target_ms), most_(static_cast<double>(most)) {}

  int64_t tokens() const { return fixed_ > 0 ? fixed_ : static_cast<int64_t>(tokens_); }

  void learn(int64_t tokens, double ms) {
    const auto count = static_cast<double>(tokens);
    if (count < tokens_ / 2 || ms <= 0) return;  // a small step says little about a full one
    const double fitting = count * std::clamp(target_ms_ / ms, 0.25, 4.0);
    tokens_ = std::clamp((tokens_ + fitting) / 2, kLeast, std::max(kLeast, most_));
  }

 private:
  static constexpr double kLeast = 16;

  int64_t fixed_;
  double target_ms_;
  double most_;
  double tokens_ = 64;
};

}  // namespace mummu
